"""Does the model fit: deviance, circles, win rates, residuals and the funnel of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.analyses import FEWEST_DIALOGUES, AnalysisInputs
from ranking.analyses.common import (
    FittedBoard,
    best_first,
    check_enough,
    decimal,
    family_of,
    few_dialogues,
    fitted,
    whole_wins,
)
from ranking.findings import Cell, Column, ColumnKind, Findings, Picture, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.connectivity import circular_triads, expected_circles
from ranking.numerics.few_units import robust_covariance
from ranking.numerics.goodness_of_fit import (
    MOST_UNITS,
    DevianceTest,
    PairResiduals,
    calibration_bins,
    deviance_test,
    pair_residuals,
    stretch,
)
from ranking.numerics.intervals import control_limits
from ranking.numerics.multiplicity import holm

METHOD = (
    "Deviance of the pairs against Bradley-Terry, corrected for source dialogues after Rao and "
    "Scott (1984); circular triads of Kendall and Babington Smith (1940); residuals in clustered "
    "standard errors. Assumes that source dialogues are independent and not few."
)
ALARMING = 0.01
STRETCHED = 1.25


@dataclass(frozen=True)
class _Checked:
    """The fit, its residuals, and the whole wins that were counted."""

    columns: JudgmentColumns
    fitted: FittedBoard
    residuals: PairResiduals
    test: DevianceTest
    wins: Floats

    @property
    def best_first(self) -> list[int]:
        return best_first(self.fitted.log_strengths)

    @property
    def slope(self) -> float:
        first, second = self.residuals.first, self.residuals.second
        n = (self.wins + self.wins.T)[first, second]
        theta = self.fitted.log_strengths
        return stretch(theta[first] - theta[second], self.wins[first, second] / n, n)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Hold the judgments beside what one strength per system predicts.

    Raises
    ------
    AnalysisRefusedError
        If there are no ratings, or all judgments are on one source dialogue.
    """
    check_enough(inputs.columns, for_intervals=True)
    found, columns = fitted(inputs), inputs.columns
    residuals = pair_residuals(found.tables, found.log_strengths)
    wins = whole_wins(columns, inputs.method)
    checked = _Checked(columns, found, residuals, deviance_test(residuals), wins)
    tables = (
        _fit(checked),
        _circles(checked),
        _systems(checked),
        _bins(checked),
        heat_table(residuals, columns.systems, checked.best_first),
        *pairs_funnel(residuals, wins + wins.T, columns.systems, checked.best_first),
        worst_table(residuals, columns.systems),
    )
    return Findings(METHOD, tables, _warnings(checked))


def _fit(checked: _Checked) -> Table:
    test = checked.test
    if test.degrees_of_freedom:
        rows: tuple[tuple[Cell, ...], ...] = (
            (
                "As if judgments were independent",
                decimal(test.deviance, 2),
                float(test.degrees_of_freedom),
                decimal(test.naive_p_value, 6),
            ),
            (
                "With source dialogues as units",
                decimal(test.deviance / test.design_effect, 2) if test.design_effect else None,
                decimal(test.corrected_degrees, 2),
                decimal(test.p_value, 6),
            ),
        )
    else:
        rows = ()
    return Table(
        "deviance",
        "Is one strength per system enough?",
        "A small p-value says that some pairs go otherwise than the ratings can express. Read the "
        "second line: the first takes judgments of one dialogue as unrelated. With as many pairs "
        "as the ratings have free numbers there is nothing to test. The two lines are one test, "
        "and nothing is adjusted.",
        (
            Column("test", "Test", ColumnKind.TEXT),
            Column("statistic", "Deviance"),
            Column("degrees", "Degrees of freedom"),
            Column("p", "p, one test", ColumnKind.P_VALUE),
        ),
        rows,
    )


def _circles(checked: _Checked) -> Table:
    triads = circular_triads(checked.wins)
    chance = _majority_chance(checked.residuals, _drawn_in(checked.fitted))
    # Pairs without a majority make no circles, neither counted nor expected ones.
    expected = expected_circles(np.where(checked.wins == checked.wins.T, 0.0, chance))
    consistence = None if triads.consistence is None else decimal(triads.consistence)
    return Table(
        "circles",
        "Circles of three",
        "A beats B, B beats C, and C beats A, by the majority of the judgments of each pair. "
        "Expected are as many as the ratings, drawn together by as much as chance has spread them, "
        "and chance alone would make of the threes that have a majority in each pair; with few "
        "judgments it is a rough figure. The coefficient of consistence is 1 without circles and "
        "0 with as many as there can be.",
        (
            Column("decided", "Threes with a majority in each pair", ColumnKind.COUNT),
            Column("circular", "Circles", ColumnKind.COUNT),
            Column("expected", "Expected"),
            Column("consistence", "Coefficient of consistence"),
        ),
        ((triads.n_decided, triads.n_circular, decimal(expected, 2), consistence),),
    )


def _drawn_in(board: FittedBoard) -> Floats:
    """Return the log strengths with the spread that is left without the noise of the fit."""
    theta = board.log_strengths
    noise = float(np.trace(robust_covariance(board.tables, theta).covariance))
    squares = max(float(theta @ theta), noise, 1e-12)
    return np.asarray(theta * np.sqrt(1.0 - noise / squares))


def _majority_chance(residuals: PairResiduals, theta: Floats) -> Floats:
    """Return how probable a majority is for each system over each other, with these strengths."""
    own = np.asarray(residuals.by_unit.multiply(residuals.by_unit).sum(axis=0))
    ahead = special.expit(theta[residuals.first] - theta[residuals.second]) - 0.5
    chance = np.zeros((len(theta), len(theta)))
    p = special.ndtr(residuals.n * ahead / np.sqrt(np.maximum(own, 1e-12)))
    chance[residuals.first, residuals.second] = p
    chance[residuals.second, residuals.first] = 1.0 - p
    return chance


def _systems(checked: _Checked) -> Table:
    wins, theta = checked.wins, checked.fitted.log_strengths
    n = wins + wins.T
    predicted = (n * special.expit(theta[:, None] - theta[None, :])).sum(axis=1) / n.sum(axis=1)
    counted = wins.sum(axis=1) / n.sum(axis=1)
    rows = tuple(
        (checked.columns.systems[i], decimal(predicted[i]), decimal(counted[i]), int(n[i].sum()))
        for i in checked.best_first
    )
    return Table(
        "systems",
        "Predicted and counted win rates of systems",
        "Predicted is the mean probability of winning that the ratings would mean against the same "
        "opponents, counted the share of judgments won, ties half. With soft scores ratings lie "
        "closer together than win rates: dots on a line steeper than the diagonal say so.",
        (
            Column("system", "System", ColumnKind.SYSTEM),
            Column("x", "Predicted", ColumnKind.SHARE),
            Column("y", "Counted", ColumnKind.SHARE),
            Column("n", "Judgments", ColumnKind.COUNT),
        ),
        rows,
        Picture.POINTS,
    )


def _bins(checked: _Checked) -> Table:
    residuals = checked.residuals
    first, second = residuals.first, residuals.second
    n = (checked.wins + checked.wins.T)[first, second]
    counted = checked.wins[first, second] / n
    better = residuals.predicted >= 0.5  # noqa: PLR2004 - one half
    bins = calibration_bins(
        np.where(better, residuals.predicted, 1.0 - residuals.predicted),
        np.where(better, counted, 1.0 - counted),
        n,
    )
    rows = tuple(
        (decimal(x), decimal(y), int(size))
        for x, y, size in zip(bins.predicted, bins.counted, bins.n, strict=True)
    )
    return Table(
        "calibration",
        "Predicted and counted win rates of pairs",
        "Pairs are sorted by how often the better rated should win, and cut into groups with about "
        "as many judgments each. On the diagonal predictions come true.",
        (
            Column("x", "Predicted", ColumnKind.SHARE),
            Column("y", "Counted", ColumnKind.SHARE),
            Column("n", "Judgments", ColumnKind.COUNT),
        ),
        rows,
        Picture.POINTS,
    )


def _warnings(checked: _Checked) -> tuple[str, ...]:
    warnings, n_units = [], checked.residuals.n_clusters
    if n_units >= FEWEST_DIALOGUES and checked.test.p_value < ALARMING:
        warnings.append(
            "One strength per system does not explain all pairs: ratings are averages over "
            "opponents, and single pairs may go otherwise."
        )
    if np.isfinite(checked.slope) and not 1.0 / STRETCHED < checked.slope < STRETCHED:
        warnings.append(
            f"Counted wins lie {checked.slope:.2f} times as far apart as the ratings: a difference "
            "of ratings is not the log odds of winning here."
        )
    if n_units > MOST_UNITS:
        warnings.append(
            f"Of {n_units:,} source dialogues {MOST_UNITS:,}, evenly spread, tell how pairs go "
            "together in the second line of the deviance."
        )
    return (*warnings, *few_dialogues(n_units))


FEWEST_DOTS = 2
MOST_SYSTEMS = 40
LEVELS = (0.95, 0.998)
COLUMNS = (
    Column("first", "System", ColumnKind.SYSTEM),
    Column("second", "Against", ColumnKind.SYSTEM),
    Column("n", "Judgments", ColumnKind.COUNT),
    Column("x", "Judgments, if all pairs varied alike"),
    Column("y", "Won beyond prediction", ColumnKind.SHARE),
    Column("centre", "Expected", ColumnKind.SHARE),
    Column("low", "95 % from", ColumnKind.SHARE),
    Column("high", "to", ColumnKind.SHARE),
    Column("outer_low", "99.8 % from", ColumnKind.SHARE),
    Column("outer_high", "to", ColumnKind.SHARE),
)
CAPTION = (
    "Each dot is a pair: by how much the better rated system won more (or less) often than the "
    "ratings predict, against how many judgments that rests on; pairs whose judgments vary more "
    "than those of the others, or go together by source dialogue, stand farther left. If the "
    "ratings are right, chance keeps 95 % of pairs inside the broken lines and 99.8 % inside the "
    "dotted ones: of twenty expect one outside. A pair with fewer than five dialogues of its own "
    "hardly ever gets outside. Hollow dots are outside, and have names."
)


def pairs_funnel(
    residuals: PairResiduals,
    counted: Floats,
    systems: Sequence[str],
    best_first: Sequence[int],
) -> tuple[Table, ...]:
    """Return each pair's share beyond the prediction with control limits, if there are two.

    A pair's judgments are counted as if each varied as the mean of all does: n times the mean
    variance of one judgment, over that of the pair, both clustered by dialogue. One funnel then
    has the limits of all. Of many systems the best are shown. ``counted``, of shape (n_systems,
    n_systems), is how many judgments there are of two, whatever they weigh.
    """
    shown = np.flatnonzero(_is_shown(residuals, best_first[:MOST_SYSTEMS]))
    if len(shown) < FEWEST_DOTS:
        return ()
    n, variance = residuals.n[shown], residuals.variance[shown]
    mean = float(variance.sum() / n.sum())
    alike = n**2 * mean / variance
    limits = [control_limits(alike, centre=0.0, variance=mean, level=level) for level in LEVELS]
    place_of = {system: place for place, system in enumerate(best_first)}
    rows: list[tuple[Cell, ...]] = []
    for place, k in enumerate(shown):
        first, second = int(residuals.first[k]), int(residuals.second[k])
        share = float(residuals.residual[k] / residuals.n[k])
        if place_of[second] < place_of[first]:
            first, second, share = second, first, -share
        ends = (decimal(end[place]) for one in limits for end in (one.low, one.high))
        told = (round(float(counted[first, second])), decimal(alike[place], 2), decimal(share))
        rows.append((systems[first], systems[second], *told, 0.0, *ends))
    table = Table(
        "funnel", "Is any pair out of line?", CAPTION, COLUMNS, tuple(rows), Picture.FUNNEL
    )
    return (table,)


def _is_shown(residuals: PairResiduals, systems: Sequence[int]) -> Booleans:
    """Say which pairs are of these systems and can be off at all."""
    are_shown = np.isin(residuals.first, systems) & np.isin(residuals.second, systems)
    found: Booleans = are_shown & np.isfinite(residuals.standardised)
    return found


MOST_PAIRS = 50
MOST_RESIDUAL_SYSTEMS = 40


def heat_table(
    residuals: PairResiduals, systems: Sequence[str], best_first: Sequence[int]
) -> Table:
    """Return how far each pair is off the ratings; of many systems the best are shown."""
    matrix = np.full((len(systems), len(systems)), np.nan)
    matrix[residuals.first, residuals.second] = residuals.standardised
    matrix[residuals.second, residuals.first] = -residuals.standardised
    shown = best_first[:MOST_RESIDUAL_SYSTEMS]
    rows = tuple((systems[i], *(decimal(matrix[i, j], 2) for j in shown)) for i in shown)
    return Table(
        "residuals",
        "Where the ratings are off",
        "How many standard errors more (or fewer) the row's system won against the column's than "
        "the ratings predict. Chance alone makes one in twenty larger than 2.",
        (
            Column("system", "System", ColumnKind.SYSTEM),
            *(Column(systems[j], systems[j]) for j in shown),
        ),
        rows,
        Picture.HEAT,
    )


def worst_table(residuals: PairResiduals, systems: Sequence[str]) -> Table:
    """Return the pairs that are farthest off the ratings, with p-values where they rest on enough.

    A pair's test rests on the dialogues in which the pair itself was judged.
    """
    z = residuals.standardised
    known = np.flatnonzero(np.isfinite(z))
    enough = residuals.units_of_pairs[known] >= FEWEST_DIALOGUES
    p = np.full(len(known), np.nan)
    p[enough] = holm(2.0 * special.ndtr(-np.abs(z[known][enough])))
    order = np.argsort(-np.abs(z[known]), kind="stable")[:MOST_PAIRS]
    rows = tuple(
        (
            systems[residuals.first[known[k]]],
            systems[residuals.second[known[k]]],
            decimal(residuals.predicted[known[k]]),
            decimal(residuals.won[known[k]]),
            decimal(z[known[k]], 2),
            decimal(p[k], 6),
        )
        for k in order
    )
    return Table(
        "pairs",
        "The pairs that fit worst",
        "Share of the judgments that the first system should have taken and did take, as the "
        f"ratings count them. At most {MOST_PAIRS} pairs. "
        f"{family_of('all pairs that were judged, also those not listed')}",
        (
            Column("first", "System", ColumnKind.SYSTEM),
            Column("second", "Against", ColumnKind.SYSTEM),
            Column("predicted", "Predicted", ColumnKind.SHARE),
            Column("taken", "Taken", ColumnKind.SHARE),
            Column("z", "Standard errors apart"),
            Column("p", "p, Holm", ColumnKind.P_VALUE),
        ),
        rows,
    )
