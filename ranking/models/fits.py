"""Fits and the ratings they produce."""

import datetime as dt
from dataclasses import dataclass
from functools import cached_property

from django.db import models
from django.db.models import F, Q

from access.models import AppendOnlyModel
from annotation.choices import StudyState
from completions.choices import SystemKind
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState, PeopleKind
from ranking.findings import Findings

FEW_OPPONENTS = 3.0
HEAT_STEPS = 10
FINITE = 1e6  # wider than any rating; PostgreSQL sorts NaN and infinity beyond it


class Fit(models.Model):
    """One estimation: what went in, how it was computed, and how it ended.

    A row is claimed when the computation starts and completed once; after that nothing of it
    changes but whether it is public.
    """

    study = models.ForeignKey("annotation.Study", models.PROTECT, related_name="fits")
    pool = models.CharField(max_length=8, choices=EvaluatorPool)
    context_set = models.CharField(max_length=12, choices=ContextSet)
    key = models.CharField(
        max_length=24, unique=True, help_text="Permanent public name, derived from the inputs."
    )
    state = models.CharField(max_length=8, choices=FitState, default=FitState.RUNNING)
    as_of = models.DateTimeField(help_text="The analysis set is taken as of this time.")
    inputs_hash = models.CharField(max_length=64)
    method = models.JSONField(help_text="Estimator, strength mode, interval, replicates, seed.")
    method_hash = models.CharField(max_length=64)
    code_version = models.CharField(max_length=40)
    n_judgments = models.PositiveIntegerField()
    n_units = models.PositiveIntegerField(help_text="Source dialogues: the unit of resampling.")
    is_simulated = models.BooleanField(help_text="Some evaluator or system behind it is simulated.")
    diagnostics = models.JSONField(
        default=dict, blank=True, help_text="Iterations, replicates without a maximum, warnings."
    )
    refusal = models.TextField(blank=True)
    is_on_request = models.BooleanField(
        default=False, help_text="A person asked for it: its analyses do not wait."
    )
    claimed_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Since when everybody may read it, though its study may not be closed.",
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["study", "pool", "context_set", "inputs_hash", "method_hash"],
                name="fit_once_per_inputs_and_method",
            ),
            models.CheckConstraint(
                condition=Q(pool__in=EvaluatorPool.values), name="fit_pool_known"
            ),
            models.CheckConstraint(
                condition=Q(context_set__in=ContextSet.values), name="fit_context_set_known"
            ),
            models.CheckConstraint(
                condition=Q(state=FitState.RUNNING, ended_at__isnull=True, refusal="")
                | Q(state=FitState.DONE, ended_at__isnull=False, refusal="")
                | (Q(state=FitState.REFUSED, ended_at__isnull=False) & ~Q(refusal="")),
                name="fit_ended_by_state",
            ),
            models.CheckConstraint(
                condition=Q(published_at__isnull=True) | Q(ended_at__isnull=False),
                name="fit_published_once_ended",
            ),
        )
        indexes = (
            models.Index(fields=["study", "pool", "context_set", "-ended_at"], name="fit_latest"),
        )

    def __str__(self) -> str:
        return self.key

    @property
    def warnings(self) -> list[str]:
        """What a reader of its ratings should know, in sentences."""
        known: list[str] = self.diagnostics.get("warnings", [])
        return known

    @property
    def replicates_without_maximum(self) -> int:
        """How many replicates of the bootstrap have no finite strengths."""
        known: int = self.diagnostics.get("replicates_without_maximum", 0)
        return known

    @property
    def is_embargoed(self) -> bool:
        """Whether the team alone may read it: its study goes on, and nobody published it."""
        return self.published_at is None and self.study.state != StudyState.CLOSED

    @property
    def took(self) -> dt.timedelta | None:
        """How long it took, or None while it is under way."""
        return None if self.ended_at is None else self.ended_at - self.claimed_at


class KeptCounts(models.Model):
    """The judgments of a study that count, added up by comparison: what a refit begins with.

    A copy that can be made again at any time: the judgments are the truth.
    """

    study = models.OneToOneField(
        "annotation.Study", models.PROTECT, related_name="kept_counts", primary_key=True
    )
    since = models.DateTimeField(help_text="From when to when this is what counts: begin.")
    until = models.DateTimeField(help_text="End, which is when somebody looked last.")
    counted_at = models.DateTimeField(help_text="When all judgments were counted last.")
    rule = models.CharField(max_length=16, help_text="Mark of the code that says what counts.")
    newest = models.BigIntegerField(default=0, help_text="Key of a judgment at the last look.")
    n_newest = models.IntegerField(
        default=0, db_default=0, help_text="Judgments at that key or shortly before it, then."
    )
    n_decisions = models.IntegerField(default=0)
    rows = models.BinaryField()
    newer_rows = models.BinaryField(help_text="Of some comparisons, in place of what `rows` has.")
    mark = models.CharField(
        max_length=64, default="", db_default="", help_text="Another after each change of both."
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(since__lte=F("until")), name="kept_counts_since_before_until"
            ),
        )
        verbose_name_plural = "kept counts"

    def __str__(self) -> str:
        return f"study {self.study_id}, as of {self.until:%Y-%m-%d %H:%M:%S}"


@dataclass(frozen=True)
class DimensionShare:
    """The share of marks won on one dimension, in per cent; nothing when there are no marks."""

    key: str
    name: str
    per_cent: float | None
    n_marks: int

    @property
    def heat(self) -> str:
        """Return the shade of the cell: the tens of its per cent."""
        if self.per_cent is None:
            return ""
        return f"h{min(HEAT_STEPS - 1, int(self.per_cent // HEAT_STEPS))}"


class Rating(AppendOnlyModel):
    """What one fit says of one system; a leaderboard adds its share on each dimension."""

    dimensions: tuple[DimensionShare, ...]

    fit = models.ForeignKey(Fit, models.PROTECT, related_name="ratings")
    system = models.ForeignKey("completions.System", models.PROTECT, related_name="ratings")
    theta = models.FloatField(help_text="Log strength, natural units, mean 0 over the systems.")
    elo = models.FloatField(help_text="Points, mean 1500.")
    elo_se = models.FloatField()
    elo_low = models.FloatField()
    elo_high = models.FloatField()
    rank = models.PositiveSmallIntegerField()
    rank_low = models.PositiveSmallIntegerField()
    rank_high = models.PositiveSmallIntegerField()
    n_judgments = models.PositiveIntegerField()
    wins = models.PositiveIntegerField()
    losses = models.PositiveIntegerField()
    ties = models.PositiveIntegerField()
    tier = models.PositiveSmallIntegerField(
        null=True, help_text="1 is the first; fits made before there were tiers have none."
    )
    joint_low = models.FloatField(null=True, help_text="Points; holds for all systems at once.")
    joint_high = models.FloatField(null=True, help_text="Points; holds for all systems at once.")
    sandwich_se = models.FloatField(
        null=True, help_text="Points; robust in closed form, clustered by source dialogue."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["fit", "system"], name="rating_once_per_fit"),
            models.CheckConstraint(
                condition=Q(tier__isnull=True) | Q(tier__gte=1), name="rating_tier_from_one"
            ),
            models.CheckConstraint(
                condition=Q(joint_low__isnull=True, joint_high__isnull=True)
                | Q(
                    joint_low__isnull=False,
                    joint_high__isnull=False,
                    joint_low__gte=-FINITE,
                    joint_low__lte=F("elo"),
                    joint_high__gte=F("elo"),
                    joint_high__lte=FINITE,
                ),
                name="rating_joint_interval_holds_elo",
            ),
            models.CheckConstraint(
                condition=Q(sandwich_se__isnull=True) | Q(sandwich_se__range=(0, FINITE)),
                name="rating_sandwich_se_finite",
            ),
            models.CheckConstraint(
                condition=Q(
                    theta__range=(-FINITE, FINITE),
                    elo_se__range=(0, FINITE),
                    elo_low__gte=-FINITE,
                    elo_high__lte=FINITE,
                ),
                name="rating_numbers_finite",
            ),
            models.CheckConstraint(
                condition=Q(elo_low__lte=F("elo"), elo_high__gte=F("elo")),
                name="rating_interval_holds_elo",
            ),
            models.CheckConstraint(
                condition=Q(rank_low__gte=1, rank_low__lte=F("rank"), rank_high__gte=F("rank")),
                name="rating_interval_holds_rank",
            ),
            models.CheckConstraint(
                condition=Q(n_judgments=F("wins") + F("losses") + F("ties")),
                name="rating_outcomes_add_up",
            ),
        )

    def __str__(self) -> str:
        return f"{self.fit_id} {self.system_id}"

    @property
    def name(self) -> str:
        """The name of the system."""
        return self.system.name

    @property
    def is_baseline(self) -> bool:
        """Whether people wrote the completions: a row to hold the others against."""
        return self.system.kind != SystemKind.MODEL

    @property
    def is_human(self) -> bool:
        """Whether the study's supporters wrote the completions."""
        return self.system.kind == SystemKind.HUMAN

    @property
    def win_rate(self) -> float:
        """The share of judgments won, a tie counting half, in per cent."""
        return 100.0 * (self.wins + self.ties / 2) / self.n_judgments

    @property
    def rank_text(self) -> str:
        """The interval of ranks, or the rank when only one is left."""
        low, high = self.rank_low, self.rank_high
        return str(low) if low == high else f"{low}\N{EN DASH}{high}"


class HumanRating(AppendOnlyModel):
    """What one fit says of people's texts taken together, or of the best of each context."""

    fit = models.ForeignKey(Fit, models.PROTECT, related_name="human_ratings")
    kind = models.CharField(max_length=20, choices=PeopleKind)
    elo = models.FloatField(help_text="Points, on the scale of the fit's systems.")
    elo_se = models.FloatField()
    elo_low = models.FloatField()
    elo_high = models.FloatField()
    n_judgments = models.PositiveIntegerField(help_text="Behind the score, mean over the splits.")
    n_contexts = models.PositiveIntegerField(help_text="Behind the score, mean over the splits.")
    detail = models.JSONField(
        default=dict, blank=True, help_text="Texts, opponents, splits, what was left out, warnings."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["fit", "kind"], name="humanrating_once_per_fit"),
            models.CheckConstraint(
                condition=Q(kind__in=PeopleKind.values), name="humanrating_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(elo_se__range=(0, FINITE), elo_low__gte=-FINITE, elo_high__lte=FINITE),
                name="humanrating_numbers_finite",
            ),
            models.CheckConstraint(
                condition=Q(elo_low__lte=F("elo"), elo_high__gte=F("elo")),
                name="humanrating_interval_holds_elo",
            ),
            models.CheckConstraint(
                condition=Q(n_judgments__gte=1, n_contexts__gte=1),
                name="humanrating_rests_on_something",
            ),
        )

    def __str__(self) -> str:
        return f"{self.fit_id} {self.kind}"

    @property
    def name(self) -> str:
        """The kind in words."""
        return self.get_kind_display()

    @property
    def is_optimistic(self) -> bool:
        """Whether its texts were chosen by the judgments that score them."""
        return self.kind == PeopleKind.BEST_PLAIN

    @property
    def has_little_to_choose_by(self) -> bool:
        """Whether texts met so few systems that a cross-fitted choice is hardly one."""
        n = self.detail.get("opponents_per_text")
        return self.kind == PeopleKind.BEST_CROSS_FITTED and n is not None and n < FEW_OPPONENTS


class DimensionRate(AppendOnlyModel):
    """How often a system was ahead on one dimension, among the marks that named a side."""

    rating = models.ForeignKey(Rating, models.PROTECT, related_name="dimension_rates")
    dimension = models.CharField(max_length=20)
    wins = models.PositiveIntegerField()
    n_marks = models.PositiveIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["rating", "dimension"], name="dimensionrate_once_per_rating"
            ),
            models.CheckConstraint(
                condition=Q(n_marks__gte=F("wins")) & Q(n_marks__gte=1),
                name="dimensionrate_wins_within_marks",
            ),
        )

    def __str__(self) -> str:
        return f"{self.rating_id} {self.dimension}"


class Analysis(models.Model):
    """One look at the judgments of a fit beyond its ratings: how computed, and what was found.

    A row is claimed when the computation starts and completed once; after that it never changes.
    """

    fit = models.ForeignKey(Fit, models.PROTECT, related_name="analyses")
    kind = models.CharField(max_length=12, choices=AnalysisKind)
    state = models.CharField(max_length=8, choices=FitState, default=FitState.RUNNING)
    code_version = models.CharField(max_length=40)
    result = models.JSONField(
        default=dict, blank=True, help_text="Tables, pictures and warnings, ready to be shown."
    )
    refusal = models.TextField(blank=True)
    begun = models.PositiveSmallIntegerField(
        default=0, help_text="How often a worker began it; one whose workers are lost is given up."
    )
    claimed_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "analyses"
        constraints = (
            models.UniqueConstraint(
                fields=["fit", "kind", "code_version"], name="analysis_once_per_fit_and_code"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=AnalysisKind.values), name="analysis_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(state=FitState.RUNNING, ended_at__isnull=True, refusal="")
                | Q(state=FitState.DONE, ended_at__isnull=False, refusal="")
                | (Q(state=FitState.REFUSED, ended_at__isnull=False) & ~Q(refusal="")),
                name="analysis_ended_by_state",
            ),
        )

    def __str__(self) -> str:
        return f"{self.fit_id} {self.kind}"

    @cached_property
    def findings(self) -> Findings | None:
        """What was found; None unless it is done."""
        return Findings.of(self.result) if self.state == FitState.DONE else None

    @property
    def took(self) -> dt.timedelta | None:
        """How long it took, or None while it is under way."""
        return None if self.ended_at is None else self.ended_at - self.claimed_at
