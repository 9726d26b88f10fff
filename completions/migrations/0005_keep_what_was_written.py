"""Writers who write already are admitted, and what they wrote was accepted as it stands."""

from django.db import migrations
from django.db.models import F

RULES = "none: sent before messages were reviewed"


def admit_writers(apps, schema_editor):
    writers = apps.get_model("completions", "Writer").objects
    writers.filter(state__in=["ACTIVE", "PAUSED", "LEFT"]).update(admitted_at=F("invited_at"))


def keep_messages(apps, schema_editor):
    get = lambda name: apps.get_model("completions", name)
    leases = get("WritingLease").objects.all()
    completions = get("Completion").objects.filter(writer__isnull=False)
    for completion in completions.order_by("pk").iterator():
        lease = leases.filter(context=completion.context_id, writer=completion.writer_id).first()
        if lease is None:
            continue
        times = {"sent_at": completion.created_at, "changed_at": completion.created_at}
        message = get("Message").objects.create(
            lease=lease, state="ACCEPTED", completion=completion, **times
        )
        get("MessageRevision").objects.create(
            message=message,
            number=1,
            text=completion.text,
            content_hash=completion.content_hash,
            is_declared=True,
            rules=RULES,
            written_at=completion.created_at,
        )


class Migration(migrations.Migration):

    dependencies = [
        ("completions", "0004_supporters"),
    ]

    operations = [
        migrations.RunPython(admit_writers, migrations.RunPython.noop),
        migrations.RunPython(keep_messages, migrations.RunPython.noop),
    ]
