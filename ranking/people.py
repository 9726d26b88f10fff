"""Systems made from people: all their texts as one, and the best text of each context."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import Count, Q

from completions.choices import SystemKind
from completions.models import System
from ranking.choices import PeopleKind
from ranking.estimate import FEWEST_DIALOGUES, Estimate, EstimateRefusedError
from ranking.frames import Selection, read_groups, selected
from ranking.groups import GroupedJudgments, TextGroup
from ranking.method import Method
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.best_of import BestOf, TextJudgments, choose_and_score, cross_fit
from ranking.numerics.bootstrap import draw_units
from ranking.numerics.elo import CENTRE, ELO_PER_LOG_UNIT
from ranking.numerics.halves import FEWEST_EVALUATORS, draw_halves
from ranking.numerics.intervals import percentile_intervals
from ranking.numerics.placement import place_among
from ranking.numerics.strength import shares
from ranking.tallies import signed_strengths

ONE_WAY = "All of these judgments went one way: there is no finite rating."
FIRST_IS_PEOPLE = Q(comparison__first__system__kind=SystemKind.HUMAN)
SECOND_IS_PEOPLE = Q(comparison__second__system__kind=SystemKind.HUMAN)
FIRST = ("comparison__first", "comparison__second__system__slug")
SECOND = ("comparison__second", "comparison__first__system__slug")
PLACE = ("comparison__context__dialogue__content_hash", "comparison__context")
ANSWER = ("rater__code", "judge__slug", "protocol", "verdict")


@dataclass(frozen=True)
class PeopleRating:
    """The rating of one such system on the scale of a fit, in Elo points."""

    kind: PeopleKind
    elo: float
    elo_se: float
    elo_low: float
    elo_high: float
    n_judgments: int
    n_contexts: int
    detail: dict[str, Any]


@dataclass(frozen=True)
class RatedPeople:
    """What could be rated, and why the others could not."""

    ratings: tuple[PeopleRating, ...] = ()
    refusals: tuple[tuple[PeopleKind, str], ...] = ()


def read_judgments(selection: Selection) -> GroupedJudgments:
    """Read all that a fit rests on: single texts of people too, if there are any."""
    judgments = read_groups(selection)
    people = System.objects.filter(slug__in=judgments.systems, kind=SystemKind.HUMAN)
    return replace(judgments, texts=_read_texts(selection)) if people.exists() else judgments


def _read_texts(selection: Selection) -> tuple[TextGroup, ...]:
    """Count the judgments of people's texts against other systems, in one query for each side."""
    first, second = FIRST_IS_PEOPLE & ~SECOND_IS_PEOPLE, SECOND_IS_PEOPLE & ~FIRST_IS_PEOPLE
    groups = [*_read_side(selection, first, FIRST, 1), *_read_side(selection, second, SECOND, -1)]
    return tuple(sorted(groups))


def _read_side(
    selection: Selection, is_meant: Q, sides: tuple[str, str], sign: int
) -> Iterator[TextGroup]:
    """Read the judgments in which the texts are on one side; ``sign`` turns verdicts to them."""
    rows = selected(selection).filter(is_meant).values_list(*PLACE, *sides, *ANSWER)
    for dialogue, context, text, opponent, rater, judge, protocol, verdict, n in rows.annotate(
        n=Count("pk")
    ).order_by():
        who = (rater is None, rater or judge)
        yield TextGroup(dialogue, context, text, opponent, *who, protocol, sign * verdict, n)


def rate_people(judgments: GroupedJudgments, estimate: Estimate, method: Method) -> RatedPeople:
    """Rate people's texts together, and the best of each context, against the rated systems.

    The systems stay where the fit has them, in the estimate and in each resample of the
    dialogues. A choice is made inside a context, so a resample carries it along. What cannot
    be rated is named with the reason.
    """
    if judgments.texts is None:
        return RatedPeople()
    scale = _Scale.of(judgments, estimate, method)
    every = _Ground(judgments.texts, scale, method)
    some = _Ground(_to_choose_from(judgments.texts), scale, method)
    attempts: dict[PeopleKind, Callable[[], PeopleRating]] = {
        PeopleKind.AVERAGE: every.average,
        PeopleKind.BEST_CROSS_FITTED: lambda: some.best_cross_fitted(every.strength),
        PeopleKind.BEST_PLAIN: lambda: some.best_plain(every.strength),
    }
    ratings, refusals = [], []
    for kind, attempt in attempts.items():
        try:
            ratings.append(attempt())
        except EstimateRefusedError as refusal:
            refusals.append((kind, str(refusal)))
    return RatedPeople(tuple(ratings), tuple(refusals))


def _to_choose_from(texts: tuple[TextGroup, ...]) -> tuple[TextGroup, ...]:
    """Return what is about contexts with two texts or more."""
    n_texts = Counter(context for context, _ in {(group.context, group.text) for group in texts})
    return tuple(group for group in texts if n_texts[group.context] > 1)


@dataclass(frozen=True)
class _Scale:
    """The fit that texts are placed on, in the first row, and its resamples in the others.

    ``drawn`` says how often each has each dialogue, ``strengths`` where it has each system.
    """

    dialogues: tuple[str, ...]
    systems: tuple[str, ...]
    drawn: Floats
    strengths: Floats

    @classmethod
    def of(cls, judgments: GroupedJudgments, estimate: Estimate, method: Method) -> "_Scale":
        """Draw the fit's resamples of the dialogues once more: the same seed, the same draws."""
        n, rng = len(judgments.dialogues), np.random.default_rng(method.seed)
        drawn = np.vstack([np.ones(n), draw_units(n, method.replicates, rng)])
        strengths = np.vstack([estimate.theta, estimate.replicates.log_strengths])
        return cls(judgments.dialogues, judgments.systems, drawn, strengths)

    @property
    def theta(self) -> Floats:
        """The log strengths of the systems."""
        theta: Floats = self.strengths[0]
        return theta

    def place(self, wins: Floats, losses: Floats) -> Floats:
        """Return the Elo points of what took and yielded so much in each dialogue."""
        theta = place_among(self.drawn @ wins, self.drawn @ losses, self.strengths)
        points: Floats = CENTRE + ELO_PER_LOG_UNIT * theta
        return points


@dataclass(frozen=True)
class _Ground:
    """Judgments of people's texts as arrays, and the fit that they are placed on."""

    texts: tuple[TextGroup, ...]
    scale: _Scale
    method: Method

    def average(self) -> PeopleRating:
        """Rate all texts as one system."""
        if not self.texts:
            msg = "No text written by people was compared with a system's."
            raise EstimateRefusedError(msg)
        n_contexts = self.columns.n_contexts
        return self._rate(PeopleKind.AVERAGE, BestOf(np.ones(len(self.texts)), n_contexts, 0.0), {})

    def best_plain(self, average: float) -> PeopleRating:
        """Rate the best texts by what they were chosen by."""
        self._refuse_without_a_choice(average)
        best = choose_and_score(self.columns, self.scale.theta, average)
        return self._rate(PeopleKind.BEST_PLAIN, best, {})

    def best_cross_fitted(self, average: float) -> PeopleRating:
        """Rate the best texts by those evaluators who did not choose them."""
        self._refuse_without_a_choice(average)
        if len(self.evaluators) < FEWEST_EVALUATORS:
            msg = "One evaluator judged all of these texts: nobody is left to score the choice."
            raise EstimateRefusedError(msg)
        best = cross_fit(self.columns, self.scale.theta, average, self._halves())
        if not best.share.any():
            msg = "In no context could one half of the evaluators score what the other chose."
            raise EstimateRefusedError(msg)
        return self._rate(PeopleKind.BEST_CROSS_FITTED, best, {"splits": self.method.splits})

    def _refuse_without_a_choice(self, average: float) -> None:
        if not self.texts:
            msg = "No context has two texts written by people that were compared with a system's."
            raise EstimateRefusedError(msg)
        if not np.isfinite(average):
            raise EstimateRefusedError(ONE_WAY)

    @cached_property
    def strength(self) -> float:
        """The log strength of all texts together; not a number where there is none."""
        wins, losses = (taken.sum(axis=0)[None] for taken in self._taken(np.ones(len(self.texts))))
        return float(place_among(wins, losses, self.scale.theta[None])[0])

    @cached_property
    def evaluators(self) -> list[tuple[bool, str]]:
        """Who judged the texts: people first, then judges, by name."""
        return sorted({(group.is_judge, group.evaluator) for group in self.texts})

    @cached_property
    def n(self) -> Integers:
        """How many judgments each row stands for."""
        return np.array([group.n for group in self.texts], dtype=np.int64)

    @cached_property
    def columns(self) -> TextJudgments:
        """The judgments, with indices for names."""
        graded = {"slightly": self.method.slightly, "much": self.method.much}
        split = shares(signed_strengths(self.texts, **graded), self.method.strength)
        context_of = {group.text: group.context for group in self.texts}
        evaluators = ((group.is_judge, group.evaluator) for group in self.texts)
        return TextJudgments(
            text=_places((group.text for group in self.texts), context_of),
            opponent=_places((group.opponent for group in self.texts), self.scale.systems),
            evaluator=_places(evaluators, self.evaluators),
            to_text=split.first * self.n,
            to_opponent=split.second * self.n,
            context=_places(context_of.values(), dict.fromkeys(context_of.values())),
        )

    def _halves(self) -> Booleans:
        strata = np.array([is_judge for is_judge, _ in self.evaluators], dtype=np.int64)
        rng = np.random.default_rng((self.method.seed, self.method.splits))
        return draw_halves(strata, n_splits=self.method.splits, rng=rng)

    @cached_property
    def _cell(self) -> Integers:
        """The dialogue and the opponent of each row, in one number."""
        unit = _places((group.dialogue for group in self.texts), self.scale.dialogues)
        return unit * len(self.scale.systems) + self.columns.opponent

    def _taken(self, share: Floats) -> tuple[Floats, Floats]:
        """Add up what texts and opponents took, shape (n_dialogues, n_systems) each."""
        shape = (len(self.scale.dialogues), len(self.scale.systems))
        to_text, to_opponent = (
            np.bincount(self._cell, share * taken, shape[0] * shape[1])
            .astype(np.float64, copy=False)
            .reshape(shape)
            for taken in (self.columns.to_text, self.columns.to_opponent)
        )
        return to_text, to_opponent

    def _rate(self, kind: PeopleKind, best: BestOf, detail: dict[str, Any]) -> PeopleRating:
        """Place the texts by their share of each row, at first and in every resample."""
        elo = self.scale.place(*self._taken(best.share))
        resampled = elo[1:][np.isfinite(elo[1:])]
        if not np.isfinite(elo[0]) or len(resampled) < FEWEST_DIALOGUES:
            raise EstimateRefusedError(ONE_WAY)
        interval = percentile_intervals(resampled[:, None], level=self.method.level)
        return PeopleRating(
            kind=kind,
            elo=float(elo[0]),
            elo_se=float(resampled.std(ddof=1)),
            elo_low=min(float(interval.low[0]), float(elo[0])),
            elo_high=max(float(interval.high[0]), float(elo[0])),
            n_judgments=max(1, round(float(best.share @ self.n))),
            n_contexts=max(1, round(best.n_contexts)),
            detail=self._facts()
            | {"contexts_left_out": round(best.n_left_out, 1)}
            | {"replicates_without_maximum": len(elo) - 1 - len(resampled)}
            | detail,
        )

    def _facts(self) -> dict[str, Any]:
        """Say what there was to choose from."""
        meetings = {(group.text, group.opponent) for group in self.texts}
        n_texts = len(self.columns.context)
        return {
            "texts": n_texts,
            "contexts": self.columns.n_contexts,
            "evaluators": len(self.evaluators),
            "opponents_per_text": round(len(meetings) / n_texts, 2),
        }


def _places(names: Iterable[Hashable], among: Iterable[Hashable]) -> Integers:
    """Return the place of each name among those that there are."""
    place = {name: index for index, name in enumerate(among)}
    return np.fromiter((place[name] for name in names), dtype=np.int64)
