"""One run of a judging protocol."""

from django.db import models
from django.db.models import Q

from annotation.choices import PlanKind, Protocol, StudyState


class Study(models.Model):
    """A protocol with its numbers and its seed, applied to the contexts of one dataset.

    ``content`` is the validated study file (texts, rubric, help lines); the numbers that rules
    and constraints need stand in columns of their own.
    """

    slug = models.SlugField(unique=True)
    name = models.SlugField(help_text="What all versions of a study have in common.")
    version = models.PositiveSmallIntegerField(default=1)
    title = models.CharField(max_length=120)
    dataset = models.ForeignKey("completions.Dataset", models.PROTECT, related_name="studies")
    protocol = models.CharField(
        max_length=12, choices=Protocol, help_text="What people are asked; judges use the rubric."
    )
    plan = models.CharField(max_length=8, choices=PlanKind, default=PlanKind.BALANCED)
    state = models.CharField(max_length=8, choices=StudyState, default=StudyState.DRAFT)
    is_simulated = models.BooleanField(
        default=False,
        help_text="Its raters are programs; it is the simulated copy of a real study.",
    )
    judgments_per_pair = models.PositiveSmallIntegerField(default=5)
    pairs_per_context = models.PositiveSmallIntegerField(default=0, help_text="0 means all pairs.")
    session_length = models.PositiveSmallIntegerField(
        default=40, help_text="How many pairs one rater is shown at most."
    )
    lease_minutes = models.PositiveSmallIntegerField(default=30)
    min_rationale_length = models.PositiveSmallIntegerField(default=10, help_text="Characters.")
    seed = models.CharField(max_length=64, help_text="Fixes every random draw of the study.")
    content = models.JSONField(help_text="The validated study file.")
    protocol_hash = models.CharField(max_length=64, blank=True)
    locked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "studies"
        constraints = (
            models.CheckConstraint(
                condition=Q(protocol__in=Protocol.values), name="study_protocol_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=StudyState.values), name="study_state_known"
            ),
            models.CheckConstraint(condition=Q(plan__in=PlanKind.values), name="study_plan_known"),
            models.UniqueConstraint(fields=["name", "version"], name="study_version_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="study_version_from_one"),
            models.CheckConstraint(
                condition=Q(is_simulated=False) | Q(title__icontains="simulated"),
                name="study_simulated_says_so",
            ),
            models.CheckConstraint(
                condition=Q(judgments_per_pair__range=(1, 1000)), name="study_judgments_range"
            ),
            models.CheckConstraint(
                condition=Q(session_length__gte=1), name="study_session_not_empty"
            ),
            models.CheckConstraint(condition=Q(lease_minutes__gte=1), name="study_lease_not_empty"),
            models.CheckConstraint(
                condition=Q(locked_at__isnull=True, protocol_hash="")
                | (Q(locked_at__isnull=False) & ~Q(protocol_hash="")),
                name="study_locked_with_hash",
            ),
            models.CheckConstraint(
                condition=Q(state=StudyState.DRAFT) | Q(locked_at__isnull=False),
                name="study_runs_only_when_locked",
            ),
            models.CheckConstraint(condition=~Q(seed=""), name="study_seed_given"),
        )

    def __str__(self) -> str:
        return self.slug

    @property
    def disclosed_seed(self) -> str:
        """The seed once the study is closed; until then it would tell what comes next."""
        return self.seed if self.state == StudyState.CLOSED else ""

    @property
    def dataset_slug(self) -> str:
        """The slug of the dataset whose contexts are judged."""
        return self.dataset.slug
