"""What the dimensions have in common: scores of messages, factors, reliability, winning."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import (
    Samples,
    decimal,
    estimate,
    few_dialogues,
    units_of_messages,
)
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
from ranking.judgments.sources import ItemFacts
from ranking.numerics.agreement.resampled import draw_times
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.factors import (
    FEWEST_MEASURES,
    Factors,
    FactorsUndefinedError,
    ParallelAnalysis,
    correlations,
    cronbach_alphas,
    factor_analysis,
    independent_things,
    mcdonald_omegas,
    moments,
    most_factors,
    parallel_analysis,
)

FEWEST_MESSAGES = 30


@dataclass(frozen=True)
class Scored:
    """Messages with a mark on every dimension: ``z`` of shape (n_messages, n_dimensions).

    ``won`` is the share of its judgments that each message won, ties half, ``unit`` its source
    dialogue, both of shape (n_messages,). ``n_marks`` is how many marks the scores rest on.
    """

    names: tuple[str, ...]
    z: Floats
    won: Floats
    unit: Integers
    n_marks: int


def scored_messages(inputs: AnalysisInputs) -> Scored:
    """Score the messages that are marked on every dimension.

    Raises
    ------
    AnalysisRefusedError
        If there are fewer than three dimensions or too few messages, or marks on one do not vary.
    """
    if len(inputs.dimensions) < FEWEST_MEASURES:
        msg = f"Fewer than {FEWEST_MEASURES} dimensions were marked, so there is nothing to share."
        raise AnalysisRefusedError(msg)
    items = inputs.sources.items()
    names = tuple(inputs.dimensions)
    means = [_means(one, items, np.sign(one.strength)) for one in inputs.dimensions.values()]
    scores = np.stack([mean for mean, _ in means], axis=1)
    kept = np.isfinite(scores).all(axis=1)
    if kept.sum() < FEWEST_MESSAGES:
        msg = (
            f"{int(kept.sum())} messages are marked on every dimension, and {FEWEST_MESSAGES} are "
            "needed."
        )
        raise AnalysisRefusedError(msg)
    scores = scores[kept]
    _check_variation(scores, names)
    columns = inputs.columns
    share, _ = _means(columns, items, np.sign(columns.strength))
    z = (scores - scores.mean(axis=0)) / scores.std(axis=0, ddof=1)
    n_marks = int(sum(n[kept].sum() for _, n in means))
    _, unit = np.unique(units_of_messages(columns, items)[kept], return_inverse=True)
    return Scored(names, z, (share[kept] + 1.0) / 2.0, unit, n_marks)


def _check_variation(scores: Floats, names: tuple[str, ...]) -> None:
    still = np.ptp(scores, axis=0) == 0
    if still.any():
        msg = f"All messages have the same marks on {names[int(still.argmax())]}."
        raise AnalysisRefusedError(msg)


def _means(columns: JudgmentColumns, items: ItemFacts, lead: Integers) -> tuple[Floats, Integers]:
    """Return each message's mean lead over its opponents, NaN without one, and how many."""
    item = columns.item if columns.origin is None else columns.origin[columns.item]
    first, second = items.message[item].T
    n_messages = len(items.system)
    message = np.concatenate([first, second])
    n = np.bincount(message, minlength=n_messages)
    total = np.bincount(message, np.concatenate([lead, -lead]), n_messages)
    return total / np.where(n > 0, n, np.nan), n


N_CHANCE = 500
AT_THE_EDGE = 0.995
METHOD = (
    "Each message's mean signed mark on a dimension against its opponents, standardised over "
    "messages. Number of factors by parallel analysis (Horn 1965); maximum likelihood with oblimin "
    "rotation; alpha of Cronbach (1951), omega of McDonald (1999). Intervals are "
    "percentiles over resampled source dialogues, expanded for few."
)


Cells = Callable[[Callable[[Floats], Floats]], tuple[Cell, Cell, Cell]]
"""Gives a figure of the correlations, winning being the last, with its interval."""


def analyse(inputs: AnalysisInputs) -> Findings:
    """Look for what the dimensions share.

    Raises
    ------
    AnalysisRefusedError
        If there are fewer than three dimensions or too few messages, or marks on one do not vary.
    """
    scored = scored_messages(inputs)
    method = inputs.method
    rng = np.random.default_rng(method.seed)
    n_units = int(scored.unit.max()) + 1
    sums = moments(np.column_stack([scored.z, scored.won]), scored.unit, n_units=n_units)
    samples = Samples(draw_times(n_units, method.replicates, rng), method.level)

    def cells(figure: Callable[[Floats], Floats]) -> tuple[Cell, Cell, Cell]:
        return samples.cells(lambda times: figure(correlations(sums, times)), scored.unit)

    correlation = correlations(sums, np.ones((1, n_units)))[0, :-1, :-1]
    worth = independent_things(moments(scored.z, scored.unit, n_units=n_units))
    n = max(worth, len(correlation) + 1)
    parallel = parallel_analysis(correlation, n, n_samples=N_CHANCE, rng=rng)
    factors, warnings = _factors(correlation, parallel)
    tables = (
        _eigenvalues(parallel, scored, n),
        _loadings(factors, scored.names),
        *_between(factors),
        _reliability(cells),
        _winning(cells, correlation, scored),
        _correlations(correlation, scored.names),
    )
    return Findings(METHOD, tables, (*warnings, *few_dialogues(n_units)))


def _factors(correlation: Floats, parallel: ParallelAnalysis) -> tuple[Factors, list[str]]:
    """Fit as many factors as stand out, or fewer where they cannot be fitted."""
    most = most_factors(len(correlation))
    n_kept = max(1, min(parallel.n_factors, most))
    warnings = []
    if not parallel.n_factors:
        warnings.append("No factor is larger than chance; one is shown all the same.")
    if parallel.n_factors > most:
        warnings.append(f"{parallel.n_factors} factors stand out, and {most} can be told apart.")
    factors = _fitted(correlation, n_kept)
    n_factors = factors.loadings.shape[1]
    if n_factors < n_kept:
        warnings.append(f"{n_kept} factors could not be fitted, and {n_factors} are shown.")
    if (factors.communalities > AT_THE_EDGE).any():
        warnings.append(
            "A dimension is all but one of the factors itself: read its loadings with care."
        )
    return factors, warnings


def _fitted(correlation: Floats, n_factors: int) -> Factors:
    try:
        return factor_analysis(correlation, n_factors)
    except FactorsUndefinedError as error:
        if n_factors > 1:
            return _fitted(correlation, n_factors - 1)
        msg = f"The dimensions determine no factors: {error}."
        raise AnalysisRefusedError(msg) from error


def _eigenvalues(parallel: ParallelAnalysis, scored: Scored, worth: int) -> Table:
    rows = zip(parallel.eigenvalues, parallel.by_chance, strict=True)
    return Table(
        "eigenvalues",
        "How many factors are there?",
        f"{len(scored.z)} messages, {scored.n_marks} marks. Messages of a dialogue go together: "
        f"these tell as much as {worth} by themselves would. An eigenvalue is how many dimensions' "
        "worth of variance a factor takes. Factors count while they are above the line of chance "
        f"(95 % of {N_CHANCE} sets of unrelated measures of so many): {parallel.n_factors} here.",
        (
            Column("x", "Factor", ColumnKind.COUNT),
            Column("eigenvalue", "Eigenvalue"),
            Column("chance", "By chance"),
        ),
        tuple((n, decimal(one), decimal(chance)) for n, (one, chance) in enumerate(rows, start=1)),
        Picture.LINES,
    )


def _loadings(factors: Factors, names: tuple[str, ...]) -> Table:
    n_factors = factors.loadings.shape[1]
    rows = tuple(
        (name, *(decimal(one) for one in loadings), decimal(shared), decimal(1.0 - shared))
        for name, loadings, shared in zip(
            names, factors.loadings, factors.communalities, strict=True
        )
    )
    return Table(
        "loadings",
        "How does each dimension load?",
        "A loading near 1 says that a dimension goes with a factor, near 0 that it does not. The "
        "communality is the share of its variance that it has in common with the others. The sign "
        "and the order of factors mean nothing.",
        (
            Column("dimension", "Dimension", ColumnKind.TEXT),
            *(Column(f"factor_{n}", f"Factor {n}") for n in range(1, n_factors + 1)),
            Column("communality", "Communality", ColumnKind.SHARE),
            Column("unique", "Its own", ColumnKind.SHARE),
        ),
        rows,
    )


def _between(factors: Factors) -> tuple[Table, ...]:
    """Return how factors correlate, if there are several."""
    n_factors = len(factors.correlation)
    if n_factors == 1:
        return ()
    names = tuple(f"Factor {n}" for n in range(1, n_factors + 1))
    table = _square(
        "factors",
        "Do the factors go together?",
        "Correlations of the factors, which the rotation allows.",
        ("factor", "Factor"),
        factors.correlation,
        names,
    )
    return (table,)


def _reliability(cells: Cells) -> Table:
    figures = (
        ("Variance of the first factor", _first_share),
        ("Cronbach's alpha", cronbach_alphas),
        ("McDonald's omega, one factor", mcdonald_omegas),
    )
    rows = [(name, *cells(partial(_among, figure))) for name, figure in figures]
    return Table(
        "reliability",
        "Do the dimensions measure one thing?",
        "The share of all variance on the first factor, and how reliable the sum of the dimensions "
        "is. Near 1 the dimensions say much the same; that may also be since one person marks "
        "them all at once.",
        (Column("figure", "Figure", ColumnKind.TEXT), *estimate("Value")),
        tuple(rows),
        Picture.WHISKERS,
    )


def _winning(cells: Cells, correlation: Floats, scored: Scored) -> Table:
    one = factor_analysis(correlation, 1).loadings[:, 0]
    weights = np.linalg.solve(correlation, one)

    def with_score(every: Floats) -> Floats:
        among, won = every[:, :-1, :-1], every[:, :-1, -1]
        found: Floats = (won @ weights) / np.sqrt(weights @ among @ weights)
        return found

    rows = [(name, *cells(partial(_with_winning, n))) for n, name in enumerate(scored.names)]
    rows.append(("Score on the one common factor", *cells(with_score)))
    return Table(
        "winning",
        "What goes with winning?",
        f"Correlation over {len(scored.z)} messages with the share of its judgments that a message "
        "won, ties half. Marks and preferences come from the same evaluators, so this is how they "
        "go together and not what makes a message win.",
        (Column("measure", "Measure", ColumnKind.TEXT), *estimate("Value")),
        tuple(rows),
        Picture.WHISKERS,
    )


def _correlations(correlation: Floats, names: tuple[str, ...]) -> Table:
    return _square(
        "correlations",
        "How do the dimensions go together?",
        "Correlations of messages' scores on the dimensions.",
        ("dimension", "Dimension"),
        correlation,
        names,
    )


def _square(
    key: str,
    title: str,
    caption: str,
    head: tuple[str, str],
    cells: Floats,
    names: tuple[str, ...],
) -> Table:
    rows = tuple(
        (name, *(decimal(one) for one in row)) for name, row in zip(names, cells, strict=True)
    )
    columns = (Column(*head, ColumnKind.TEXT), *(Column(name, name) for name in names))
    return Table(key, title, caption, columns, rows, Picture.HEAT)


def _among(figure: Callable[[Floats], Floats], every: Floats) -> Floats:
    """Return a figure of the correlations among dimensions, winning left out."""
    return figure(every[:, :-1, :-1])


def _with_winning(dimension: int, every: Floats) -> Floats:
    return every[:, dimension, -1]


def _first_share(correlation: Floats) -> Floats:
    """Return the share of variance of the first factor, NaN where a correlation is."""
    found = np.full(len(correlation), np.nan)
    known = np.isfinite(correlation).all(axis=(1, 2))
    found[known] = np.linalg.eigvalsh(correlation[known])[:, -1] / correlation.shape[1]
    return found
