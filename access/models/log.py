"""Who did what."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.models.append_only import AppendOnlyModel


class LogEntry(AppendOnlyModel):
    """One administrative act: who, what, when, before and after."""

    at = models.DateTimeField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty when a command or a periodic task acted.",
    )
    action = models.CharField(max_length=60, help_text='Dotted, e.g. "study.opened".')
    subject = models.CharField(max_length=120, help_text='Kind and public name, e.g. "study demo".')
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=~Q(action="") & ~Q(subject=""), name="logentry_names_act_and_subject"
            ),
        )
        indexes = (models.Index(fields=["subject", "at"], name="logentry_by_subject"),)

    def __str__(self) -> str:
        return f"#{self.pk} {self.at:%Y-%m-%d %H:%M} {self.action} {self.subject}"
