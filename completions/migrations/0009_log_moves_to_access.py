"""The log belongs to every app, so it moves to the one below them; no row is touched."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("completions", "0008_shared_shape_of_labels"),
        ("access", "0001_initial"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel("LogEntry")],
        ),
    ]
