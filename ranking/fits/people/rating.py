"""Ratings of systems made from people."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from ranking.fits.estimate import Estimate, EstimateRefusedError
from ranking.fits.people.inputs import FitScale, PeopleInputs, PeopleRating
from ranking.fits.people.kinds import PeopleKindName
from ranking.judgments.groups import GroupedJudgments, TextGroup
from ranking.judgments.method import Method
from ranking.judgments.tallies import evaluator_weights


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
