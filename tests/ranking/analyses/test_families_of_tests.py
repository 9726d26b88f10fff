"""Every p-value that an analysis shows is adjusted, and says over which tests and how."""

import re
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from ranking import analyses
from ranking.choices import AnalysisKind
from ranking.findings import AnalysisRefusedError, ColumnKind
from ranking.fits.analysis_queries import known_kinds
from ranking.judgments.sources import ItemFacts, JudgmentFacts, StrategyLabels
from tests.ranking.analyses.helpers import make_inputs, simulate
from tests.ranking.analyses.sources import MadeUpSources, make_facts
from tests.ranking.analyses.test_bias import places_of

ADJUSTED = re.compile(r"^p, (Benjamini-Hochberg|Holm|step-down|one test)$")
FAMILY = re.compile(r"P-values are adjusted over one family of tests: [^.]+\.")
WITH_P = {
    AnalysisKind.PAIRS,
    AnalysisKind.PEOPLE,
    AnalysisKind.CHECKS,
    AnalysisKind.BIAS,
    AnalysisKind.RATIONALES,
    AnalysisKind.STRATEGIES,
    AnalysisKind.LATENCY,
    AnalysisKind.JUDGE,
}
"""Those that show p-values of this study; a new one is looked at as soon as it does."""
REASONS = ("It is warm.", "It is shorter.", "It names the feeling.", "Better.")


def whole_inputs(rng):
    """Everything that analyses may ask of a study, simulated: six systems, one of them a person."""
    theta = (0.9, 0.5, 0.2, -0.2, -0.5, -0.9)
    columns = simulate(rng, theta=theta, n_units=60, pairs_per_unit=5, n_raters=5, n_judges=2)
    pairs = np.zeros((columns.n_items, 2), dtype=np.int64)
    pairs[columns.item] = np.stack([columns.first, columns.second], axis=1)
    n, contexts = columns.n_judgments, np.arange(columns.n_items)
    messages = ItemFacts(
        context=contexts,
        is_adversarial=contexts % 5 == 0,
        message=np.arange(2 * columns.n_items).reshape(-1, 2),
        system=pairs.ravel(),
        message_context=np.repeat(contexts, 2),
    )
    given = JudgmentFacts(
        rationales=tuple(REASONS[k] for k in rng.integers(0, len(REASONS), n)),
        seconds=np.where(columns.is_judge[columns.evaluator], np.nan, rng.uniform(20, 90, n)),
        place=places_of(columns),
        probability=np.full(n, np.nan),
    )
    labels = rng.integers(0, 2, (2 * columns.n_items, 3)).astype(float)
    sources = MadeUpSources(
        of_systems={
            slug: make_facts(
                slug,
                kind="HUMAN" if place == 1 else "MODEL",
                family="oak" if place % 2 else "elm",
                intelligence_index=60.0 - 7 * place + 3 * (place == 2),
                published_ttft_ms=300.0 + 90 * place,
            )
            for place, slug in enumerate(columns.systems)
        },
        of_judges=dict(zip(columns.evaluators[-2:], ("oak", "elm"), strict=True)),
        of_items=messages,
        of_judgments=given,
        labels=StrategyLabels(("a", "b", "c"), ("A", "B", "C"), labels, ("A labeller",)),
    )
    dimensions = dict.fromkeys("HEART", columns)
    return replace(make_inputs(columns), dimensions=dimensions, sources=sources)


@pytest.fixture(scope="module")
def tables():
    """All tables with p-values of a simulated study, by analysis."""
    inputs = whole_inputs(np.random.default_rng(20260105))
    found = {}
    for kind in known_kinds():
        try:
            findings = analyses.analyse(kind, inputs)
        except AnalysisRefusedError:
            continue
        found[kind] = [one for one in findings.tables if p_values_of(one)]
    return found


def p_values_of(table):
    """Columns of p-values: those called so, and those that are named like one."""
    return [
        one
        for one in table.columns
        if one.kind is ColumnKind.P_VALUE or re.match(r"p\b|p_|p-value", one.label.lower())
    ]


def test_the_simulated_study_has_all_analyses_with_p_values(tables):
    assert {kind for kind, found in tables.items() if found} >= WITH_P


def test_every_p_value_says_how_it_is_adjusted(tables):
    for kind, found in tables.items():
        for table in found:
            for column in p_values_of(table):
                assert column.kind is ColumnKind.P_VALUE, (kind, table.key)
                assert ADJUSTED.match(column.label), (kind, table.key, column.label)


def test_every_family_of_tests_is_told_in_words(tables):
    for kind, found in tables.items():
        for table in found:
            is_single = {one.label for one in p_values_of(table)} == {"p, one test"}
            told = "one test" in table.caption if is_single else FAMILY.search(table.caption)
            assert told, (kind, table.key, table.caption)


def test_every_table_of_tests_says_what_they_need(tables):
    for kind, found in tables.items():
        for table in found:
            assert table.caption.endswith(analyses.MINIMUM), (kind, table.key)


@pytest.mark.parametrize(
    "kind", [AnalysisKind.PAIRS, AnalysisKind.CHECKS, AnalysisKind.LATENCY], ids=str
)
def test_fewer_dialogues_are_told_no_p_value(kind):
    inputs = whole_inputs(np.random.default_rng(20260105))
    few = inputs.columns.taken(np.flatnonzero(inputs.columns.unit < analyses.FEWEST_DIALOGUES - 1))

    findings = analyses.analyse(kind, replace(inputs, columns=few))

    n = len(few.units)
    told = f"Tests need 10 source dialogues, and there are {n}: no p-values."
    assert findings.warnings[-1] == told
    for table in findings.tables:
        places = [n for n, one in enumerate(table.columns) if one.kind is ColumnKind.P_VALUE]
        assert {row[place] for row in table.rows for place in places} <= {None}


def test_every_column_of_p_values_in_the_code_says_how_it_is_adjusted():
    """Also those of analyses that this study does not allow."""
    for kind in known_kinds():
        module = import_module(f"ranking.analyses.{kind.lower()}")
        for value in vars(module).values():
            for column in value if isinstance(value, tuple) else (value,):
                if getattr(column, "kind", None) is ColumnKind.P_VALUE:
                    assert ADJUSTED.match(column.label), (kind, column.label)
