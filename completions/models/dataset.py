"""Where dialogues come from, and long work on them that somebody asked for on a page."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from completions.choices import JobKind, JobState


class Dataset(models.Model):
    """A named collection of dialogues and the contexts built from it."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=120)
    licence = models.CharField(max_length=120, blank=True)
    is_authored = models.BooleanField(
        default=False, help_text="Written for this product; not a record of real people."
    )
    is_for_checks = models.BooleanField(
        default=False,
        help_text="Dialogues of quality checks or of vetting: nothing else is ever made from them.",
    )
    completions_per_context = models.PositiveSmallIntegerField(
        default=3, help_text="How many human completions each context wants."
    )
    most_adversarial = models.PositiveSmallIntegerField(
        default=25,
        help_text="Share of adversarial dialogues that one writer is given at most, in %.",
    )
    vetting = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="vetted_datasets",
        help_text="Dialogues for newcomers on trial; without it they are let in at once.",
    )
    offers_own_systems = models.BooleanField(
        default=False, help_text="Writers may agree to be rated alone, under a pseudonym."
    )
    host = models.JSONField(
        default=dict,
        null=True,  # for processes of the version before it
        blank=True,
        help_text="Who invites its writers: person, lab, pay, time and contact, as they read it.",
    )
    frozen_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when no text of a person changes any more."
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~Q(slug=""), name="dataset_slug_given"),
            models.CheckConstraint(
                condition=Q(completions_per_context__range=(0, 50)),
                name="dataset_completions_per_context_range",
            ),
            models.CheckConstraint(
                condition=Q(most_adversarial__range=(0, 100)), name="dataset_most_adversarial_share"
            ),
            models.CheckConstraint(
                condition=Q(vetting__isnull=True) | ~Q(vetting=F("pk")),
                name="dataset_vetting_is_another",
            ),
        )

    def __str__(self) -> str:
        return self.slug


class Dialogue(models.Model):
    """One source dialogue: the unit of resampling, with all contexts cut from it."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="dialogues")
    position = models.PositiveIntegerField(help_text="Place in the source file, from 0.")
    content_hash = models.CharField(max_length=64)
    source_id = models.CharField(max_length=120, blank=True, help_text="Its name in the source.")
    language = models.CharField(max_length=35, default="en", help_text="BCP 47 tag.")
    emotion_type = models.CharField(max_length=60, blank=True, help_text="Normalised label.")
    problem_type = models.CharField(max_length=60, blank=True, help_text="Normalised label.")
    situation = models.TextField(blank=True)
    source_labels = models.JSONField(default=dict, blank=True, help_text="Labels as imported.")
    turns = models.JSONField(help_text='Merged turns: [{"role": ..., "text": ...}, ...].')
    n_utterances = models.PositiveIntegerField(
        help_text="Of an item that is no conversation: 1 with a prompt, else 0."
    )
    imported_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["dataset", "content_hash"], name="dialogue_once_per_dataset"
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.dataset_id}/{self.position}"


OPEN = (JobState.WAITING, JobState.RUNNING)
OVER = (JobState.DONE, JobState.FAILED, JobState.STOPPED)


class Job(models.Model):
    """An import, a choice of contexts, a screening by a model, or a rewriting; a worker does it.

    ``dataset`` is empty until an import has made it. ``content`` is the file of an import,
    compressed by gzip; it is dropped when the job is over.
    """

    kind = models.CharField(max_length=8, choices=JobKind)
    state = models.CharField(max_length=7, choices=JobState, default=JobState.WAITING)
    dataset = models.ForeignKey(Dataset, models.PROTECT, null=True, blank=True, related_name="jobs")
    options = models.JSONField(default=dict, help_text="What was asked for, by name.")
    file_name = models.CharField(max_length=200, blank=True)
    content = models.BinaryField(null=True, blank=True)
    unit = models.CharField(max_length=60, blank=True, help_text="What is counted, in the plural.")
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(null=True, blank=True)
    result = models.TextField(blank=True, help_text="What came of it, or why it failed.")
    begun = models.PositiveSmallIntegerField(
        default=0, help_text="How often a worker began since the job last got on."
    )
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    seen_at = models.DateTimeField(
        null=True, blank=True, help_text="The last sign of life of its worker."
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(condition=Q(kind__in=JobKind.values), name="job_kind_known"),
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_known"),
            models.CheckConstraint(
                condition=Q(state__in=OVER, ended_at__isnull=False, content__isnull=True)
                | (~Q(state__in=OVER) & Q(ended_at__isnull=True)),
                name="job_over_has_end_and_no_file",
            ),
            models.UniqueConstraint(
                fields=["dataset", "kind"],
                condition=Q(state__in=OPEN),
                name="job_one_open_of_a_kind",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.kind.lower()}"

    @property
    def about(self) -> str:
        """The name of the dataset, or of the model that is checked."""
        if self.dataset is not None:
            return self.dataset.name
        return str(self.options.get("dataset") or self.options.get("slug") or "")

    @property
    def is_over(self) -> bool:
        """Whether nothing more is done."""
        return self.state in OVER

    @property
    def can_retry(self) -> bool:
        """Whether it can be begun again; the file of an import is gone."""
        return self.state in (JobState.FAILED, JobState.STOPPED) and self.kind != JobKind.IMPORT

    @property
    def is_live(self) -> bool:
        """Whether its numbers change without anybody's doing."""
        return self.state in OPEN
