"""People who write completions."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from access.models import AppendOnlyModel
from completions.choices import Background, MailKind, WriterState
from completions.models.context import Context
from completions.models.dataset import Dataset
from completions.models.shapes import GivenConsent, TimedLease


class Writer(models.Model):
    """A person in a dataset's pool of supporters, known everywhere by a pseudonym."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="writers")
    code = models.CharField(max_length=16, unique=True)
    email = models.EmailField(blank=True, help_text="For mails about the writing only.")
    state = models.CharField(max_length=10, choices=WriterState, default=WriterState.INVITED)
    background = models.CharField(max_length=9, choices=Background, blank=True)
    has_own_system = models.BooleanField(
        default=False, help_text="Agreed to be rated alone, under the pseudonym."
    )
    may_resume = models.BooleanField(
        default=False, help_text="On pause by their own wish, and free to go on."
    )
    texts_kept = models.BooleanField(
        default=True, help_text="No: the person withdrew and asked that every text is deleted."
    )
    imported_as = models.CharField(
        max_length=120, blank=True, help_text="The name by which an imported file knows the author."
    )
    link_version = models.PositiveSmallIntegerField(
        default=1, help_text="Raise it, and every older invitation link stops working."
    )
    is_simulated = models.BooleanField(default=False)
    invited_at = models.DateTimeField()
    admitted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=WriterState.values), name="writer_state_known"
            ),
            models.CheckConstraint(
                condition=Q(background__in=["", *Background.values]),
                name="writer_background_known",
            ),
            models.CheckConstraint(
                condition=~Q(state=WriterState.ACTIVE) | Q(admitted_at__isnull=False),
                name="writer_active_when_admitted",
            ),
            models.CheckConstraint(
                condition=Q(may_resume=False) | Q(state=WriterState.PAUSED),
                name="writer_resumes_from_pause",
            ),
            models.CheckConstraint(
                condition=Q(texts_kept=True) | Q(state=WriterState.WITHDRAWN),
                name="writer_texts_kept_unless_withdrawn",
            ),
            models.CheckConstraint(
                condition=Q(imported_as="")
                | Q(state__in=[WriterState.ELSEWHERE, WriterState.WITHDRAWN]),
                name="writer_imported_writes_elsewhere",
            ),
            models.UniqueConstraint(
                fields=["dataset", "imported_as"],
                condition=~Q(imported_as=""),
                name="writer_imported_once_per_dataset",
            ),
            models.UniqueConstraint(
                fields=["dataset", "email"],
                condition=~Q(email=""),
                name="writer_invited_once_per_dataset",
            ),
            models.CheckConstraint(condition=~Q(code=""), name="writer_code_given"),
        )

    def __str__(self) -> str:
        return self.code


class WriterConsent(GivenConsent):
    """What a writer agreed to, and when."""

    writer = models.ForeignKey(Writer, models.PROTECT, related_name="consents")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["writer", "version", "text_hash"], name="writerconsent_once_per_text"
            ),
        )

    def __str__(self) -> str:
        return f"{self.writer_id} v{self.version}"


class AdmissionDecision(AppendOnlyModel):
    """What an admin decided about a newcomer after reading the trial messages."""

    writer = models.ForeignKey(Writer, models.PROTECT, related_name="admission_decisions")
    is_admitted = models.BooleanField()
    note = models.TextField(blank=True, help_text="The writer reads it.")
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta(AppendOnlyModel.Meta):
        constraints = (
            models.CheckConstraint(
                condition=Q(is_admitted=True) | ~Q(note=""),
                name="admissiondecision_refused_with_note",
            ),
        )

    def __str__(self) -> str:
        return f"{self.writer_id} {'admitted' if self.is_admitted else 'refused'}"


class WriterMail(models.Model):
    """A mail that waits to be sent to a writer, or was; its text is composed when it is sent."""

    writer = models.ForeignKey(Writer, models.PROTECT, related_name="mails")
    kind = models.CharField(max_length=8, choices=MailKind)
    note = models.TextField(blank=True, help_text="What a reviewer wrote to the writer.")
    queued_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=MailKind.values), name="writermail_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(sent_at__isnull=True)
                | Q(claimed_at__isnull=False, sent_at__gte=F("claimed_at")),
                name="writermail_claimed_before_sent",
            ),
        )
        indexes = (
            models.Index(
                fields=["queued_at"], condition=Q(sent_at__isnull=True), name="writermail_waiting"
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.kind} {self.writer_id}"


class WritingLease(TimedLease):
    """A writer's time-limited claim on one completion of a context, with the draft so far.

    The three figures about typing are signals for reviewers; nothing is ever refused by them.
    """

    context = models.ForeignKey(Context, models.PROTECT, related_name="writing_leases")
    writer = models.ForeignKey(Writer, models.PROTECT, related_name="leases")
    draft = models.TextField(blank=True)
    typing_ms = models.PositiveIntegerField(default=0, help_text="Time at the keys, in ms.")
    pastes = models.PositiveSmallIntegerField(default=0)
    pasted_characters = models.PositiveIntegerField(default=0)
    is_trial = models.BooleanField(
        default=False, help_text="For a dialogue of the vetting set; it takes no slot."
    )

    class Meta(TimedLease.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *TimedLease.Meta.constraints,
            models.UniqueConstraint(
                fields=["context", "writer"], name="writinglease_context_once_per_writer"
            ),
            models.UniqueConstraint(
                fields=["writer"],
                condition=Q(closed_at__isnull=True),
                name="writinglease_one_open_per_writer",
            ),
        )

    def __str__(self) -> str:
        return str(self.token)
