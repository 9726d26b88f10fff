"""Whether a system became worse than a baseline by more than is allowed."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from scipy import special

from ranking.analyses import AnalysisInputs
from ranking.analyses.boards import AnalysisBoard, rated
from ranking.analyses.common import method_of_marks, weighted_pairs
from ranking.findings import AnalysisRefusedError
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.elo import CENTRE, ELO_PER_LOG_UNIT
from ranking.numerics.few_units import TOO_FEW_UNITS
from ranking.numerics.multiplicity import holm
from ranking.numerics.planning.design import Contrast, contrast, needed_units
from ranking.numerics.simultaneous import STILL
from ranking.numerics.tables import tabulate

OVERALL = "overall"
MOST_MORE = 10_000_000  # judgments; what would take more is said to take no number


class UnknownSystemError(Exception):
    """A system was named that the judgments do not know."""


class Outcome(StrEnum):
    """What the gate says, and by which exit code."""

    HELD = "pass"
    DROPPED = "regress"
    UNDECIDED = "not enough data"

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command."""
        return {Outcome.HELD: 0, Outcome.DROPPED: 1, Outcome.UNDECIDED: 2}[self]


@dataclass(frozen=True)
class GateRequest:
    """Which system is held against which, how many points it may drop, and how sure one is.

    ``level`` is one less the chance of a false alarm, and of a false pass; both one-sided.
    """

    candidate: str
    baseline: str
    max_drop: float = 15.0
    level: float = 0.95


@dataclass(frozen=True)
class GateTest:
    """One comparison of candidate and baseline, in Elo points.

    ``lowest`` and ``highest`` are one-sided bounds of ``difference``, candidate less baseline.
    ``p_dropped`` is of a drop no larger than allowed: small where it dropped by more, and
    ``p_adjusted`` the same after Holm. ``p_held`` is of a drop as large as allowed or larger.
    """

    name: str
    candidate: float
    baseline: float
    difference: float
    lowest: float
    highest: float
    p_dropped: float
    p_held: float
    n_judgments: int
    n_units: int
    p_adjusted: float = 1.0


class More(NamedTuple):
    """How many judgments and source dialogues more are likely to settle it; None if none would."""

    judgments: int | None
    dialogues: int | None


@dataclass(frozen=True)
class Gate:
    """What the gate found: the overall test first, if there could be one, then dimensions.

    ``if_equal`` is what it takes if both are truly as good, ``as_estimated`` if they truly differ
    as they seem to; None where nothing more is needed, or nothing is known of it.
    """

    asked: GateRequest
    outcome: Outcome
    tests: tuple[GateTest, ...]
    notes: tuple[str, ...]
    if_equal: More | None = None
    as_estimated: More | None = None

    @property
    def dropped(self) -> tuple[GateTest, ...]:
        """Return the tests that show a drop larger than allowed."""
        return tuple(one for one in self.tests if one.p_adjusted <= 1.0 - self.asked.level)


def run_gate(inputs: AnalysisInputs, request: GateRequest) -> Gate:
    """Test whether the candidate dropped by more than is allowed, overall and by dimension.

    Parameters
    ----------
    inputs : AnalysisInputs
        The judgments of a fit, those of its dimensions, and its method.
    request : GateRequest
        The two systems, the drop allowed (points, at least 0) and the level.

    Returns
    -------
    Gate
        *Regress* if a test rejects "it dropped by no more than allowed", after Holm over all
        tests. Else *pass* if the overall one rejects "it dropped by as much or more". Else
        *not enough data*.

    Raises
    ------
    UnknownSystemError
        If the judgments do not know a system.
    AnalysisRefusedError
        If the two are one, or the judgments do not determine the ratings.

    Notes
    -----
    Differences are of Bradley-Terry ratings. Their error is that of the resampled source
    dialogues, times sqrt(n / (n - 1)), and t has n - 1 degrees of freedom, n being what the
    dialogues are worth (`effective_units`); below `TOO_FEW_UNITS` nothing is tested. A pass is one
    test at the level; the chance that a candidate that dropped by as much as allowed, or more,
    passes is at most one less the level.

    References
    ----------
    .. [1] Holm (1979), Scand. J. Stat. 6:65-70.
    .. [2] Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 12.
    """
    _check(inputs.columns, request)
    overall = rated(inputs.columns, inputs.method)
    tests, notes = _tests(inputs, request, overall)
    outcome = _outcome(tests, request)
    found = Gate(request, outcome, tests, notes)
    if outcome is not Outcome.UNDECIDED:
        return found
    return _with_more(found, inputs, overall)


def _check(columns: JudgmentColumns, request: GateRequest) -> None:
    for slug in (request.candidate, request.baseline):
        if slug not in columns.systems:
            msg = f'the judgments know no system "{slug}"; they know {", ".join(columns.systems)}'
            raise UnknownSystemError(msg)
    if request.candidate == request.baseline:
        msg = "Candidate and baseline are the same system."
        raise AnalysisRefusedError(msg)


def _tests(
    inputs: AnalysisInputs, request: GateRequest, overall: AnalysisBoard
) -> tuple[tuple[GateTest, ...], tuple[str, ...]]:
    """Return the tests that can be made, adjusted together, and why others cannot."""
    found, notes = list[GateTest](), list[str]()
    boards = {OVERALL: (overall, inputs.columns)} | _dimension_boards(inputs, notes)
    for name, (board, columns) in boards.items():
        try:
            found.append(_test(name, board, columns, request))
        except AnalysisRefusedError as refusal:
            notes.append(f"{name} is not tested: {refusal}")
    adjusted = holm(np.array([one.p_dropped for one in found], dtype=np.float64)).tolist()
    tests = tuple(replace(one, p_adjusted=p) for one, p in zip(found, adjusted, strict=True))
    return tests, tuple(notes)


def _dimension_boards(
    inputs: AnalysisInputs, notes: list[str]
) -> dict[str, tuple[AnalysisBoard, JudgmentColumns]]:
    """Rate each dimension as the analysis of dimensions does."""
    boards = {}
    for name, columns in inputs.dimensions.items():
        try:
            boards[name] = (rated(columns, method_of_marks(columns, inputs.method)), columns)
        except AnalysisRefusedError as refusal:
            notes.append(f"{name} is not rated: {refusal}")
    return boards


def _test(
    name: str, board: AnalysisBoard, columns: JudgmentColumns, request: GateRequest
) -> GateTest:
    """Test one board.

    Raises
    ------
    AnalysisRefusedError
        If a system is not on it, or it rests on too few dialogues, or they are all alike.
    """
    slugs = (request.candidate, request.baseline)
    if not set(slugs) <= set(board.systems):
        msg = "one of the two systems was not marked."
        raise AnalysisRefusedError(msg)
    one, other = (board.systems.index(slug) for slug in slugs)
    n = int(board.units_of_systems[[one, other]].min())
    if n < TOO_FEW_UNITS:
        msg = f"judgments worth {n} source dialogues are too few, it takes {TOO_FEW_UNITS}."
        raise AnalysisRefusedError(msg)
    error = float((board.resampled[:, one] - board.resampled[:, other]).std(ddof=1))
    error *= (n / (n - 1.0)) ** 0.5
    if error <= STILL:
        msg = "all dialogues say the same, which leaves no measure of chance."
        raise AnalysisRefusedError(msg)
    difference = float(board.elo[one] - board.elo[other])
    reach = error * float(special.stdtrit(n - 1, request.level))
    t = (difference + request.max_drop) / error
    return GateTest(
        name=name,
        candidate=float(board.elo[one]),
        baseline=float(board.elo[other]),
        difference=difference,
        lowest=difference - reach,
        highest=difference + reach,
        p_dropped=float(special.stdtr(n - 1, t)),
        p_held=float(special.stdtr(n - 1, -t)),
        n_judgments=columns.n_judgments,
        n_units=n,
    )


def _outcome(tests: tuple[GateTest, ...], request: GateRequest) -> Outcome:
    chance = 1.0 - request.level
    if any(one.p_adjusted <= chance for one in tests):
        return Outcome.DROPPED
    if any(one.name == OVERALL and one.p_held <= chance for one in tests):
        return Outcome.HELD
    return Outcome.UNDECIDED


def _with_more(found: Gate, inputs: AnalysisInputs, board: AnalysisBoard) -> Gate:
    """Say what is likely to settle it, by how much the present dialogues tell."""
    request = found.asked
    one, other = (board.systems.index(slug) for slug in (request.candidate, request.baseline))
    theta = (board.elo - CENTRE) / ELO_PER_LOG_UNIT
    columns = inputs.columns
    pairs = weighted_pairs(columns, inputs.method)
    tables = tabulate(pairs, n_units=len(columns.units), n_systems=len(columns.systems))
    of = contrast(tables, theta, (one, other))
    per_unit = columns.n_judgments / board.n_units
    seems = float(board.elo[one] - board.elo[other]) + request.max_drop
    return replace(
        found,
        if_equal=_more(of, request.max_drop, per_unit, request.level),
        as_estimated=_more(of, seems, per_unit, request.level),
    )


def _more(of: Contrast, points: float, per_unit: float, level: float) -> More:
    """Return what a one-sided test of that many points needs beside what there is."""
    if not points or of.standard_error(of.n_units) == 0.0:
        return More(None, None)
    one_sided = 2.0 * level - 1.0
    n_needed = max(needed_units(of, points / ELO_PER_LOG_UNIT, level=one_sided), TOO_FEW_UNITS)
    dialogues = max(0, n_needed - of.n_units)
    judgments = round(dialogues * per_unit)
    return More(judgments, dialogues) if judgments <= MOST_MORE else More(None, None)
