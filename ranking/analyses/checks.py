"""Does the model fit: deviance, circles, predicted against counted wins, residuals."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.analyses import Ground
from ranking.analyses.cells import decimal
from ranking.analyses.checks_funnel import pairs_funnel
from ranking.analyses.checks_residuals import heat_table, worst_table
from ranking.analyses.common import Fitted, fitted, whole_wins
from ranking.findings import (
    AnalysisRefusedError,
    Cell,
    Column,
    ColumnKind,
    Findings,
    Picture,
    Table,
)
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Floats
from ranking.numerics.checks.calibration import calibration_bins, stretch
from ranking.numerics.checks.deviance import MOST_UNITS, DevianceTest, deviance_test
from ranking.numerics.checks.residuals import PairResiduals, pair_residuals
from ranking.numerics.checks.triads import circular_triads, expected_circles
from ranking.numerics.few_units import few_units_warning

METHOD = (
    "Deviance of the pairs against Bradley-Terry, corrected for source dialogues after Rao and "
    "Scott (1984); circular triads of Kendall and Babington Smith (1940); residuals in clustered "
    "standard errors. Assumes that source dialogues are independent and not few."
)
FEWEST_UNITS = 2
ALARMING = 0.01
STRETCHED = 1.25


@dataclass(frozen=True)
class _Checked:
    """The fit, its residuals, and the whole wins that were counted."""

    columns: JudgmentColumns
    fitted: Fitted
    residuals: PairResiduals
    test: DevianceTest
    wins: Floats

    @property
    def best_first(self) -> list[int]:
        return [int(one) for one in np.argsort(-self.fitted.log_strengths, kind="stable")]

    @property
    def slope(self) -> float:
        first, second = self.residuals.first, self.residuals.second
        n = (self.wins + self.wins.T)[first, second]
        theta = self.fitted.log_strengths
        return stretch(theta[first] - theta[second], self.wins[first, second] / n, n)


def analyse(ground: Ground) -> Findings:
    """Hold the judgments beside what one strength per system predicts.

    Raises
    ------
    AnalysisRefusedError
        If there are no ratings, or all judgments are on one source dialogue.
    """
    found = fitted(ground)
    columns = ground.columns
    if len(columns.units) < FEWEST_UNITS:
        msg = "All judgments are on one source dialogue; a check of the fit needs two or more."
        raise AnalysisRefusedError(msg)
    residuals = pair_residuals(found.tables, found.log_strengths)
    wins = whole_wins(columns, ground.method)
    checked = _Checked(columns, found, residuals, deviance_test(residuals), wins)
    tables = (
        _fit(checked),
        _circles(checked),
        _systems(checked),
        _bins(checked),
        heat_table(residuals, columns.systems, checked.best_first),
        *pairs_funnel(residuals, columns.systems, checked.best_first),
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
    chance = _majority_chance(checked.residuals, len(checked.columns.systems))
    # Pairs without a majority make no circles, neither counted nor expected ones.
    expected = expected_circles(np.where(checked.wins == checked.wins.T, 0.0, chance))
    consistence = None if triads.consistence is None else decimal(triads.consistence)
    return Table(
        "circles",
        "Circles of three",
        "A beats B, B beats C, and C beats A, by the majority of the judgments of each pair. "
        "Expected are as many as the ratings and chance alone would make of the threes that have "
        "a majority in each pair. The coefficient of "
        "consistence is 1 without circles and 0 with as many as there can be.",
        (
            Column("decided", "Threes with a majority in each pair", ColumnKind.COUNT),
            Column("circular", "Circles", ColumnKind.COUNT),
            Column("expected", "Expected"),
            Column("consistence", "Coefficient of consistence"),
        ),
        ((triads.n_decided, triads.n_circular, decimal(expected, 2), consistence),),
    )


def _majority_chance(residuals: PairResiduals, n_systems: int) -> Floats:
    """Return how probable a majority is for each system over each other, were the model right."""
    own = np.asarray(residuals.by_unit.multiply(residuals.by_unit).sum(axis=0))
    ahead = residuals.n * (residuals.predicted - 0.5)
    chance = np.zeros((n_systems, n_systems))
    p = special.ndtr(ahead / np.sqrt(np.maximum(own, 1e-12)))
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
    warnings = []
    if checked.test.p_value < ALARMING:
        warnings.append(
            "One strength per system does not explain all pairs: ratings are averages over "
            "opponents, and single pairs may go otherwise."
        )
    if np.isfinite(checked.slope) and not 1.0 / STRETCHED < checked.slope < STRETCHED:
        warnings.append(
            f"Counted wins lie {checked.slope:.2f} times as far apart as the ratings: a difference "
            "of ratings is not the log odds of winning here."
        )
    n_units = checked.residuals.n_clusters
    if n_units > MOST_UNITS:
        warnings.append(
            f"Of {n_units:,} source dialogues {MOST_UNITS:,}, evenly spread, tell how pairs go "
            "together in the second line of the deviance."
        )
    few = few_units_warning(n_units)
    return (*warnings, *([few] if few else []))
