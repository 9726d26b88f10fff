"""What a stored fit rests on, read again."""

from dataclasses import replace

from ranking.choices import ContextSet, EvaluatorPool
from ranking.judgments import frames
from ranking.judgments.frames import Selection
from ranking.judgments.groups import GroupedJudgments
from ranking.judgments.method import Method
from ranking.judgments.stamps import Stamp
from ranking.models import Fit
from ranking.numerics.strength_mode import StrengthMode

CHANGED = (
    "The judgments that count as of this fit's time are no longer those that it was computed from."
)


class JudgmentsChangedError(Exception):
    """The judgments of a fit are no longer those that it was computed from."""

    def __init__(self) -> None:
        super().__init__(CHANGED)


def selection_of(fit: Fit) -> Selection:
    """Return which judgments the fit is about."""
    return Selection(fit.study, EvaluatorPool(fit.pool), ContextSet(fit.context_set), fit.as_of)


def method_of_fit(fit: Fit) -> Method:
    """Return how the fit was computed."""
    return Method(**fit.method | {"strength": StrengthMode(fit.method["strength"])})


def judgments_of(fit: Fit) -> GroupedJudgments:
    """Read the judgments of an ended fit again.

    Decisions that were made since do not matter: they are no part of what counted then.

    Raises
    ------
    JudgmentsChangedError
        If what counts as of the fit's time is something else now.
    """
    decided = _stamp_of(fit).n_decisions
    found = replace(frames.read_judgments(selection_of(fit)), n_decisions=decided)
    if found.inputs_hash() != fit.inputs_hash:
        raise JudgmentsChangedError
    return found


def check_stamp(fit: Fit) -> None:
    """See in one query that no judgment joined or left those of an ended fit since it was made.

    Judgments are never edited: whoever has read those of the fit needs to know no more.

    Raises
    ------
    JudgmentsChangedError
        If what counts as of the fit's time is something else now.
    """
    known = _stamp_of(fit)
    if frames.read_stamp(selection_of(fit), n_decisions=known.n_decisions) != known:
        raise JudgmentsChangedError


def _stamp_of(fit: Fit) -> Stamp:
    return Stamp.of(fit.diagnostics["stamp"])
