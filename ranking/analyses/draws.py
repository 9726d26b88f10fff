"""Ties and grades: the ways to treat them, and what the ratings are under each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import special

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import (
    best_first,
    check_enough,
    decimal,
    judgment_weights,
    preferred,
    tabulated,
)
from ranking.findings import AnalysisRefusedError, Cell, Column, ColumnKind, Findings, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.elo import ELO_PER_LOG_UNIT, ranks_of, to_elo
from ranking.numerics.models.cumulative import CumulativeFit, Graded, fit_cumulative
from ranking.numerics.models.maximum import NoMaximumError
from ranking.numerics.models.ties import fit_davidson, fit_rao_kupper
from ranking.numerics.strength_mode import StrengthMode


class OutcomeTable(NamedTuple):
    """Who was preferred to whom with what weight, and neither; shape (n, n) each."""

    wins: Floats
    ties: Floats


def outcomes(columns: JudgmentColumns, weights: Floats) -> OutcomeTable:
    """Add up what wins and ties weigh, whatever their strength."""
    n = len(columns.systems)
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    ahead, behind = columns.strength > 0, columns.strength < 0
    np.add.at(wins, (columns.first[ahead], columns.second[ahead]), weights[ahead])
    np.add.at(wins, (columns.second[behind], columns.first[behind]), weights[behind])
    tied = ~(ahead | behind)
    np.add.at(ties, (columns.first[tied], columns.second[tied]), weights[tied])
    return OutcomeTable(wins, ties + ties.T)


@dataclass(frozen=True)
class Treated:
    """One way to treat ties and grades: log strengths, and probabilities if it gives any.

    ``win`` and ``tie``, of shape (n, n), are those of the row's winning against the column and
    of a tie; ``tie`` is None where ties are no outcome, ``win`` where strengths are no log odds.
    """

    log_strengths: Floats
    win: Floats | None = None
    tie: Floats | None = None
    tie_between_equals: float | None = None
    fit: CumulativeFit | None = None


@dataclass(frozen=True)
class Way:
    """A way to treat ties and grades, by its key in downloads and its words on the page.

    ``head`` is short enough to stand over a column.
    """

    key: str
    label: str
    head: str
    fit: Callable[[AnalysisInputs, OutcomeTable], Treated]


def treat(inputs: AnalysisInputs, counted: OutcomeTable) -> tuple[dict[str, Treated], list[str]]:
    """Treat them in every way; return what came of each by its key, and why nothing of others."""
    found, warnings = {}, []
    for way in WAYS:
        try:
            found[way.key] = way.fit(inputs, counted)
        except NotConnectedError as refusal:
            n_groups = len(refusal.components)
            warnings.append(f"{way.label}: no ratings, {n_groups} groups cannot be compared.")
        except NoMaximumError:
            warnings.append(f"{way.label}: no ratings, the likelihood grows without end.")
        except NotConvergedError:
            warnings.append(f"{way.label}: no ratings, the search did not end.")
    return found, warnings


def _scored(inputs: AnalysisInputs, _counted: OutcomeTable, mode: StrengthMode) -> Treated:
    tables = tabulated(inputs.columns, replace(inputs.method, strength=mode))
    return Treated(fit_bradley_terry(tables.total()).log_strengths)


def _wins_alone(_inputs: AnalysisInputs, counted: OutcomeTable, tie: float) -> Treated:
    """Rate by wins, a tie counting so much for both."""
    theta = fit_bradley_terry(counted.wins + tie * counted.ties).log_strengths
    return Treated(theta, win=special.expit(differences(theta)))


def _davidson(_inputs: AnalysisInputs, counted: OutcomeTable) -> Treated:
    fit = fit_davidson(*counted)
    half, nu = differences(fit.log_strengths) / 2, fit.parameter
    total = np.exp(half) + np.exp(-half) + nu
    win, tie = np.exp(half) / total, nu / total
    return Treated(fit.log_strengths, win, tie, tie_between_equals=nu / (2 + nu))


def _rao_kupper(_inputs: AnalysisInputs, counted: OutcomeTable) -> Treated:
    fit = fit_rao_kupper(*counted)
    return _with_threshold(fit.log_strengths, fit.parameter)


def _cumulative(inputs: AnalysisInputs, _counted: OutcomeTable) -> Treated:
    columns, weights = inputs.columns, judgment_weights(inputs.columns, inputs.method)
    grades = Graded(*preferred(columns), np.abs(columns.strength), weights)
    fit = fit_cumulative(grades, n_systems=len(columns.systems))
    return _with_threshold(fit.log_strengths, float(fit.thresholds[0]), fit)


def _with_threshold(theta: Floats, threshold: float, fit: CumulativeFit | None = None) -> Treated:
    win = special.expit(differences(theta) - threshold)
    return Treated(theta, win, 1 - win - win.T, float(np.tanh(threshold / 2)), fit)


def differences(theta: Floats) -> Floats:
    """Return by how much each strength is above each other, shape (n, n)."""
    apart: Floats = theta[:, None] - theta[None, :]
    return apart


WAYS = (
    Way("soft", "Soft scores, ties half", "Soft scores", partial(_scored, mode=StrengthMode.SOFT)),
    Way(
        "multiply",
        "Wins times strength, ties half",
        "Times strength",
        partial(_scored, mode=StrengthMode.MULTIPLY),
    ),
    Way("ignore", "Wins alone, ties half", "Wins alone", partial(_wins_alone, tie=0.5)),
    Way("drop", "Wins alone, ties left out", "Ties left out", partial(_wins_alone, tie=0.0)),
    Way("davidson", "Davidson: ties in the model", "Davidson", _davidson),
    Way("rao_kupper", "Rao-Kupper: ties in the model", "Rao-Kupper", _rao_kupper),
    Way("cumulative", "Cumulative logit: grades in the model", "Cumulative logit", _cumulative),
)


METHOD = (
    "Bradley-Terry with ties as halves or left out, and the models of Davidson (1970), of Rao "
    "and Kupper (1967) and the cumulative logit (Tutz 1986, Agresti 1992), in which ties and "
    "grades are outcomes; maximum likelihood. All take one strength per system and the same "
    "thresholds for all evaluators. Judgments weigh as on the board."
)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Rate the systems under each way to treat ties and grades.

    Raises
    ------
    AnalysisRefusedError
        If not even the way of the board has finite ratings.
    """
    columns = inputs.columns
    check_enough(columns)
    counted = outcomes(columns, judgment_weights(columns, inputs.method))
    board = inputs.method.strength.value
    found, warnings = treat(inputs, counted)
    if board not in found:
        msg = "The judgments do not determine the ratings of the board itself."
        raise AnalysisRefusedError(msg)
    tables = [_ways(found, columns, counted, board), *_systems(found, columns, board)]
    tables += [_grades(one.fit, columns) for one in found.values() if one.fit is not None]
    return Findings(METHOD, tuple(tables), tuple(warnings + _cautions(inputs, found)))


def _ways(
    found: dict[str, Treated], columns: JudgmentColumns, counted: OutcomeTable, board: str
) -> Table:
    rows = [
        (way.label, *_row_of(found.get(way.key), found[board], columns.systems, counted))
        for way in WAYS
    ]
    return Table(
        "ways",
        "Ways to treat ties and grades",
        f"{(columns.strength == 0).mean():.1%} of the judgments are ties. A pair is turned round "
        "when the two systems are in another order than on the board. Log likelihoods are means "
        "per judgment, and the higher the better; a coin has -0.693 on judgments with a winner.",
        (
            Column("way", "Way", ColumnKind.TEXT),
            Column("spread", "Best less worst", ColumnKind.ELO),
            Column("first", "First place", ColumnKind.SYSTEM),
            Column("turned", "Pairs turned round", ColumnKind.COUNT),
            Column("ties_between_equals", "Ties between equals, fitted", ColumnKind.SHARE),
            Column("with_ties", "Log likelihood, win, tie or loss", ColumnKind.NUMBER),
            Column("decided", "Log likelihood, where there is a winner", ColumnKind.NUMBER),
        ),
        tuple(rows),
    )


def _row_of(
    treated: Treated | None, board: Treated, systems: tuple[str, ...], counted: OutcomeTable
) -> tuple[Cell, ...]:
    if treated is None:
        return (None,) * 6
    elo = to_elo(treated.log_strengths)
    return (
        decimal(np.ptp(elo), 2),
        systems[_first(treated)],
        _turned(treated.log_strengths, board.log_strengths),
        decimal(treated.tie_between_equals),
        decimal(_with_ties(treated, counted)),
        decimal(_decided(treated, counted)),
    )


def _first(treated: Treated) -> int:
    """Return who comes first; of those whom rounding alone keeps apart, the first by name."""
    return int(np.round(treated.log_strengths, 9).argmax())


def _turned(one: Floats, other: Floats) -> int:
    """Count the pairs that two orders put differently."""
    apart, as_well = (np.sign(np.round(differences(theta), 9)) for theta in (one, other))
    return int((apart * as_well < 0).sum()) // 2


def _with_ties(treated: Treated, counted: OutcomeTable) -> float | None:
    """Return the mean log likelihood of wins, losses and ties."""
    if treated.win is None or treated.tie is None:
        return None
    won = special.xlogy(counted.wins, treated.win).sum()
    tied = special.xlogy(counted.ties, treated.tie).sum() / 2
    return float((won + tied) / (counted.wins.sum() + counted.ties.sum() / 2))


def _decided(treated: Treated, counted: OutcomeTable) -> float | None:
    """Return the mean log likelihood of wins and losses, given that there was a winner."""
    if treated.win is None or not counted.wins.any():
        return None
    given = treated.win / (treated.win + treated.win.T)
    return float(special.xlogy(counted.wins, given).sum() / counted.wins.sum())


def _systems(
    found: dict[str, Treated], columns: JudgmentColumns, board: str
) -> tuple[Table, Table]:
    """Return ratings and ranks under each way, in the order of the board."""
    ways = [way for way in WAYS if way.key in found]
    elo = {way.key: to_elo(found[way.key].log_strengths) for way in ways}
    ranks = {key: ranks_of(ratings).tolist() for key, ratings in elo.items()}
    system = Column("system", "System", ColumnKind.SYSTEM)
    order = best_first(elo[board])
    return (
        Table(
            "systems",
            "Ratings under each way",
            "Elo; each column is a board of its own with mean 1500. Scales differ, since soft "
            "scores shrink and strengths as counts stretch them: compare within columns.",
            (system, *(Column(f"elo_{way.key}", way.head, ColumnKind.ELO) for way in ways)),
            tuple(
                (columns.systems[n], *(decimal(elo[way.key][n], 2) for way in ways)) for n in order
            ),
        ),
        Table(
            "ranks",
            "Ranks under each way",
            "Rows are in the order of the board. A row of one number alone means that the system's "
            "place does not depend on how ties and grades are treated.",
            (system, *(Column(f"rank_{way.key}", way.head, ColumnKind.COUNT) for way in ways)),
            tuple((columns.systems[n], *(ranks[way.key][n] for way in ways)) for n in order),
        ),
    )


def _grades(fit: CumulativeFit, columns: JudgmentColumns) -> Table:
    sizes = np.abs(columns.strength)
    begins = (0.0, *(fit.thresholds * ELO_PER_LOG_UNIT))
    rows = [
        (level, int((sizes == level).sum()), decimal((sizes == level).mean()), decimal(begin, 2))
        for level, begin in zip(fit.levels, begins, strict=True)
    ]
    return Table(
        "grades",
        "Where grades begin",
        "How far ahead a completion must seem for a preference of each strength, by the "
        "cumulative logit. Strength 0 is a tie; steps that are not equal show that strengths "
        "are grades, not amounts.",
        (
            Column("strength", "Strength", ColumnKind.COUNT),
            Column("judgments", "Judgments", ColumnKind.COUNT),
            Column("share", "Share", ColumnKind.SHARE),
            Column("begins", "Begins at", ColumnKind.ELO),
        ),
        tuple(rows),
    )


def _cautions(inputs: AnalysisInputs, found: dict[str, Treated]) -> list[str]:
    cautions = []
    if not (inputs.columns.strength == 0).any():
        cautions.append("There are no ties: the models of ties are those without them.")
    firsts = {_first(one) for one in found.values()}
    if len(firsts) > 1:
        cautions.append("The first place depends on how ties and grades are treated.")
    return cautions
