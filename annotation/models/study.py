"""A run of a judging protocol, and the pairs that it compares."""

from django.db import models
from django.db.models import Case, CharField, F, Q, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Concat

from annotation.choices import PlanKind, Protocol, Purpose, StudyState
from completions.models import Completion

DELETED = "deleted-"
"""With a number, the public key of a comparison of which a text was deleted."""


def is_deleted(at: str = "") -> Q:
    """Return whether a text of the comparison at a path was deleted."""
    return Q(**{f"{at}first__erased_at__isnull": False}) | Q(
        **{f"{at}second__erased_at__isnull": False}
    )


def goes_by(public_key: str, at: str = "") -> Q:
    """Return whether the comparison at a path has this public key."""
    number = public_key.removeprefix(DELETED)
    if number != public_key and number.isdecimal():
        return is_deleted(at) & Q(**{f"{at}pk": number})
    intact = {f"{at}first__erased_at": None, f"{at}second__erased_at": None}
    return Q(**{f"{at}key": public_key}, **intact)


def public_name(at: str = "") -> Combinable:
    """Return the public key of the comparison at a path, as a column."""
    number = Concat(Value(DELETED), Cast(f"{at}pk", CharField()))
    return Case(When(is_deleted(at), then=number), default=F(f"{at}key"), output_field=CharField())


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

    @property
    def is_draft(self) -> bool:
        """Whether opening it would lock its protocol."""
        return self.state == StudyState.DRAFT

    @property
    def is_new(self) -> bool:
        """Whether it was never open."""
        return self.state in (StudyState.DRAFT, StudyState.LOCKED)

    @property
    def can_open(self) -> bool:
        """Whether opening it, or going on after a pause, is a step that exists."""
        return self.is_new or self.state == StudyState.PAUSED

    @property
    def is_open(self) -> bool:
        """Whether raters can come in."""
        return self.state == StudyState.OPEN

    @property
    def is_closed(self) -> bool:
        """Whether its judging is over for good."""
        return self.state == StudyState.CLOSED

    @property
    def is_for_mturk(self) -> bool:
        """Whether Mechanical Turk alone sends its raters."""
        return bool(self.content["crowd"]["platform"] == "mturk")


class Comparison(models.Model):
    """Two completions of one context, stored once, in canonical order.

    In a study of the likert protocol there is only the first: each completion is rated alone.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="comparisons")
    context = models.ForeignKey("completions.Context", models.PROTECT, related_name="comparisons")
    first = models.ForeignKey("completions.Completion", models.PROTECT, related_name="+")
    second = models.ForeignKey(
        "completions.Completion", models.PROTECT, null=True, blank=True, related_name="+"
    )
    purpose = models.CharField(max_length=5, choices=Purpose, default=Purpose.MAIN)
    key = models.CharField(
        max_length=24, help_text="Stable public name, derived from the two contents."
    )
    position = models.PositiveIntegerField(
        help_text="Seeded place in the order in which comparisons are handed out."
    )
    # The counters are signed, so that the constraints below, and not nameless ones, refuse.
    slots_left = models.SmallIntegerField(
        help_text="Judgments by people still wanted and not leased; changed under the row's lock."
    )
    shown_first_as_a = models.IntegerField(
        default=0, help_text="Leases, open or answered, that drew the first completion as A."
    )
    shown_first_as_b = models.IntegerField(default=0)
    weight = models.FloatField(
        default=1.0, help_text="How eagerly an adaptive plan hands it out; relative to the others."
    )
    held_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when reports keep it from everybody."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["study", "first", "second"], name="comparison_pair_once"
            ),
            models.UniqueConstraint(
                fields=["study", "first"],
                condition=Q(second__isnull=True),
                name="comparison_completion_alone_once",
            ),
            models.CheckConstraint(
                condition=Q(second__isnull=True) | Q(first__lt=F("second")),
                name="comparison_canonical_order",
            ),
            models.CheckConstraint(condition=Q(weight__gt=0), name="comparison_weight_positive"),
            models.CheckConstraint(
                condition=Q(purpose__in=Purpose.values), name="comparison_purpose_known"
            ),
            models.CheckConstraint(
                condition=Q(slots_left__gte=0), name="comparison_slots_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(shown_first_as_a__gte=0, shown_first_as_b__gte=0),
                name="comparison_shown_not_negative",
            ),
        )
        indexes = (
            models.Index(
                fields=["study", "position", "id"],
                condition=Q(slots_left__gt=0, purpose=Purpose.MAIN, held_at__isnull=True),
                name="comparison_open",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.first_id} vs {self.second_id}"

    @property
    def pair(self) -> tuple[Completion, Completion]:
        """Both completions of what is known to be a pair.

        Raises
        ------
        ValueError
            If the one completion is rated alone.
        """
        if self.second is None:
            msg = f"comparison {self.key} is of one completion alone"
            raise ValueError(msg)
        return self.first, self.second

    @property
    def is_erased(self) -> bool:
        """Whether a text of it was deleted at its writer's wish."""
        return any(one.erased_at is not None for one in self.completions)

    @property
    def public_key(self) -> str:
        """Its key, which is made of its texts: of a deleted one it would confirm a guess."""
        return f"{DELETED}{self.pk}" if self.is_erased else self.key

    @property
    def completions(self) -> tuple[Completion, ...]:
        """The two completions, or the one that is rated alone."""
        return (self.first,) if self.second is None else (self.first, self.second)
