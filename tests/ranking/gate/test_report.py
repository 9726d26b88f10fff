"""What the gate says, to people, to pull requests and to programs."""

import datetime as dt
import json
import math
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from ranking.gate.report import (
    MIDDLE,
    RADIUS,
    SIMULATED,
    GateReport,
    as_json,
    as_markdown,
    as_radar,
    as_text,
    escaped,
    radar,
    verdict,
)
from ranking.gate.rules import OVERALL, Gate, GateRequest, GateTest, More, Outcome
from ranking.judgments.sources import SystemFacts
from ranking.plots.radar import TooFewAxesError

SVG = "{http://www.w3.org/2000/svg}"
SYSTEM = SystemFacts("New", "MODEL", "new", is_simulated=False)


def report_of(gate, **fields):
    usual = {
        "study": "support",
        "fit": "fit-1",
        "pool": "People",
        "context_set": "All contexts",
        "as_of": dt.datetime(2026, 1, 5, 9, 30, tzinfo=dt.UTC),
        "n_judgments": 4200,
        "n_units": 100,
        "is_fit_simulated": False,
        "candidate": SYSTEM,
        "baseline": replace(SYSTEM, name="Old"),
    }
    return GateReport(gate, **{**usual, **fields})


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
    return replace(report, is_fit_simulated=True)


FEW_MORE = "about 1,200 more judgments on 40 more source dialogues"
VERDICTS = {
    "a pass says what is ruled out": (HELD, "A drop of 15 points or more overall is ruled out"),
    "a drop says where": (DROPPED, "The candidate dropped by more than 15 points: T."),
    "neither says how many more it takes": (UNDECIDED, FEW_MORE),
    "where equals would pass, the difference is to blame": (
        replace(UNDECIDED, if_equal=More(0, 0)),
        "it takes about 30,000 more",
    ),
    "where no number settles it, none is named": (
        replace(UNDECIDED, if_equal=More(None, None)),
        "No number of further judgments can be named.",
    ),
}


@pytest.mark.parametrize(("found", "says"), VERDICTS.values(), ids=VERDICTS)
def test_the_verdict_in_words(found, says):
    assert says in verdict(found)


class TestMarkdown:
    def test_is_one_table_with_a_row_for_each_test(self):
        lines = as_markdown(report_of(DROPPED)).splitlines()

        rows = [line for line in lines if line.startswith("|")]
        assert lines[0] == "### Regress: New against Old"
        assert len(rows) == 2 + len(TESTS)
        assert {row.replace("&#124;", "").count("|") for row in rows} == {9}
        assert rows[-1].startswith("| T | 1460.0 | 1500.0 | -40.0 | -48.0 | -32.0 | 0.0010 |")

    def test_names_cannot_change_the_page(self):
        name = "a|b **bold** <img src=x> [x](https://example.org) `code`\n# head @team #777"
        report = report_of(UNDECIDED, candidate=replace(SYSTEM, name=name))

        head, *rest = as_markdown(report).splitlines()

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
        found = json.loads(json.dumps(as_json(report_of(UNDECIDED)), allow_nan=False))

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
        found = as_json(report_of(DROPPED))

        assert [one["name"] for one in found["tests"] if one["is_dropped"]] == ["T"]
        assert found["more"] == {"if_equal": None, "as_estimated": None}


class TestSimulatedData:
    @pytest.mark.parametrize("write", [as_text, as_markdown, as_radar])
    def test_say_so_in_every_output(self, write):
        report = report_of(HELD)

        assert SIMULATED in write(simulated(report))
        assert SIMULATED not in write(report)

    def test_say_so_to_programs(self):
        found = as_json(simulated(report_of(HELD)))

        assert (found["is_simulated"], found["simulated_note"]) == (True, SIMULATED)

    def test_a_simulated_system_is_enough(self):
        report = report_of(HELD, baseline=replace(SYSTEM, is_simulated=True))

        assert SIMULATED in as_markdown(report)


def test_text_is_headed_by_the_outcome():
    said = as_text(report_of(HELD)).splitlines()

    assert said[0] == "Pass: New against Old"
    assert said[-1].startswith("Study support, fit fit-1 (People, All contexts): 4,200")


CANDIDATE = {"H": 1500.0, "E": 1520.0, "A": 1480.0, "R": 1510.0, "T": 1490.0}


def drawn(name="New", title="x", note=""):
    points = {axis: (one, 1500.0) for axis, one in CANDIDATE.items()}
    picture = radar((name, "Old"), points, title=title, note=note)
    return ET.fromstring(picture)  # noqa: S314 (written here)


def reaches(root, name):
    """Return how far from the middle the corners of a system are."""
    (area,) = (one for one in root.iter(f"{SVG}polygon") if one.get("class") == name)
    corners = [tuple(map(float, corner.split(","))) for corner in area.get("points", "").split()]
    return [math.dist(corner, MIDDLE) for corner in corners]


class TestRadar:
    def test_has_the_dimensions_and_not_the_overall_rating(self):
        svg = as_radar(report_of(HELD))

        assert all(f">{name}</text>" in svg for name in "HEART")
        assert OVERALL not in svg

    def test_needs_three_dimensions(self):
        with pytest.raises(TooFewAxesError, match="needs 3 dimensions rated for both, not 2"):
            as_radar(report_of(replace(HELD, tests=TESTS[:3])))

    def test_points_are_as_far_out_as_they_are_many(self):
        root = drawn()
        new, old = reaches(root, "candidate"), reaches(root, "baseline")

        assert old == pytest.approx([old[0]] * 5, abs=0.1)
        gained = [one - old[0] for one in new]
        assert gained == pytest.approx(
            [0, 2 * gained[3], -2 * gained[3], gained[3], -gained[3]], abs=0.3
        )
        assert 0.0 < min(new) <= max(new) <= RADIUS + 0.1

    def test_figures_are_told_to_those_who_do_not_see_it(self):
        root = drawn(note="Simulated data.")

        assert root.get("role") == "img"
        assert root.findtext(f"{SVG}desc") == (
            "Candidate and baseline: H 1500 and 1500, E 1520 and 1500, A 1480 and 1500, "
            "R 1510 and 1500, T 1490 and 1500. Simulated data."
        )

    def test_names_cannot_change_the_picture(self):
        root = drawn(name="<script>&\"'", title="</title><script>")

        assert not list(root.iter(f"{SVG}script"))
        assert any("<script>" in (one.text or "") for one in root.iter(f"{SVG}text"))

    def test_has_colours_for_light_and_for_dark_and_a_broken_line(self):
        style = drawn().findtext(f"{SVG}style") or ""

        assert "prefers-color-scheme: dark" in style
        assert "stroke-dasharray" in style
