"""Keep evidence of the consents that raters gave before it was kept apart."""

from django.conf import settings
from django.db import migrations

from access.evidence import person_hash

BATCH = 1000


def keep(apps, schema_editor):
    """Add a row for each consent of a rater who is a person and has not withdrawn."""
    consents = apps.get_model("annotation", "Consent").objects
    evidence = apps.get_model("access", "ConsentEvidence")
    given = consents.filter(rater__is_simulated=False).exclude(rater__state="WITHDRAWN")
    columns = ("version", "text_hash", "given_at", "rater__code", "rater__external_id")
    rows = given.order_by("?").values_list(*columns, "rater__study__slug")
    batch = []
    for version, text_hash, at, code, external_id, slug in rows.iterator(chunk_size=BATCH):
        person = person_hash(
            settings.HEART_EVIDENCE_KEY, kind="RATER", scope=slug, identifier=external_id or code
        )
        row = {"version": version, "text_hash": text_hash, "given_on": at.date()}
        batch.append(evidence(kind="RATER", scope=slug, person=person, **row))
        if len(batch) == BATCH:
            evidence.objects.bulk_create(batch, ignore_conflicts=True)
            batch = []
    evidence.objects.bulk_create(batch, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0004_consent_evidence"),
        ("annotation", "0009_forget_raters"),
    ]

    operations = [migrations.RunPython(keep, migrations.RunPython.noop)]
