"""Keep evidence of the consents that writers gave before it was kept apart."""

from django.conf import settings
from django.db import migrations

from access.evidence import person_hash


def keep(apps, schema_editor):
    """Add a row for each consent of a writer who is a person and has not withdrawn."""
    consents = apps.get_model("completions", "WriterConsent").objects
    evidence = apps.get_model("access", "ConsentEvidence")
    given = consents.filter(writer__is_simulated=False).exclude(writer__state="WITHDRAWN")
    columns = ("version", "text_hash", "given_at", "writer__code", "writer__email")
    rows = given.order_by("?").values_list(*columns, "writer__dataset__slug")
    batch = [
        evidence(
            kind="WRITER",
            scope=slug,
            person=person_hash(
                settings.HEART_EVIDENCE_KEY, kind="WRITER", scope=slug, identifier=email or code
            ),
            version=version,
            text_hash=text_hash,
            given_on=at.date(),
        )
        for version, text_hash, at, code, email, slug in rows
    ]
    evidence.objects.bulk_create(batch, batch_size=1000, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0004_consent_evidence"),
        ("completions", "0009_log_moves_to_access"),
    ]

    operations = [migrations.RunPython(keep, migrations.RunPython.noop)]
