"""Members of the team; and the log, taken over from completions with its rows."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone


def admit_staff(apps, _schema_editor):
    """Whoever was staff could do everything in the console, and keeps that."""
    user = apps.get_model("auth", "User")
    member = apps.get_model("access", "Member")
    now = timezone.now()
    member.objects.bulk_create(
        member(user=one, role="OWNER", since=now) for one in user.objects.filter(is_staff=True)
    )


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("completions", "0008_shared_shape_of_labels"),
    ]

    operations = [
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(choices=[("ANALYST", "Analyst: reads everything, changes nothing"), ("MANAGER", "Manager: runs studies"), ("OWNER", "Owner: also people's data, members and keys")], max_length=7)),
                ("since", models.DateTimeField()),
                ("user", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name="member", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("role__in", ["ANALYST", "MANAGER", "OWNER"])), name="member_role_known")],
            },
        ),
        migrations.RunPython(admit_staff, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="LogEntry",
                    fields=[
                        ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                        ("at", models.DateTimeField()),
                        ("action", models.CharField(help_text='Dotted, e.g. "study.opened".', max_length=60)),
                        ("subject", models.CharField(help_text='Kind and public name, e.g. "study demo".', max_length=120)),
                        ("before", models.JSONField(blank=True, default=dict)),
                        ("after", models.JSONField(blank=True, default=dict)),
                        ("by", models.ForeignKey(blank=True, help_text="Empty when a command or a periodic task acted.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        "db_table": "completions_logentry",
                        "indexes": [models.Index(fields=["subject", "at"], name="logentry_by_subject")],
                        "constraints": [models.CheckConstraint(condition=models.Q(models.Q(("action", ""), _negated=True), models.Q(("subject", ""), _negated=True)), name="logentry_names_act_and_subject")],
                    },
                ),
            ],
        ),
        migrations.AlterModelTable("LogEntry", None),
    ]
