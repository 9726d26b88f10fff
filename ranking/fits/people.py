"""Systems made from people: their texts as one, one by one, and the best of each context."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from ranking.fits.estimate import FEWEST_DIALOGUES, Estimate, EstimateRefusedError
from ranking.judgments.groups import GroupedJudgments, TextGroup
from ranking.judgments.method import Method
from ranking.judgments.tallies import evaluator_weights, signed_strengths
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.best_of import (
    FEWEST_EVALUATORS,
    BestOf,
    TextJudgments,
    choose_and_score,
    cross_fit,
    draw_halves,
    whole,
)
from ranking.numerics.bradley_terry import place_among
from ranking.numerics.elo import CENTRE, ELO_PER_LOG_UNIT
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.refits import draw_units
from ranking.numerics.simultaneous import effective_units
from ranking.numerics.strength import shares


class PeopleKindName(StrEnum):
    """The values of `ranking.choices.PeopleKind`, for code that knows no framework."""

    AVERAGE = "AVERAGE"
    MEAN_TEXT = "MEAN_TEXT"
    RANDOM_TEXT = "RANDOM_TEXT"
    BEST_CROSS_FITTED = "BEST_CROSS_FITTED"
    BEST_PLAIN = "BEST_PLAIN"


EVERY = slice(None)


@dataclass(frozen=True)
class FitScale:
    """The fit that texts are placed on, in the first row, and its resamples in the others.

    ``drawn`` says how often each has each dialogue, ``strengths`` where it has each system.
    """

    dialogues: tuple[str, ...]
    systems: tuple[str, ...]
    drawn: Floats
    strengths: Floats

    @classmethod
    def of(cls, judgments: GroupedJudgments, estimate: Estimate, method: Method) -> "FitScale":
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

    def place(self, wins: Floats, losses: Floats, rows: slice = EVERY) -> Floats:
        """Return the Elo points of what took and yielded so much in each dialogue."""
        drawn = self.drawn[rows]
        theta = place_among(drawn @ wins, drawn @ losses, self.strengths[rows])
        points: Floats = CENTRE + ELO_PER_LOG_UNIT * theta
        return points


ONE_DIALOGUE = "All of these judgments are on one source dialogue; an interval needs two or more."
ONE_WAY = "All of these judgments went one way: there is no finite rating."


@dataclass(frozen=True)
class PeopleRating:
    """The rating of one such system on the scale of a fit, in Elo points."""

    kind: PeopleKindName
    elo: float
    elo_se: float
    elo_low: float
    elo_high: float
    n_judgments: int
    n_contexts: int
    detail: dict[str, Any]


@dataclass(frozen=True)
class PeopleInputs:
    """Judgments of people's texts as arrays, and the fit that they are placed on."""

    texts: tuple[TextGroup, ...]
    scale: FitScale
    method: Method
    weights: Floats

    def average(self) -> PeopleRating:
        """Rate all texts as one system: each judgment counts alike."""
        self._refuse_without_texts()
        n_contexts = self.columns.n_contexts
        return self._rate(
            PeopleKindName.AVERAGE, BestOf(np.ones(len(self.texts)), n_contexts, 0.0), {}
        )

    def mean_text(self) -> PeopleRating:
        """Rate the mean of the texts: each text of a context counts alike, however often judged.

        The texts of a context share out what its judgments weigh together.
        """
        self._refuse_without_texts()
        columns = self.columns
        mass = np.bincount(columns.text, weights=self.weight)
        in_context = np.bincount(columns.context, weights=mass) / np.bincount(columns.context)
        share = (in_context[columns.context] / mass)[columns.text]
        return self._rate(PeopleKindName.MEAN_TEXT, BestOf(share, columns.n_contexts, 0.0), {})

    def random_text(self) -> PeopleRating:
        """Rate one text of each context, drawn by chance, over and over.

        The rating is the mean over the draws. Each resample of the dialogues takes one of the
        draws, so that the interval holds for texts that another draw would have found.
        """
        self._refuse_without_texts()
        n_splits, shares_of = self.method.splits, self._drawn_texts()[:, self.columns.text]
        elo, at_first = np.empty(len(self.scale.drawn)), np.empty(n_splits)
        for split, share in enumerate(shares_of.astype(np.float64)):
            taken, rows = self._taken(share), slice(1 + split, None, n_splits)
            at_first[split] = self.scale.place(*taken, slice(1))[0]
            elo[rows] = self.scale.place(*taken, rows)
        elo[0] = at_first.mean()
        best = BestOf(shares_of.mean(axis=0), self.columns.n_contexts, 0.0)
        return self._rated(PeopleKindName.RANDOM_TEXT, elo, best, {"splits": n_splits})

    def _drawn_texts(self) -> Booleans:
        """Draw one text of each context in each split, shape (n_splits, n_texts)."""
        context = self.columns.context
        rng = np.random.default_rng((self.method.seed, self.method.splits, len(context)))
        drawn = np.zeros((self.method.splits, len(context)), dtype=np.bool_)
        for row in drawn:
            order = np.lexsort((rng.random(len(context)), context))
            row[order[np.flatnonzero(np.diff(context[order], prepend=-1))]] = True
        return drawn

    def _refuse_without_texts(self) -> None:
        if not self.texts:
            msg = "No text written by people was compared with a system's."
            raise EstimateRefusedError(msg)

    def best_plain(self, average: float) -> PeopleRating:
        """Rate the best texts by what they were chosen by."""
        self._refuse_without_a_choice(average)
        best = choose_and_score(self.columns, self.scale.theta, average)
        return self._rate(PeopleKindName.BEST_PLAIN, best, {})

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
        return self._rate(PeopleKindName.BEST_CROSS_FITTED, best, {"splits": self.method.splits})

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
        """Who judged the texts: people first, then judges, by what they answered.

        Names decide between those who answered alike, so that nothing depends on names: who goes
        by another one (in a release) is drawn for the same half.
        """
        answers = defaultdict[tuple[bool, str], list[tuple[object, ...]]](list)
        for group in self.texts:
            answer = (*group[:4], *group[6:])
            answers[group.is_judge, group.evaluator].append(answer)
        return sorted(answers, key=lambda who: (who[0], sorted(answers[who]), who[1]))

    @cached_property
    def n(self) -> Integers:
        """How many judgments each row stands for."""
        return np.array([group.n for group in self.texts], dtype=np.int64)

    @cached_property
    def weight(self) -> Floats:
        """How much each row counts, in judgments."""
        is_judge = np.array([group.is_judge for group in self.texts], dtype=np.int64)
        weight: Floats = self.weights[is_judge] * self.n
        return weight

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
            to_text=split.first * self.weight,
            to_opponent=split.second * self.weight,
            context=_places(context_of.values(), dict.fromkeys(context_of.values())),
        )

    def _halves(self) -> Booleans:
        strata = np.array([is_judge for is_judge, _ in self.evaluators], dtype=np.int64)
        rng = np.random.default_rng((self.method.seed, self.method.splits))
        return draw_halves(strata, n_splits=self.method.splits, rng=rng)

    @cached_property
    def _unit(self) -> Integers:
        """The dialogue of each row."""
        return _places((group.dialogue for group in self.texts), self.scale.dialogues)

    @cached_property
    def _cell(self) -> Integers:
        """The dialogue and the opponent of each row, in one number."""
        return self._unit * len(self.scale.systems) + self.columns.opponent

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

    def _rate(self, kind: PeopleKindName, best: BestOf, detail: dict[str, Any]) -> PeopleRating:
        """Place the texts by their share of each row, at first and in every resample."""
        return self._rated(kind, self.scale.place(*self._taken(best.share)), best, detail)

    def _rated(
        self, kind: PeopleKindName, elo: Floats, best: BestOf, detail: dict[str, Any]
    ) -> PeopleRating:
        """Make a rating of the place at first, followed by that in every resample."""
        resampled = elo[1:][np.isfinite(elo[1:])]
        if len(np.unique(self._unit[best.share > 0.0])) < FEWEST_DIALOGUES:
            raise EstimateRefusedError(ONE_DIALOGUE)
        if not np.isfinite(elo[0]) or len(resampled) < FEWEST_DIALOGUES:
            raise EstimateRefusedError(ONE_WAY)
        interval = expanded_intervals(
            elo[:1],
            resampled[:, None],
            level=self.method.level,
            n_units=int(effective_units(np.bincount(self._unit, best.share * self.weight))),
        )
        return PeopleRating(
            kind=kind,
            elo=float(elo[0]),
            elo_se=float(resampled.std(ddof=1)),
            elo_low=float(interval.low[0]),
            elo_high=float(interval.high[0]),
            n_judgments=max(1, whole(float(best.share @ self.n))),
            n_contexts=max(1, whole(best.n_contexts)),
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


@dataclass(frozen=True)
class RatedPeople:
    """What could be rated, and why the others could not."""

    ratings: tuple[PeopleRating, ...] = ()
    refusals: tuple[tuple[PeopleKindName, str], ...] = ()


def rate_people(judgments: GroupedJudgments, estimate: Estimate, method: Method) -> RatedPeople:
    """Rate people's texts together, one by one and by the best, against the rated systems.

    The systems stay where the fit has them, in the estimate and in each resample of the
    dialogues. A choice is made inside a context, so a resample carries it along. What cannot
    be rated is named with the reason.
    """
    if judgments.texts is None:
        return RatedPeople()
    scale = FitScale.of(judgments, estimate, method)
    weights = evaluator_weights(judgments, method)
    every = PeopleInputs(judgments.texts, scale, method, weights)
    some = PeopleInputs(_to_choose_from(judgments.texts), scale, method, weights)
    attempts: dict[PeopleKindName, Callable[[], PeopleRating]] = {
        PeopleKindName.AVERAGE: every.average,
        PeopleKindName.MEAN_TEXT: every.mean_text,
        PeopleKindName.RANDOM_TEXT: every.random_text,
        PeopleKindName.BEST_CROSS_FITTED: lambda: some.best_cross_fitted(every.strength),
        PeopleKindName.BEST_PLAIN: lambda: some.best_plain(every.strength),
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
