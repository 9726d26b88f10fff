"""What holds for every analysis: stored, repeated, refused, tested, and its cells."""

import re
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from ranking import analyses
from ranking.analyses import FEWEST_DIALOGUES, boards
from ranking.analyses.bias_order import adjusted
from ranking.analyses.common import adjusted_tests, decimal, ends, interval_cells, share_cells
from ranking.choices import AnalysisKind
from ranking.findings import AnalysisRefusedError, ColumnKind
from ranking.fits.analysis_queries import known_kinds
from ranking.judgments.sources import StrategyLabels
from ranking.numerics.clustered_means import clustered_mean
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.analyses.helpers import (
    MadeUpSources,
    duel,
    facts_of,
    make_columns,
    make_facts,
    make_inputs,
    messages_of,
    people_of,
    simulate,
    stored,
    table,
)
from tests.ranking.numerics.helpers import give_up

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
PAIRWISE = ("CHECKS", "FRAGILITY", "PLANNING", "RANKERS")
"""Those that ask of the ranking as a whole how far it holds."""
REASONS = ("It is warm.", "It is shorter.", "It names the feeling.", "Better.")


def whole_inputs(rng, *, n_units=60):
    """Everything that analyses may ask of a study, simulated: six systems, one of them a person."""
    theta = (0.9, 0.5, 0.2, -0.2, -0.5, -0.9)
    columns = simulate(rng, theta=theta, n_units=n_units, pairs_per_unit=5, n_raters=5, n_judges=2)
    n = columns.n_judgments
    given = facts_of(
        columns,
        rationales=tuple(REASONS[k] for k in rng.integers(0, len(REASONS), n)),
        seconds=np.where(columns.is_judge[columns.evaluator], np.nan, rng.uniform(20, 90, n)),
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
        of_items=messages_of(columns, hostile=5),
        of_judgments=given,
        labels=StrategyLabels(("a", "b", "c"), ("A", "B", "C"), labels, ("A labeller",)),
    )
    dimensions = {
        name: replace(columns, strength=np.where(rng.random(n) < 0.5, sign * columns.strength, 0))
        for name, sign in zip("HEART", (1, 1, 1, 1, -1), strict=True)
    }
    return make_inputs(columns, dimensions=dimensions, sources=sources)


KINDS = [kind for kind in known_kinds() if kind != AnalysisKind.LIKERT]
"""Those of judgments of pairs."""


@pytest.fixture(scope="module")
def inputs():
    return whole_inputs(np.random.default_rng(20260105))


@pytest.fixture(scope="module")
def found(inputs):
    """What every analysis finds in the simulated study."""
    return {kind: analyses.analyse(kind, inputs) for kind in KINDS}


@pytest.fixture(scope="module")
def tables(found):
    """All tables with p-values of the simulated study, each with its analysis."""
    return [
        (kind, one)
        for kind, findings in found.items()
        for one in findings.tables
        if p_values_of(one)
    ]


def p_values_of(table):
    """Columns of p-values: those called so, and those that are named like one."""
    return [
        one
        for one in table.columns
        if one.kind is ColumnKind.P_VALUE or re.match(r"p\b|p_|p-value", one.label.lower())
    ]


def test_every_analysis_can_be_stored_and_read_again(found):
    for kind, findings in found.items():
        assert stored(findings) == findings, kind
        assert findings.is_exploratory, kind
        for one in findings.tables:
            assert {len(row) for row in one.rows} <= {len(one.columns)}, (kind, one.key)
            assert one.caption, (kind, one.key)


@pytest.mark.parametrize("kind", KINDS)
def test_every_analysis_gives_the_same_answer_twice(kind, inputs, found):
    assert analyses.analyse(kind, inputs) == found[kind]


@pytest.mark.parametrize(
    ("kind", "most", "told"),
    [
        ("BIAS", "bias.MOST", "most 50 judgments each"),
        ("JUDGE", "judged_pairs.MOST_PAIRS", "50 pairs drawn at random"),
        ("RANKERS", "rankers.MOST_ONLINE", "50 drawn at random are used for online Elo"),
        ("RANKERS", "rankers.MOST_SKILL", "50 drawn at random are used for OpenSkill"),
        ("RATERS", "raters.MOST_ITEMS", "Accuracy rests on 50 pairs"),
        ("RATERS", "raters.MOST_PAIRS", "the 50 pairs that were settled first"),
        ("RATIONALES", "rationales.MOST", "50 of 1200 rationales"),
    ],
)
def test_a_very_large_study_rests_on_a_part_that_the_seed_draws_and_says_so(
    kind, most, told, inputs, found, monkeypatch
):
    monkeypatch.setattr(f"ranking.analyses.{most}", 50)

    one, other = (analyses.analyse(kind, inputs) for _ in range(2))

    assert one == other
    assert one.tables != found[kind].tables
    assert told in " ".join([*one.warnings, *(table.caption for table in one.tables)])


@pytest.mark.parametrize(
    "kind", [*PAIRWISE, *("PAIRS", "DRAWS", "STYLE", "RATERS", "BIAS", "JUDGE")]
)
def test_analyses_are_refused_without_judgments(kind, inputs):
    nothing = inputs.columns.taken(np.empty(0, dtype=int))

    with pytest.raises(AnalysisRefusedError, match="no judgments"):
        analyses.analyse(kind, replace(inputs, columns=nothing))


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("CHECKS", "one scale"),
        ("FRAGILITY", "one scale"),
        ("PLANNING", "one scale"),
        ("RANKERS", "one scale"),
        ("PAIRS", "2 groups"),
        ("DRAWS", "board"),
        ("STYLE", "do not determine"),
    ],
)
def test_systems_that_never_met_are_refused(kind, reason):
    rows = [("d1", 0, "a", "b", "r", 2, 1), ("d2", 1, "c", "d", "r", -2, 1)]

    with pytest.raises(AnalysisRefusedError, match=reason):
        analyses.analyse(kind, make_inputs(make_columns(rows)))


@pytest.mark.parametrize("kind", ["CHECKS", "PLANNING", "PAIRS"])
def test_one_dialogue_is_refused_where_dialogues_are_compared(kind):
    columns = make_columns([("d", 0, "a", "b", "r", 2, 1), ("d", 0, "a", "b", "s", -1, 1)])

    with pytest.raises(AnalysisRefusedError, match="one source dialogue"):
        analyses.analyse(kind, make_inputs(columns))


@pytest.mark.parametrize("kind", ["FRAGILITY", "RANKERS"])
def test_one_dialogue_is_enough_where_only_its_order_is_told(kind):
    columns = make_columns([("d", 0, "a", "b", "r", 2, 1), ("d", 0, "a", "b", "s", -1, 1)])

    assert analyses.analyse(kind, make_inputs(columns)).tables


@pytest.mark.parametrize("kind", PAIRWISE)
@pytest.mark.parametrize(
    ("mode", "strengths"),
    [*((mode, (0, 0, 2, -1, 0)) for mode in StrengthMode), (StrengthMode.SOFT, (3, 3, 3, 3))],
)
def test_a_duel_before_one_rater_is_told(kind, mode, strengths):
    findings = analyses.analyse(kind, make_inputs(duel(strengths), strength=mode))

    assert stored(findings) == findings


@pytest.mark.parametrize(("kind", "key"), [("DRAWS", "systems"), ("STYLE", "boards")])
def test_judges_of_next_to_no_mass_might_as_well_not_have_judged(kind, key, rng):
    columns = simulate(rng)

    weighed, alone = (
        table(analyses.analyse(kind, inputs), key)
        for inputs in (make_inputs(columns, masses=(1.0, 1e-9)), make_inputs(people_of(columns)))
    )

    for one, other in zip(weighed, alone, strict=True):
        assert one == pytest.approx(other, abs=0.02)


@pytest.mark.parametrize("kind", ["RATERS", "JUDGE"])
def test_analyses_that_take_no_masses_say_so(kind, inputs):
    weighed = replace(inputs, method=replace(inputs.method, masses=(0.5, 0.5)))

    warnings = analyses.analyse(kind, weighed).warnings

    assert any("declared masses" in warning for warning in warnings)


def test_every_p_value_says_how_it_is_adjusted_over_which_family_and_what_tests_need(tables):
    assert {kind for kind, _ in tables} >= WITH_P
    for kind, one in tables:
        labels = {column.label for column in p_values_of(one)}
        assert {column.kind for column in p_values_of(one)} == {ColumnKind.P_VALUE}, (kind, one.key)
        assert all(ADJUSTED.match(label) for label in labels), (kind, one.key, labels)
        told = (
            "one test" in one.caption if labels == {"p, one test"} else FAMILY.search(one.caption)
        )
        assert told, (kind, one.key, one.caption)
        assert one.caption.endswith(analyses.MINIMUM), (kind, one.key)


@pytest.mark.parametrize(
    "kind",
    [AnalysisKind.PAIRS, AnalysisKind.CHECKS, AnalysisKind.LATENCY, AnalysisKind.PEOPLE],
    ids=str,
)
def test_fewer_dialogues_are_told_no_p_value(kind, inputs):
    few = inputs.columns.taken(np.flatnonzero(inputs.columns.unit < analyses.FEWEST_DIALOGUES - 1))

    findings = analyses.analyse(kind, replace(inputs, columns=few))

    n = len(few.units)
    told = f"Tests need 10 source dialogues, and there are {n}: no p-values."
    assert findings.warnings[-1] == told
    for one in findings.tables:
        places = [n for n, column in enumerate(one.columns) if column.kind is ColumnKind.P_VALUE]
        assert {row[place] for row in one.rows for place in places} <= {None}


WITHOUT_INTERVALS = {"DRAWS", "FRAGILITY", "RANKERS", "RATERS"}
REFUSED_OF_FEW = {"JUDGE"}


@pytest.mark.parametrize("kind", sorted({*KINDS} - WITHOUT_INTERVALS - REFUSED_OF_FEW))
@pytest.mark.parametrize(("n_units", "told"), [(30, "a correction"), (19, "no interval can be")])
def test_intervals_of_few_dialogues_come_with_a_warning(kind, n_units, told, found):
    few = whole_inputs(np.random.default_rng(1), n_units=n_units)

    (warning,) = [one for one in analyses.analyse(kind, few).warnings if one.startswith("Only ")]

    assert told in warning
    assert not any(one.startswith("Only ") for one in found[kind].warnings)


def test_every_column_of_p_values_in_the_code_says_how_it_is_adjusted():
    """Also those of analyses that this study does not allow."""
    for kind in known_kinds():
        module = import_module(f"ranking.analyses.{kind.lower()}")
        for value in vars(module).values():
            for column in value if isinstance(value, tuple) else (value,):
                if getattr(column, "kind", None) is ColumnKind.P_VALUE:
                    assert ADJUSTED.match(column.label), (kind, column.label)


METHOD = make_inputs(None).method


def refusal_of(columns):
    with pytest.raises(AnalysisRefusedError) as refusal:
        boards.rated(columns, METHOD)
    return str(refusal.value)


class TestRated:
    def test_a_chain_that_any_missing_dialogue_breaks_has_no_interval(self):
        # All of twelve dialogues are in one resample of twenty thousand.
        rows = [(f"d{n:02d}", n, f"s{n:02d}", f"s{n + 1:02d}", "r", 2, 1) for n in range(12)]

        assert "no interval" in refusal_of(make_columns(rows))

    def test_a_search_that_does_not_end_is_said_to(self, rng, monkeypatch):
        monkeypatch.setattr(boards, "fit_bradley_terry", give_up)

        assert "did not end" in refusal_of(simulate(rng))

    def test_resamples_that_leave_systems_unconnected_are_counted(self):
        rows = [
            (f"d{n}", n, *pair, "r", 2, 1)
            for n, pair in enumerate([("a", "b"), ("a", "b"), ("b", "c"), ("b", "c")])
        ]

        board = boards.rated(make_columns(rows), METHOD)

        assert board.n_without_maximum == METHOD.replicates - len(board.resampled) > 0
        (warning,) = boards.few_resamples_warning(board)
        assert warning.startswith(f"{board.n_without_maximum} of 100 resamples")


UNIT = np.repeat(np.arange(FEWEST_DIALOGUES), 2)
FEW = UNIT < FEWEST_DIALOGUES - 1
VALUES = np.array([0.0, 1.0, 1.0, 1.0] * (FEWEST_DIALOGUES // 2))


def test_the_head_of_an_interval_says_how_sure_it_is():
    low, high = ends(0.9, ColumnKind.ELO)

    assert (low.key, low.label, high.key, high.label) == ("low", "90 % from", "high", "to")
    assert low.kind == high.kind == ColumnKind.ELO
    assert ends(0.95)[0].label == "95 % from"


def test_an_interval_is_that_of_the_mean_so_many_times_as_large():
    mean = clustered_mean(VALUES, UNIT)
    low, high = mean.interval(0.9)

    cells = interval_cells(mean, 0.9, times=-10.0)

    assert cells == tuple(decimal(-10 * one) for one in (mean.mean, low, high))


def test_shares_end_at_one():
    mean = clustered_mean(VALUES, UNIT)
    assert mean.interval(0.9999)[1] > 1.0

    value, low, high = share_cells(mean, 0.9999)

    assert (value, high) == (decimal(mean.mean), 1.0)
    assert low is not None


@pytest.mark.parametrize("cells", [interval_cells, share_cells])
@pytest.mark.parametrize(
    ("mean", "shown"),
    [
        (None, (None, None, None)),
        (clustered_mean(VALUES[FEW], UNIT[FEW]), (None, None, None)),
        (clustered_mean(np.ones(len(UNIT)), UNIT), (1.0, None, None)),
    ],
    ids=["not known", "too few dialogues", "dialogues that do not differ"],
)
def test_what_is_not_known_leaves_its_cells_empty(cells, mean, shown):
    assert cells(mean, 0.95) == shown


def test_tests_on_too_few_dialogues_are_left_out_of_their_family():
    few, enough = clustered_mean(VALUES[FEW], UNIT[FEW]), clustered_mean(VALUES, UNIT)

    found = adjusted_tests([few, enough, None])

    assert found == [None, pytest.approx(enough.p_value()), None]


@pytest.mark.parametrize("gap", [2.0, 2 / 3, -0.1])
def test_a_gap_alike_in_all_dialogues_has_a_p_value_however_it_is_rounded(gap):
    found = adjusted([clustered_mean(np.full(len(UNIT), gap), UNIT)])

    assert found == [decimal(2.0 ** (1 - FEWEST_DIALOGUES), 6)]


def test_what_is_nothing_in_every_dialogue_is_not_among_the_tests():
    nothing, some = (clustered_mean(one, UNIT) for one in (0.0 * VALUES, VALUES))

    assert adjusted([nothing, some]) == [None, decimal(some.p_value(), 6)]
