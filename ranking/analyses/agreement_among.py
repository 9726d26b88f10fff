"""How far evaluators of one kind agree: opinions, coefficients, and who is unlike the others."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import Samples, decimal, estimate, units_of_items
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.agreement.coefficients import (
    Metric,
    agreement_of_tables,
    cohen_kappas,
    cross_tabulate,
    gwet_ac1,
    most_common_number,
)
from ranking.numerics.agreement.majority import NO_MAJORITY, majority_of_others
from ranking.numerics.agreement.opinions import (
    N_VALUES,
    TIE,
    VALUES,
    Answers,
    Opinions,
    count_values,
    opinions_of,
)
from ranking.numerics.agreement.resampled import alphas, fleiss_kappas, raw_agreement, tally
from ranking.numerics.arrays import Integers
from ranking.numerics.intervals import control_limits, dispersion


def opinions(columns: JudgmentColumns) -> Opinions:
    """Find each evaluator's opinion of each pair; its dialogue is the unit."""
    return opinions_of(
        Answers(
            evaluators=columns.evaluators,
            is_judge=columns.is_judge,
            item=columns.item,
            evaluator=columns.evaluator,
            side=np.sign(columns.strength),
            strength=columns.strength,
            unit=units_of_items(columns),
        )
    )


def panels(held: Opinions) -> Mapping[str, Opinions]:
    """Return the kinds of evaluators of which two or more judged, by their words."""
    kinds = {"people": held.people(), "LLM judges": held.by_judges()}
    return {name: one for name, one in kinds.items() if len(np.unique(one.evaluator)) > 1}


TWO, THREE = 2, 3
MOST_THREES = 60
NO_INTERVAL = (None, None)


def coefficients(held: Opinions, samples: Samples) -> Table:
    """Return every coefficient of each kind of evaluators."""
    rows = [
        (panel, *row) for panel, one in panels(held).items() for row in _coefficients(one, samples)
    ]
    return Table(
        "coefficients",
        "Do evaluators of one kind agree?",
        "Raw agreement is the share of two answers to one pair that are the same; all others "
        "take away what chance would bring, 0 being chance and 1 full agreement. Answers are: the "
        "first, a tie, the second; strengths are from -5 to 5. Fleiss' kappa is of the pairs with "
        "the most common number of answers alone, alpha of all with two or more.",
        (
            Column("panel", "Among", ColumnKind.TEXT),
            Column("coefficient", "Coefficient", ColumnKind.TEXT),
            Column("items", "Pairs", ColumnKind.COUNT),
            *estimate("Value"),
        ),
        tuple(rows),
        Picture.WHISKERS,
    )


def _coefficients(panel: Opinions, samples: Samples) -> Iterator[tuple[Cell, ...]]:
    counts = panel.counts()
    unit = panel.unit[counts.sum(axis=1) > 1]
    n, tallies = len(unit), tally(counts, panel.unit, n_units=samples.n_units)
    yield ("Raw agreement", n, *samples.cells(partial(raw_agreement, tallies), unit))
    yield ("Cohen's kappa, mean of every two", *_mean_cohen(panel), *NO_INTERVAL)
    yield _fleiss(panel, samples)
    for metric in Metric:
        alpha = partial(alphas, tallies, values=VALUES, metric=metric)
        yield (f"Krippendorff's alpha, {metric.value}", n, *samples.cells(alpha, unit))
    yield ("Gwet's AC1", n, decimal(gwet_ac1(counts)), *NO_INTERVAL)
    grades, grade = np.unique(panel.strength, return_inverse=True)
    graded = count_values(panel.item, grade, n_items=panel.n_items, n_values=len(grades))
    of_grades = tally(graded, panel.unit, n_units=samples.n_units)
    for metric in (Metric.ORDINAL, Metric.INTERVAL):
        alpha = partial(alphas, of_grades, values=grades.astype(np.float64), metric=metric)
        cells = samples.cells(alpha, unit)
        yield (f"Krippendorff's alpha of strengths, {metric.value}", n, *cells)


def _mean_cohen(panel: Opinions) -> tuple[int, Cell]:
    """Return the mean kappa of every two, each weighing as many pairs as both judged."""
    pairs = cross_tabulate(panel.item, panel.evaluator, panel.value, n_values=N_VALUES)
    n = pairs.tables.sum(axis=(1, 2))
    kappas = cohen_kappas(pairs.tables)
    kept = np.isfinite(kappas)
    n_items = int((panel.counts().sum(axis=1) > 1).sum())
    return n_items, decimal(np.average(kappas[kept], weights=n[kept])) if kept.any() else None


def _fleiss(panel: Opinions, samples: Samples) -> tuple[Cell, ...]:
    counts = panel.counts()
    number, has_number = most_common_number(counts)
    unit = panel.unit[has_number]
    tallies = tally(counts[has_number], unit, n_units=samples.n_units)
    name = f"Fleiss' kappa, pairs with {number} answers"
    return (name, len(unit), *samples.cells(partial(fleiss_kappas, tallies), unit))


def mark_tables(inputs: AnalysisInputs) -> list[Table]:
    """Return the coefficients of the marks on each dimension that two marked."""
    marks = {name: (one, opinions(one)) for name, one in inputs.dimensions.items()}
    marks = {name: pair for name, pair in marks.items() if panels(pair[1])}
    if not marks:
        return []
    samples = {
        name: Samples.drawn(len(one.units), inputs.method) for name, (one, _) in marks.items()
    }
    return [_of_dimensions({name: held for name, (_, held) in marks.items()}, samples)]


def _of_dimensions(marks: Mapping[str, Opinions], samples: Mapping[str, Samples]) -> Table:
    """Return the coefficients of the marks on each dimension."""
    rows = [
        (name, panel, *_of_marks(one, samples[name]))
        for name, held in marks.items()
        for panel, one in panels(held).items()
    ]
    return Table(
        "dimensions",
        "Do they agree on each dimension?",
        "As above, for the marks: which message is ahead on the dimension, or neither. The "
        "interval is that of nominal alpha.",
        (
            Column("dimension", "Dimension", ColumnKind.TEXT),
            Column("panel", "Among", ColumnKind.TEXT),
            Column("items", "Pairs", ColumnKind.COUNT),
            Column("raw", "Raw agreement", ColumnKind.SHARE),
            Column("equal_items", "Pairs for Fleiss", ColumnKind.COUNT),
            Column("fleiss", "Fleiss' kappa"),
            Column("ordinal", "Alpha, ordinal"),
            Column("interval", "Alpha, interval"),
            *estimate("Alpha, nominal"),
        ),
        tuple(rows),
    )


def _of_marks(panel: Opinions, samples: Samples) -> tuple[Cell, ...]:
    counts = panel.counts()
    unit = panel.unit[counts.sum(axis=1) > 1]
    tallies = tally(counts, panel.unit, n_units=samples.n_units)
    whole = np.ones((1, samples.n_units))
    ordinal, interval = (
        decimal(alphas(tallies, whole, VALUES, metric)[0])
        for metric in (Metric.ORDINAL, Metric.INTERVAL)
    )
    _, n_equal, fleiss, *_ = _fleiss(panel, samples)
    nominal = partial(alphas, tallies, values=VALUES, metric=Metric.NOMINAL)
    return (
        len(unit),
        decimal(raw_agreement(tallies, whole)[0]),
        n_equal,
        fleiss,
        ordinal,
        interval,
        *samples.cells(nominal, unit),
    )


def judge_tables(held: Opinions) -> list[Table]:
    """Return what every two judges, and every three, say of the same pairs."""
    n = len(held.judges)
    tables = list(_matrices(held)) if n >= TWO else []
    return [*tables, _threes(held)] if n >= THREE else tables


def _matrices(held: Opinions) -> tuple[Table, ...]:
    """Return how often every two judges agree, and Cohen's kappa of every two."""
    judges = held.judges
    said = held.by_judges()
    pairs = cross_tabulate(said.item, said.evaluator, said.value, n_values=N_VALUES)
    found = zip(
        pairs.one, pairs.other, agreement_of_tables(pairs.tables), cohen_kappas(pairs.tables),
        strict=True,
    )  # fmt: skip
    agree: dict[tuple[int, int], Cell] = {}
    kappas: dict[tuple[int, int], Cell] = {}
    for one, other, share, kappa in found:
        for both in ((int(one), int(other)), (int(other), int(one))):
            agree[both], kappas[both] = decimal(share), decimal(kappa)
    kinds = (
        ("judges", "How often do two judges agree?", agree, ColumnKind.SHARE),
        ("judges-kappa", "Do two judges agree beyond chance?", kappas, ColumnKind.NUMBER),
    )
    return tuple(_matrix(held, judges, *kind) for kind in kinds)


def _matrix(
    held: Opinions,
    judges: list[int],
    key: str,
    title: str,
    cells: Mapping[tuple[int, int], Cell],
    kind: ColumnKind,
) -> Table:
    names = held.evaluators
    rows = tuple((names[a], *(cells.get((a, b)) for b in judges)) for a in judges)
    what = "Cohen's kappa" if kind is ColumnKind.NUMBER else "Share of the same answers"
    return Table(
        key,
        title,
        f"{what} on the pairs that both judged, each judge's several answers to a pair taken "
        "together. No judge is compared with itself.",
        (
            Column("judge", "Judge", ColumnKind.EVALUATOR),
            *(Column(names[one], names[one], kind) for one in judges),
        ),
        rows,
        Picture.HEAT,
    )


def _threes(held: Opinions) -> Table:
    """Return how often three judges agree, for every three."""
    said = {judge: held.by_evaluator(judge) for judge in held.judges}
    some = list(combinations(said, 3))[:MOST_THREES]
    rows = []
    for trio in some:
        answers = np.stack([said[judge] for judge in trio])
        answers = answers[:, (answers >= 0).all(axis=0)]
        n = answers.shape[1]
        differ = 1 + (np.diff(np.sort(answers, axis=0), axis=0) != 0).sum(axis=0)
        counted = [decimal((differ == k).sum() / n) if n else None for k in (1, 2, 3)]
        rows.append((*(held.evaluators[one] for one in trio), n, *counted))
    return Table(
        "threes",
        "Do three judges agree?",
        f"On the pairs that all three judged; at most {MOST_THREES} threes are listed.",
        (
            Column("first", "Judge", ColumnKind.EVALUATOR),
            Column("second", "second", ColumnKind.EVALUATOR),
            Column("third", "third", ColumnKind.EVALUATOR),
            Column("items", "Pairs", ColumnKind.COUNT),
            Column("all", "All three agree", ColumnKind.SHARE),
            Column("two", "Two agree", ColumnKind.SHARE),
            Column("none", "All differ", ColumnKind.SHARE),
        ),
        tuple(rows),
    )


FEWEST_ANSWERS = 10
"""With fewer a share takes too few values to have limits."""
FEWEST_EVALUATORS = 5
"""Fewer do not show how far evaluators differ."""
LEVELS = (0.95, 0.998)
SHARE = ColumnKind.SHARE
COLUMNS = (
    Column("evaluator", "Evaluator", ColumnKind.EVALUATOR),
    Column("x", "Answers", ColumnKind.COUNT),
    Column("y", "With most of the others", SHARE),
    Column("centre", "All together", SHARE),
    Column("low", "95 % from", SHARE),
    Column("high", "to", SHARE),
    Column("outer_low", "99.8 % from", SHARE),
    Column("outer_high", "to", SHARE),
)


def alike_funnel(key: str, among: str, panel: Opinions) -> tuple[Table, ...]:
    """Return how often each of a panel sides with most of the others, between control limits.

    Nothing if there are fewer than `FEWEST_EVALUATORS` with `FEWEST_ANSWERS`, or all agree always
    or never.
    """
    n, alike = _counted(panel)
    shown = np.flatnonzero(n >= FEWEST_ANSWERS)
    if len(shown) < FEWEST_EVALUATORS:
        return ()
    n, alike = n[shown], alike[shown]
    centre = float(alike.sum() / n.sum())
    if not 0.0 < centre < 1.0:
        return ()
    share, variance = alike / n, centre * (1.0 - centre)
    spread = dispersion((share - centre) / np.sqrt(variance / n))
    answers = n.astype(np.float64)
    ends = [
        np.clip(end, 0.0, 1.0)
        for level in LEVELS
        for limits in (
            control_limits(answers, centre=centre, variance=variance * spread, level=level),
        )
        for end in (limits.low, limits.high)
    ]
    rows = tuple(
        (
            panel.evaluators[who],
            int(n[place]),
            decimal(share[place]),
            decimal(centre),
            *(decimal(end[place]) for end in ends),
        )
        for place, who in enumerate(shown)
    )
    title = f"Who is unlike the other {among}?"
    return (Table(key, title, _caption(among, spread), COLUMNS, rows, Picture.FUNNEL),)


def _counted(panel: Opinions) -> tuple[Integers, Integers]:
    """Return on how many pairs each, and most of the others, name a side, and it is the same."""
    aim = majority_of_others(panel.item, panel.value, n_items=panel.n_items, n_values=N_VALUES)
    kept = (aim != NO_MAJORITY) & (aim != TIE) & (panel.value != TIE)
    who, alike = panel.evaluator[kept], (panel.value == aim)[kept]
    n_evaluators = len(panel.evaluators)
    n = np.bincount(who, minlength=n_evaluators)
    return n, np.bincount(who[alike], minlength=n_evaluators)


def _caption(among: str, spread: float) -> str:
    return (
        f"How often each names the side that most of the other {among} name, against the number "
        f"of such answers ({FEWEST_ANSWERS} or more). Few answers swing more: if all were alike, "
        "95 % would stay inside the broken lines, 99.8 % inside the dotted ones. Evaluators differ "
        f"{spread:.1f} times as much as independent answers would, so limits are widened by the "
        "root of that. Being unlike the others is no fault, and nobody is left out for it."
    )
