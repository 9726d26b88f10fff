"""People who judge, and what a crowd platform told us of them."""

from django.db import models
from django.db.models import F, Q

from access.models import AppendOnlyModel
from annotation.choices import Platform, RaterStage, RaterState, SubmissionState
from annotation.models.study import Study
from completions.models import GivenConsent


class Rater(models.Model):
    """A person who judges in one study, known everywhere by a pseudonym."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="raters")
    code = models.CharField(max_length=16, unique=True)
    draw_key = models.CharField(
        max_length=32,
        default="",
        db_default="",  # for processes of the version before it
        help_text="Secret: what draws for this rater follow from. Empty in rows from before it.",
    )
    platform = models.CharField(max_length=8, choices=Platform, default=Platform.GUEST)
    external_id = models.CharField(
        max_length=120, blank=True, help_text="The platform's name for this person; never released."
    )
    bound_by = models.CharField(
        max_length=40,
        blank=True,
        default="",
        db_default="",
        help_text="What the form carried by which a browser became this rater's; empty: none is.",
    )
    is_team = models.BooleanField(
        default=False,
        db_default=False,
        help_text="They are of the team, who can read results of an open study.",
    )
    writer = models.ForeignKey(
        "completions.Writer",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="raters",
        help_text="The same person as a writer: never shown a context they wrote for.",
    )
    state = models.CharField(max_length=10, choices=RaterState, default=RaterState.ACTIVE)
    stage = models.CharField(max_length=13, choices=RaterStage, default=RaterStage.JUDGING)
    comprehension_tries = models.PositiveSmallIntegerField(default=0)
    link_version = models.PositiveSmallIntegerField(default=1)
    utc_offset_minutes = models.SmallIntegerField(null=True, blank=True)
    is_simulated = models.BooleanField(default=False)
    entered_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    forgotten_at = models.DateTimeField(
        null=True, blank=True, help_text="When what leads to the person was deleted, its time over."
    )
    data_kept = models.BooleanField(
        default=True, help_text="No: the person withdrew and asked that no answer counts."
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(platform__in=Platform.values), name="rater_platform_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=RaterState.values), name="rater_state_known"
            ),
            models.CheckConstraint(
                condition=Q(stage__in=RaterStage.values), name="rater_stage_known"
            ),
            models.CheckConstraint(
                condition=Q(data_kept=True) | Q(state=RaterState.WITHDRAWN),
                name="rater_data_kept_unless_withdrawn",
            ),
            models.CheckConstraint(
                condition=Q(state=RaterState.ACTIVE, ended_at__isnull=True)
                | (~Q(state=RaterState.ACTIVE) & Q(ended_at__isnull=False)),
                name="rater_ended_with_time",
            ),
            models.CheckConstraint(
                condition=Q(platform=Platform.GUEST, external_id="")
                | (~Q(platform=Platform.GUEST) & ~Q(external_id=""))
                | Q(state=RaterState.WITHDRAWN)
                | Q(forgotten_at__isnull=False, external_id=""),
                name="rater_external_id_unless_guest",
            ),
            models.UniqueConstraint(
                fields=["study", "platform", "external_id"],
                condition=~Q(external_id=""),
                name="rater_once_per_external_id",
            ),
            models.UniqueConstraint(
                fields=["study", "bound_by"],
                condition=~Q(bound_by=""),
                name="rater_once_per_form",
            ),
            models.CheckConstraint(
                condition=Q(utc_offset_minutes__isnull=True)
                | Q(utc_offset_minutes__range=(-840, 840)),
                name="rater_utc_offset_range",
            ),
        )

    def __str__(self) -> str:
        return self.code

    @property
    def drawn_by(self) -> str:
        """What stands for the rater in every draw; no page, cookie or file has it (ADR-0007)."""
        return self.draw_key or self.code


class PlatformSubmission(models.Model):
    """One submission (Prolific) or assignment (Mechanical Turk, Connect) of a rater.

    A rater may have several: each goes on with what is left of the session, and earns its own
    code by its own work.
    """

    rater = models.ForeignKey(Rater, models.PROTECT, related_name="submissions")
    number = models.PositiveSmallIntegerField(help_text="1 is the rater's first.")
    session_id = models.CharField(
        max_length=120, blank=True, help_text="The platform's name for it; never released."
    )
    ids = models.JSONField(default=dict, blank=True, help_text="The platform's other ids.")
    state = models.CharField(max_length=9, choices=SubmissionState, default=SubmissionState.ACTIVE)
    n_before = models.PositiveIntegerField(
        default=0, help_text="Answers of the session that the rater gave before it."
    )
    code = models.CharField(max_length=40, blank=True, help_text="The code that was shown.")
    opened_at = models.DateTimeField()
    changed_at = models.DateTimeField(help_text="When state or code changed last.")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["rater", "number"], name="platformsubmission_once_per_number"
            ),
            models.UniqueConstraint(
                fields=["rater", "session_id"],
                condition=~Q(session_id=""),
                name="platformsubmission_once_per_session",
            ),
            models.CheckConstraint(
                condition=Q(state__in=SubmissionState.values),
                name="platformsubmission_state_known",
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1), name="platformsubmission_number_from_one"
            ),
        )
        indexes = (models.Index(fields=["session_id"], name="platformsubmission_session"),)

    def __str__(self) -> str:
        return f"{self.rater_id} {self.number}"


class Consent(GivenConsent):
    """What a rater agreed to, and when."""

    rater = models.ForeignKey(Rater, models.PROTECT, related_name="consents")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["rater", "version", "text_hash"], name="consent_once_per_text"
            ),
        )

    def __str__(self) -> str:
        return f"{self.rater_id} v{self.version}"


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
