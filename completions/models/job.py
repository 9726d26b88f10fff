"""Long work on a dataset that somebody asked for on a page."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from completions.choices import JobKind, JobState
from completions.models.dataset import Dataset

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
