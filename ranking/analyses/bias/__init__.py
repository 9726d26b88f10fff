"""What sways judgments besides the messages: position, length, own family, drift, fatigue."""

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.bias.families import family_tables, makers, removed_warnings
from ranking.analyses.bias.length import length_tables
from ranking.analyses.bias.places import drift_table, fatigue_table, severity_table
from ranking.analyses.bias.position import position_tables
from ranking.findings import AnalysisRefusedError, Findings, Table
from ranking.numerics.few_units import few_units_warning

METHOD = (
    "Shares, differences and slopes with source dialogues as the unit (Liang and Zeger 1986), "
    "sign tests for single evaluators; slopes of length hold systems and position equal, slopes "
    "over time compare people with themselves (Frisch and Waugh 1933). p-values are adjusted in "
    "each table (Benjamini and Hochberg 1995)."
)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Audit the judgments for bias; what the study does not tell of is left out.

    Raises
    ------
    AnalysisRefusedError
        If there are no judgments, or nothing is known that could sway them.
    """
    columns, level = inputs.columns, inputs.method.level
    if not columns.n_judgments:
        msg = "There are no judgments yet."
        raise AnalysisRefusedError(msg)
    warnings = list[str]()
    tables = position_tables(columns, level)
    if not tables:
        warnings.append("It is not known on which side completions were shown.")
    by_length = length_tables(columns, level, np.random.default_rng(inputs.method.seed))
    if not by_length:
        warnings.append("The length of the messages is not known, or always the same.")
    tables += [*by_length, *_families(inputs, warnings), *_places(inputs, warnings)]
    if not tables:
        msg = "Nothing is known that could have swayed these judgments."
        raise AnalysisRefusedError(msg)
    few = few_units_warning(len(columns.units))
    return Findings(METHOD, tuple(tables), (*warnings, *([few] if few else [])))


def _families(inputs: AnalysisInputs, warnings: list[str]) -> list[Table]:
    """Return the tables of families, or say why there are none."""
    columns = inputs.columns
    if not columns.is_judge.any():
        return []
    try:
        found = makers(columns, inputs.sources.systems(), inputs.sources.judge_families())
    except AnalysisRefusedError as refusal:
        warnings.append(str(refusal))
        return []
    warnings += removed_warnings(columns, found)
    return family_tables(columns, found, inputs.method.level)


def _places(inputs: AnalysisInputs, warnings: list[str]) -> list[Table]:
    """Return severity, drift and fatigue, as far as there are any."""
    columns, level = inputs.columns, inputs.method.level
    tables = [severity_table(columns, level)]
    try:
        facts = inputs.sources.judgments()
    except AnalysisRefusedError as refusal:
        warnings.append(str(refusal))
    else:
        tables += [drift_table(columns, facts, level), fatigue_table(columns, facts, level)]
    return [table for table in tables if table is not None]
