"""What evaluators give as reasons: themes by kind, what agreeing evaluators share, and winning."""

from dataclasses import replace

import numpy as np

from annotation.rationales.themes import Codebook, load_codebook
from ranking.analyses import AnalysisInputs
from ranking.analyses.coders import (
    FEWEST,
    Reasons,
    chips_table,
    coded,
    coder_tables,
    coverage,
    readings,
    shared_table,
    shares_table,
    together_table,
    winning_table,
)
from ranking.analyses.common import (
    difference_of,
    few_dialogues,
    lengths_of,
    mean_of,
    model_sides,
    relative,
)
from ranking.findings import AnalysisRefusedError, Findings, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.clustered_means import (
    ClusteredMean,
    NothingLeftError,
    TooFewDialoguesError,
    clustered_difference,
    partial_slope,
)

MOST = 100_000
METHOD = (
    "Rules of a versioned codebook find the themes that a rationale speaks of, in praise or in "
    "blame; English words only. Differences take source dialogues as the unit (Liang and Zeger "
    "1986); what goes with winning is residualised on length, position and the rationale's own "
    "length (Frisch and Waugh 1933)."
)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Describe the themes of people's and judges' rationales.

    Raises
    ------
    AnalysisRefusedError
        If nobody gave a rationale.
    """
    columns, book = inputs.columns, load_codebook()
    rng = np.random.default_rng(inputs.method.seed)
    rationales = inputs.sources.judgments().rationales
    n_given = sum(1 for one in rationales if one.strip())
    reasons = coded(rationales, book, most=MOST, rng=rng)
    chips = _chips(reasons, inputs, book)
    if not len(reasons.rows):
        msg = "Nobody who judged these messages gave a rationale."
        if chips is None:
            raise AnalysisRefusedError(msg)
        return Findings(METHOD, (chips,), (msg,))
    read = readings(inputs.sources.themes(), reasons)
    tables: tuple[Table | None, ...] = (_shares(reasons, columns, book, inputs.method.level),)
    if reasons.speaks.any():
        tables += (
            *_together(reasons, columns, book, inputs.method.level),
            _winning(reasons, inputs, book),
        )
    tables += (chips, *coder_tables(read, columns, book, inputs.method))
    return Findings(
        f"{METHOD} Codebook {book.reference}.",
        tuple(table for table in tables if table is not None),
        (*_warnings(reasons, columns, n_given), *coverage(read, len(reasons.rows))),
    )


def _chips(reasons: Reasons, inputs: AnalysisInputs, book: Codebook) -> Table | None:
    """Return the table of the reasons that people ticked, if enough of them answered."""
    columns, chips = inputs.columns, inputs.sources.chips()
    people = np.flatnonzero(~columns.is_judge[columns.evaluator])
    if chips is None or len(people) < FEWEST or not chips.ticked[people].any():
        return None
    return chips_table(chips, people, reasons, columns, book, inputs.method.level)


def _warnings(reasons: Reasons, columns: JudgmentColumns, n_given: int) -> list[str]:
    silent = float((~reasons.speaks.any(axis=1)).mean())
    warnings = [f"{100 * silent:.0f} % of the rationales speak of no theme of the codebook."]
    if not reasons.speaks.any():
        n = len(reasons.rows)
        what = "speaks of a theme that the rules know: nothing of theirs is shown"
        warnings = [f"None of {n} rationales {what}."]
    if len(reasons.rows) < n_given:
        warnings.append(f"{MOST} of {n_given} rationales were drawn at random and coded.")
    if lengths_of(columns) is None:
        warnings.append("The length of the messages is not known, and not held equal.")
    return [*warnings, *few_dialogues(len(np.unique(columns.unit[reasons.rows])))]


def _shares(reasons: Reasons, columns: JudgmentColumns, book: Codebook, level: float) -> Table:
    is_judge = columns.is_judge[columns.evaluator[reasons.rows]]
    unit = columns.unit[reasons.rows]
    spoken = reasons.speaks.astype(np.float64)
    gaps = [difference_of(speaks, unit, is_judge) for speaks in spoken.T]
    return shares_table(book, reasons.speaks, is_judge, gaps, level)


def _together(
    reasons: Reasons, columns: JudgmentColumns, book: Codebook, level: float
) -> tuple[Table, ...]:
    """Compare the reasons of people and judges who agree; nothing where there are none."""
    by_person, by_judge = _agreeing(reasons, columns)
    if not len(by_person):
        return ()
    person, judge = reasons.speaks[by_person], reasons.speaks[by_judge]
    unit = columns.unit[reasons.rows[by_person]]
    any_common: Floats = np.any(person & judge, axis=1).astype(np.float64)
    common = mean_of(any_common, unit)
    if common is None:
        return ()
    return shared_table(common, level), together_table(book, person, judge)


def _agreeing(reasons: Reasons, columns: JudgmentColumns) -> tuple[Integers, Integers]:
    """Pair every person with every judge who preferred the same message, as rows of `Reasons`."""
    side = np.sign(columns.strength[reasons.rows])
    is_judge = columns.is_judge[columns.evaluator[reasons.rows]]
    key = 2 * columns.item[reasons.rows] + (side > 0)
    people = np.flatnonzero((side != 0) & ~is_judge)
    judges = np.flatnonzero((side != 0) & is_judge)
    judges = judges[np.argsort(key[judges], kind="stable")]
    begin = np.searchsorted(key[judges], key[people], side="left")
    n = np.searchsorted(key[judges], key[people], side="right") - begin
    within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    return (np.repeat(people, n), judges[np.repeat(begin, n) + within])


def _winning(reasons: Reasons, inputs: AnalysisInputs, book: Codebook) -> Table | None:
    """Ask of judgments of models against people what themes go with the model's winning."""
    columns = inputs.columns
    sign = model_sides(columns, inputs.sources.systems())[reasons.rows]
    chosen = (sign != 0) & (columns.strength[reasons.rows] != 0)
    if not chosen.any():
        return None
    told, sign = reasons.taken(chosen), sign[chosen]
    won = (sign * columns.strength[told.rows] > 0).astype(np.float64)
    controls = _controls(told, columns, sign)
    unit = columns.unit[told.rows]
    found = [_slopes(won, speaks, controls, unit) for speaks in told.speaks.T]
    if all(slopes is None for slopes in found):
        return None
    return winning_table(book, told.speaks, won, found, inputs.method.level)


def _controls(told: Reasons, columns: JudgmentColumns, sign: Integers) -> Floats:
    """Return how much longer the model's message is, its position, and the rationale's length."""
    parts = [sign * columns.shown[told.rows], np.log1p(told.words)]
    lengths = lengths_of(columns)
    if lengths is not None:
        parts.append(sign * np.nan_to_num(relative(*lengths[told.rows].T)))
    return np.column_stack(parts).astype(np.float64)


def _slopes(
    won: Floats, speaks: Booleans, controls: Floats, unit: Integers
) -> tuple[ClusteredMean, ClusteredMean] | None:
    """Return by how much the model wins more often with the theme: as it is, and held equal.

    Both have the degrees of freedom of the dialogues with the theme, if these are the fewer, and
    where all with the theme went one way the error of the first, if that is the larger.
    """
    theme = speaks.astype(np.float64)
    try:
        raw = clustered_difference(won, unit, speaks)
        held = partial_slope(won, theme, controls, unit)
    except (NothingLeftError, TooFewDialoguesError):
        return None
    tells = np.ptp(won[speaks]) > 0.0
    error = held.error if tells else max(held.error, raw.error)
    return raw, replace(held, n_clusters=raw.n_clusters, error=error)
