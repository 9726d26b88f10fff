"""Compute a stored fit again, and compare every figure with what is stored."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from math import isnan

from ranking.choices import FitState
from ranking.fits.estimate import Estimate, EstimateRefusedError, estimate_ratings
from ranking.fits.people import RatedPeople, rate_people
from ranking.fits.services.inputs import JudgmentsChangedError, judgments_of
from ranking.judgments.method import Method, code_version, is_close
from ranking.models import DimensionRate, Fit, HumanRating, Rating

OUTCOMES = ("wins", "losses", "ties")
OF_PEOPLE = ("elo", "elo_se", "elo_low", "elo_high", "n_judgments", "n_contexts")
Figures = dict[tuple[str, str], float | None]


@dataclass(frozen=True)
class Difference:
    """A figure that is not what the judgments give; None where there is no such figure."""

    what: str
    figure: str
    stored: float | None
    computed: float | None


@dataclass(frozen=True)
class Verification:
    """How a fit stands up to being computed again.

    ``trouble`` says why it cannot be held against its judgments at all, or how its refusal
    differs; ``is_other_code`` that another version of the estimators computed it.
    """

    key: str
    n_figures: int
    is_other_code: bool
    differences: tuple[Difference, ...] = ()
    trouble: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether everything stored is what the judgments give."""
        return not self.differences and not self.trouble


def verify_fit(fit: Fit) -> Verification:
    """Compute an ended fit again from its judgments and compare every figure to 1e-9.

    Nothing is written. The cost is that of the fit.
    """
    is_other_code = fit.code_version != code_version()
    try:
        computed = _computed(fit)
    except JudgmentsChangedError as change:
        return Verification(fit.key, 0, is_other_code, trouble=str(change))
    except EstimateRefusedError as refusal:
        return Verification(fit.key, 0, is_other_code, trouble=_other_refusal(fit, str(refusal)))
    if fit.state == FitState.REFUSED:
        trouble = f"It is stored as refused, but the judgments give ratings: {fit.refusal}"
        return Verification(fit.key, 0, is_other_code, trouble=trouble)
    found = tuple(_differences(_stored(fit), computed))
    return Verification(fit.key, len(computed), is_other_code, found)


def _other_refusal(fit: Fit, refusal: str) -> str:
    if fit.state == FitState.REFUSED and fit.refusal == refusal:
        return ""
    stored = f"refused: {fit.refusal}" if fit.refusal else "done"
    return f"The judgments do not determine ratings ({refusal}) It is stored as {stored}"


def _computed(fit: Fit) -> Figures:
    judgments, method = judgments_of(fit), Method.of(fit.method)
    estimate = estimate_ratings(judgments, method)
    rated = rate_people(judgments, estimate, method)
    marks: Figures = {}
    for mark in judgments.marks:
        marks[mark.system, f"{mark.dimension} wins"] = mark.wins
        marks[mark.system, f"{mark.dimension} marks"] = mark.n_marks
    return _of_estimate(estimate) | marks | _of_people(rated)


def _of_estimate(estimate: Estimate) -> Figures:
    figures: Figures = {}
    for index, slug in enumerate(estimate.systems):
        for name in _columns():
            array = getattr(estimate.outcomes if name in OUTCOMES else estimate, name)
            number = float(array[index])
            figures[slug, name] = None if isnan(number) else number
    return figures


def _of_people(rated: RatedPeople) -> Figures:
    return {
        (str(one.kind), name): float(getattr(one, name))
        for one in rated.ratings
        for name in OF_PEOPLE
    }


def _stored(fit: Fit) -> Figures:
    figures: Figures = {}
    for row in Rating.objects.filter(fit=fit).select_related("system"):
        figures |= {(row.system.slug, name): getattr(row, name) for name in _columns()}
    for rate in DimensionRate.objects.filter(rating__fit=fit).select_related("rating__system"):
        slug = rate.rating.system.slug
        figures[slug, f"{rate.dimension} wins"] = rate.wins
        figures[slug, f"{rate.dimension} marks"] = rate.n_marks
    for one in HumanRating.objects.filter(fit=fit):
        figures |= {(one.kind, name): getattr(one, name) for name in OF_PEOPLE}
    return figures


def _columns() -> list[str]:
    """Return the figures of an estimate that a rating has, too."""
    return [one.name for one in fields(Estimate) if hasattr(Rating, one.name)] + list(OUTCOMES)


def _differences(stored: Figures, computed: Figures) -> Iterator[Difference]:
    for what, figure in sorted({*stored, *computed}):
        was, comes = stored.get((what, figure)), computed.get((what, figure))
        if not is_close(was, comes):
            yield Difference(what, figure, was, comes)
