"""What the gate says, to people, to pull requests and to programs."""

import datetime as dt
import json
from dataclasses import replace

import pytest

from ranking.gate.report import (
    SIMULATED,
    Basis,
    GateReport,
    NamedSystem,
    as_json,
    as_markdown,
    as_radar,
    as_text,
    escaped,
    verdict,
)
from ranking.gate.rules import OVERALL, Gate, GateRequest, GateTest, More, Outcome
from ranking.plots.radar import TooFewAxesError

BASIS = Basis(
    study="support",
    fit="fit-1",
    pool="People",
    context_set="All contexts",
    as_of=dt.datetime(2026, 1, 5, 9, 30, tzinfo=dt.UTC),
    n_judgments=4200,
    n_units=100,
    is_simulated=False,
    candidate=NamedSystem("new", "New", is_simulated=False),
    baseline=NamedSystem("old", "Old", is_simulated=False),
)


def made(name, difference=-3.0, p=0.9):
    baseline = 1500.0
    ends = (difference - 8.0, difference + 8.0)
    points = (baseline + difference, baseline, difference, *ends)
    return GateTest(name, *points, p, 1 - p, 4200, 100, p_adjusted=p)


TESTS = (made(OVERALL), *(made(name) for name in "HEART"))
HELD = Gate(GateRequest("new", "old"), Outcome.HELD, TESTS, ())
DROPPED = replace(
    HELD, outcome=Outcome.DROPPED, tests=(*TESTS[:-1], made("T", difference=-40.0, p=0.001))
)
UNDECIDED = replace(
    HELD,
    outcome=Outcome.UNDECIDED,
    notes=("H is not rated: a|b",),
    if_equal=More(1200, 40),
    as_estimated=More(30000, 1000),
)


def simulated(report):
    return replace(report, basis=replace(report.basis, is_simulated=True))


class TestVerdict:
    def made_a_pass_says_what_is_ruled_out(self):
        assert verdict(HELD).startswith("A drop of 15 points or more overall is ruled out")

    def made_a_drop_says_where(self):
        assert verdict(DROPPED) == "The candidate dropped by more than 15 points: T."

    def made_neither_says_how_many_more_it_takes(self):
        assert "about 1,200 more judgments on 40 more source dialogues" in verdict(UNDECIDED)

    def test_where_equals_would_have_passed_the_difference_is_to_blame(self):
        found = replace(UNDECIDED, if_equal=More(0, 0))

        assert "it takes about 30,000 more" in verdict(found)

    def test_where_no_number_settles_it_none_is_named(self):
        found = replace(UNDECIDED, if_equal=More(None, None))

        assert "No number of further judgments can be named." in verdict(found)


class TestMarkdown:
    def test_is_one_table_with_a_row_for_each_test(self):
        lines = as_markdown(GateReport(DROPPED, BASIS)).splitlines()

        rows = [line for line in lines if line.startswith("|")]
        assert lines[0] == "### Regress: New against Old"
        assert len(rows) == 2 + len(TESTS)
        assert {row.replace("&#124;", "").count("|") for row in rows} == {9}
        assert rows[-1].startswith("| T | 1460.0 | 1500.0 | -40.0 | -48.0 | -32.0 | 0.0010 |")

    def test_names_cannot_change_the_page(self):
        name = "a|b **bold** <img src=x> [x](https://example.org) `code`\n# head @team #777"
        basis = replace(BASIS, candidate=NamedSystem("new", name, is_simulated=False))

        head, *rest = as_markdown(GateReport(UNDECIDED, basis)).splitlines()

        assert not set("|*<[`") & set(head)
        assert "://" not in head
        assert "@team" not in head
        assert "#777" not in head
        assert "* H is not rated&#58; a&#124;b" in rest

    def test_words_without_markup_stay_as_they_are(self):
        assert escaped("Model-2.5 (mini), 70 %") == "Model-2.5 (mini), 70 %"
        assert escaped("a|b") == "a&#124;b"


class TestJson:
    def test_has_what_a_pipeline_asks_for(self):
        found = json.loads(json.dumps(as_json(GateReport(UNDECIDED, BASIS)), allow_nan=False))

        assert (found["outcome"], found["exit_code"]) == ("not_enough_data", 2)
        assert found["candidate"] == {"slug": "new", "name": "New", "is_simulated": False}
        assert (found["max_drop"], found["level"]) == (15.0, 0.95)
        assert found["fit"]["as_of"] == "2026-01-05T09:30:00+00:00"
        assert [one["name"] for one in found["tests"]] == [OVERALL, *"HEART"]
        assert found["more"] == {
            "if_equal": {"judgments": 1200, "dialogues": 40},
            "as_estimated": {"judgments": 30000, "dialogues": 1000},
        }

    def test_says_which_tests_show_a_drop(self):
        found = as_json(GateReport(DROPPED, BASIS))

        assert [one["name"] for one in found["tests"] if one["is_dropped"]] == ["T"]
        assert found["more"] == {"if_equal": None, "as_estimated": None}


class TestSimulatedData:
    @pytest.mark.parametrize("write", [as_text, as_markdown, as_radar])
    def test_say_so_in_every_output(self, write):
        report = GateReport(HELD, BASIS)

        assert SIMULATED in write(simulated(report))
        assert SIMULATED not in write(report)

    def test_say_so_to_programs(self):
        assert as_json(simulated(GateReport(HELD, BASIS)))["is_simulated"] is True

    def test_a_simulated_system_is_enough(self):
        basis = replace(BASIS, baseline=NamedSystem("old", "Old", is_simulated=True))

        assert SIMULATED in as_markdown(GateReport(HELD, basis))


class TestText:
    def test_is_headed_by_the_outcome(self):
        said = as_text(GateReport(HELD, BASIS)).splitlines()

        assert said[0] == "Pass: New against Old"
        assert said[-1].startswith("Study support, fit fit-1 (People, All contexts): 4,200")


class TestRadar:
    def test_has_the_dimensions_and_not_the_overall_rating(self):
        svg = as_radar(GateReport(HELD, BASIS))

        assert all(f">{name}</text>" in svg for name in "HEART")
        assert OVERALL not in svg

    def test_needs_three_dimensions(self):
        with pytest.raises(TooFewAxesError, match="3 dimensions"):
            as_radar(GateReport(replace(HELD, tests=TESTS[:3]), BASIS))
