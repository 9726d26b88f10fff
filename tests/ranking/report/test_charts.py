"""What browsers are given to draw of tables: values on their axes, words as in the tables."""

import json

import pytest
from django.core.serializers.json import DjangoJSONEncoder

from ranking.findings import Column, ColumnKind, Picture, Table
from ranking.plots.radar import MOST
from ranking.report.names import Name, Names
from ranking.report.tables import shown_table

NAMES = Names(
    systems={
        "ash": Name("Ash"),
        "beech": Name("Beech", is_simulated=True),
        "cedar": Name("Cedar"),
    },
    judges={"judge-oak": Name("Judge Oak")},
    people=frozenset({"R1", "R2"}),
)
SYSTEM = Column("system", "System", ColumnKind.SYSTEM)
OTHER = Column("other", "Against", ColumnKind.SYSTEM)
SHARE, ELO = ColumnKind.SHARE, ColumnKind.ELO


def chart_of(picture, columns, rows, *, asked=()):
    table = Table("t", "T", "How to read it.", tuple(columns), tuple(rows), picture)
    return shown_table(table, NAMES, tuple(asked)).chart


def parts_of(*arguments, **more):
    """Return the parts as they arrive, after a round of JSON."""
    chart = chart_of(*arguments, **more)
    return json.loads(json.dumps(chart.as_json, cls=DjangoJSONEncoder))


def columns(*keys, kind=ELO):
    return [Column(key, key, kind) for key in keys]


class TestHeat:
    def test_has_each_cell_in_per_cent_and_in_words(self):
        parts = parts_of(
            Picture.HEAT,
            [SYSTEM, *columns("ash", "beech", kind=SHARE), Column("n", "n", ColumnKind.COUNT)],
            [("ash", None, 0.6249, 3), ("beech", 0.3751, None, 4)],
        )

        assert parts["rows"] == ["Ash", "Beech"]
        assert parts["columns"] == ["Ash", "Beech"]
        assert parts["values"] == [[None, 62.49], [37.51, None]]
        assert parts["texts"] == [["\N{EN DASH}", "62.5 %"], ["37.5 %", "\N{EN DASH}"]]
        assert (parts["middle"], parts["reach"], parts["unit"]) == (50.0, 12.49, " %")
        assert parts["lowest"] == 37.51


class TestWhiskers:
    def test_has_rows_by_all_their_leading_words_and_says_the_rest(self):
        parts = parts_of(
            Picture.WHISKERS,
            [SYSTEM, OTHER, *columns("value", "low", "high"), Column("p", "p", ColumnKind.P_VALUE)],
            [("ash", "cedar", 12.0, -3.0, 27.0, 0.04), ("ash", "beech", None, None, None, 0.5)],
        )

        (row,) = parts["rows"]
        assert row["name"] == "Ash \N{MIDDLE DOT} Cedar"
        assert row["said"] == ["value: 12", "low: \N{MINUS SIGN}3", "high: 27", "p: 0.040"]
        assert (row["low"], row["value"], row["high"]) == (-3.0, 12.0, 27.0)
        assert "isSimulated" not in row
        assert parts["centre"] == 0.0

    @pytest.mark.parametrize(
        ("kind", "row", "centre"),
        [
            (SHARE, (0.6, 0.55, 0.7), 50.0),
            (SHARE, (0.1, -0.1, 0.2), 0.0),
            (ELO, (1520.0, 1490.0, 1550.0), 1500.0),
            (ELO, (20.0, 10.0, 30.0), None),
        ],
    )
    def test_holds_intervals_against_what_their_kind_asks_for(self, kind, row, centre):
        keys = columns("value", "low", "high", kind=kind)

        assert parts_of(Picture.WHISKERS, [SYSTEM, *keys], [("ash", *row)])["centre"] == centre


class TestPoints:
    TIME = Column("x", "Time, ms", is_logarithmic=True, mark=500)

    def test_have_a_logarithmic_axis_with_its_line_and_intervals(self):
        parts = parts_of(
            Picture.POINTS,
            [SYSTEM, self.TIME, *columns("y", "low", "high")],
            [("ash", 320, 1510.0, 1490.0, 1530.0), ("beech", None, 1500.0, 1480.0, 1520.0)],
        )

        assert parts["x"] == {"label": "Time, ms", "unit": "", "isLogarithmic": True, "mark": 500.0}
        (row,) = parts["rows"]
        assert [row[key] for key in ("x", "y", "low", "high")] == [320.0, 1510.0, 1490.0, 1530.0]
        assert not parts["hasDiagonal"]

    def test_at_nought_have_no_logarithms(self):
        parts = parts_of(Picture.POINTS, [SYSTEM, self.TIME, *columns("y")], [("ash", 0, 1.0)])

        assert not parts["x"]["isLogarithmic"]

    def test_of_one_kind_have_the_diagonal_and_say_all_of_rows_without_names(self):
        rows = [("1 of 2", 0.5, 0.55), ("2 of 2", 0.8, 0.75)]
        head = Column("part", "Part", ColumnKind.TEXT)
        axes = columns("x", "y", kind=SHARE)

        named = parts_of(Picture.POINTS, [head, *axes], rows)
        nameless = parts_of(Picture.POINTS, axes, [(0.5, 0.25)])

        assert named["hasDiagonal"]
        assert [(row["name"], row["x"], row["y"]) for row in named["rows"]] == [
            ("1 of 2", 50.0, 55.0),
            ("2 of 2", 80.0, 75.0),
        ]
        (row,) = nameless["rows"]
        assert (row["name"], row["said"]) == ("", ["x: 50.0 %", "y: 25.0 %"])


class TestLines:
    def test_have_a_value_and_its_words_at_each_place(self):
        parts = parts_of(
            Picture.LINES,
            [Column("x", "Judges", ColumnKind.COUNT), *columns("ash", "beech", kind=SHARE)],
            [(2, 0.5, None), (None, 0.9, 0.9), (4, 0.61, 0.7)],
        )

        assert parts["places"] == [2.0, 4.0]
        assert parts["said"] == ["2", "4"]
        assert [one["name"] for one in parts["series"]] == ["Ash", "Beech"]
        assert [one["values"] for one in parts["series"]] == [[50.0, 61.0], [None, 70.0]]
        assert parts["series"][0]["texts"] == ["50.0 %", "61.0 %"]


class TestRadar:
    ROWS = (("ash", 0.6, 0.7, 0.65), ("beech", 0.5, 0.52, 0.4), ("cedar", 0.3, 0.2, None))

    def test_has_all_rows_on_one_scale_and_says_which_are_drawn(self):
        marked = [Column(key, key, SHARE, mark=0.5) for key in "HEA"]

        parts = parts_of(Picture.RADAR, [SYSTEM, *marked], self.ROWS, asked=["cedar", "ash"])

        drawn = {row["slug"]: row["isDrawn"] for row in parts["rows"]}
        assert drawn == {"ash": True, "beech": False, "cedar": True}
        assert parts["rows"][2]["values"] == [30.0, 20.0, None]
        assert parts["most"] == MOST
        # the least step of its rings
        assert (parts["least"], parts["mark"], parts["unit"]) == (5.0, 50.0, " %")


class TestFunnel:
    COLUMNS = (SYSTEM, *columns("x", "y", "centre", "low", "high"))
    ROWS = (("ash", 25, 0.9, 0.0, -0.4, 0.4), ("cedar", 100, 0.1, 0.0, -0.2, 0.2))

    def test_marks_what_is_outside_and_has_limits_in_curves(self):
        parts = parts_of(Picture.FUNNEL, self.COLUMNS, self.ROWS)

        assert [row["isOutside"] for row in parts["rows"]] == [True, False]
        high = parts["limits"]["high"]
        assert high[0] == [25.0, 0.4]
        assert high[-1] == [100.0, 0.2]
        # 0.4 at 25 and 0.2 at 100 are 2 / sqrt(x): at 40, by hand, 0.3162
        assert dict(map(tuple, high))[40.0] == pytest.approx(0.316228, abs=1e-6)
        assert parts["limits"]["outer_low"] == []


def test_says_that_it_is_simulated_if_any_name_in_it_is():
    keys = columns("value", "low", "high")
    rows = [("ash", 1.0, 0.0, 2.0), ("beech", 1.0, 0.0, 2.0)]

    parts = parts_of(Picture.WHISKERS, [SYSTEM, *keys], rows)

    assert parts["isSimulated"]
    assert [row.get("isSimulated", False) for row in parts["rows"]] == [False, True]
    assert "isSimulated" not in parts_of(Picture.WHISKERS, [SYSTEM, *keys], rows[:1])


@pytest.mark.parametrize(
    ("picture", "heads", "rows"),
    [
        (Picture.NONE, [], [("ash",)]),
        (Picture.HEAT, [Column("note", "Note", ColumnKind.TEXT)], [("ash", "so")]),
        (Picture.HEAT, columns("oak", "elm", kind=SHARE), [("ash", None, None)]),
        (Picture.WHISKERS, columns("value", "low", "high"), [("ash", None, 1.0, 2.0)]),
        (Picture.WHISKERS, columns("value", "low"), [("ash", 1.0, 2.0)]),
        (Picture.WHISKERS, columns("value", "low", "high"), []),
        (Picture.RADAR, columns("H", "E", kind=SHARE), [("ash", 0.5, 0.5)]),
        (Picture.FUNNEL, TestFunnel.COLUMNS[1:], TestFunnel.ROWS[:1]),
    ],
    ids=[
        "plain",
        "words",
        "no values",
        "no interval",
        "no high end",
        "no rows",
        "two axes",
        "one dot",
    ],
)
def test_a_table_that_cannot_be_drawn_has_no_chart(picture, heads, rows):
    assert chart_of(picture, [SYSTEM, *heads], rows) is None


def test_nobody_is_in_it_who_is_not_in_the_table():
    who = Column("evaluator", "Evaluator", ColumnKind.EVALUATOR)
    rows = [("R1", 0.1, 0.0, 0.2), ("R2", 0.2, 0.1, 0.3), ("judge-oak", 0.3, 0.2, 0.4)]

    parts = parts_of(Picture.WHISKERS, [who, *columns("value", "low", "high", kind=SHARE)], rows)

    assert [row["name"] for row in parts["rows"]] == ["Judge Oak"]
    assert "R1" not in json.dumps(parts)
