"""What a crowd platform told us by a webhook."""

from django.db import models
from django.db.models import Q

from access.models.append_only import AppendOnlyModel
from annotation.choices import Platform
from annotation.models.people import Rater
from annotation.models.study import Study


class PlatformEvent(AppendOnlyModel):
    """One verified event of a crowd platform, kept once however often it is delivered."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="platform_events")
    platform = models.CharField(max_length=8, choices=Platform)
    event_id = models.CharField(max_length=120)
    kind = models.CharField(max_length=80, help_text="The platform's name for what happened.")
    status = models.CharField(max_length=40, blank=True)
    rater = models.ForeignKey(
        Rater, models.PROTECT, null=True, blank=True, related_name="platform_events"
    )
    received_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["platform", "event_id"], name="platformevent_once"),
            models.CheckConstraint(
                condition=Q(platform__in=Platform.values), name="platformevent_platform_known"
            ),
            models.CheckConstraint(condition=~Q(event_id=""), name="platformevent_id_given"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.kind}"
