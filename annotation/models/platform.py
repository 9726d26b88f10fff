"""What a crowd platform told us by a webhook, and links of it that brought nobody in."""

from django.db import models
from django.db.models import F, Q

from access.models import AppendOnlyModel
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


class PlatformStudy(models.Model):
    """A study as it stands on a crowd platform, made there by us."""

    study = models.OneToOneField(Study, models.PROTECT, related_name="platform_study")
    key = models.CharField(max_length=64, unique=True, help_text="The platform's id of it.")
    n_places = models.PositiveIntegerField(help_text="How many people may take part there.")
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "platform studies"
        constraints = (
            models.CheckConstraint(condition=~Q(key=""), name="platformstudy_key_given"),
            models.CheckConstraint(condition=Q(n_places__gte=1), name="platformstudy_has_places"),
        )

    def __str__(self) -> str:
        return self.key


class FailedArrival(models.Model):
    """How many visits to an open study, within an hour, had a platform's link without an id.

    Nothing is held of the visitors; an hour has a row for each platform at most, and goes after a
    while.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="failed_arrivals")
    platform = models.CharField(max_length=8, choices=Platform)
    hour = models.DateTimeField(help_text="When the hour began.")
    n = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    alerted_at = models.DateTimeField(
        null=True, blank=True, help_text="When admins were told by e-mail."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["study", "platform", "hour"], name="failedarrival_once_per_hour"
            ),
            models.CheckConstraint(
                condition=Q(platform__in=Platform.values), name="failedarrival_platform_known"
            ),
            models.CheckConstraint(condition=Q(n__gte=1), name="failedarrival_counts_one_at_least"),
            models.CheckConstraint(
                condition=Q(hour__lte=F("first_at")) & Q(first_at__lte=F("last_at")),
                name="failedarrival_times_in_order",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.n} of {self.platform}"
