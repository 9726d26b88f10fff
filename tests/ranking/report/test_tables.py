"""Findings as tables on a page: what is written, shaded, drawn and kept from whom."""

import pytest

from ranking.findings import ALL_JUDGES, Column, ColumnKind, Picture, Table
from ranking.plots.tables import Shades
from ranking.report.names import FEWEST_TOGETHER, Name, Names, public_table
from ranking.report.tables import shown_table
from ranking.report.written import written

NAMES = Names(
    systems={"ash": Name("Ash"), "beech": Name("Simulated Beech", is_simulated=True)},
    judges={"judge-oak": Name("Judge Oak")},
    people=frozenset({"R1", "R2", "R3", "R4", "R5", "R6"}),
)
STAFF = Names(systems=NAMES.systems, judges=NAMES.judges, shows_people=True)
NAME = Column("system", "System", ColumnKind.SYSTEM)
WHO = Column("evaluator", "Evaluator", ColumnKind.EVALUATOR)
ENDS = [Column(key, key, ColumnKind.SHARE) for key in ("value", "low", "high")]


def make_table(*columns, rows, picture=Picture.NONE, **fields):
    words = {"key": "t", "title": "T", "caption": "How to read it."}
    return Table(columns=columns, rows=tuple(rows), picture=picture, **words | fields)


def shown_of(*columns, rows, picture=Picture.NONE):
    return shown_table(make_table(*columns, rows=rows, picture=picture), NAMES)


class TestWritten:
    @pytest.mark.parametrize(
        ("cell", "kind", "text"),
        [
            (None, ColumnKind.ELO, "\N{EN DASH}"),
            (12.6, ColumnKind.ELO, "13"),
            (-12.6, ColumnKind.ELO, "\N{MINUS SIGN}13"),
            (-0.2, ColumnKind.ELO, "0"),
            (0.6249, ColumnKind.SHARE, "62.5 %"),
            (4667, ColumnKind.COUNT, "4,667"),
            (1547.4, ColumnKind.ELO, "1547"),
            (0.00002, ColumnKind.P_VALUE, "< 0.001"),
            (0.0415, ColumnKind.P_VALUE, "0.042"),
            (3.14159, ColumnKind.NUMBER, "3.14"),
            (0.031415, ColumnKind.NUMBER, "0.0314"),
            (1234.5, ColumnKind.NUMBER, "1,234"),
            (2.0, ColumnKind.NUMBER, "2"),
            (True, ColumnKind.TEXT, "yes"),
            (False, ColumnKind.TEXT, "no"),
            ("as it is", ColumnKind.TEXT, "as it is"),
        ],
    )
    def test_is_as_precise_as_its_kind(self, cell, kind, text):
        assert written(cell, kind) == text

    def test_leaves_per_cent_to_the_words_around_a_map(self):
        assert written(0.625, ColumnKind.SHARE, is_terse=True) == "62"


class TestRowsOfNothing:
    COLUMNS = (
        Column("theme", "Theme", ColumnKind.TEXT),
        Column("n", "Times", ColumnKind.COUNT),
        Column("value", "Share", ColumnKind.SHARE),
        Column("p", "p", ColumnKind.P_VALUE),
    )
    ROWS = (("Warmth", 3, 0.5, 0.2), ("Safety", 0, 0.0, 1.0), ("Length", 0, None, None))

    def names(self, rows):
        return [row.head.text for row in rows]

    @pytest.mark.parametrize(
        ("rows", "telling", "folded"),
        [(ROWS, ["Warmth"], ["Safety", "Length"]), (ROWS[1:], ["Safety", "Length"], [])],
        ids=["below those that tell something", "not where there are no others"],
    )
    def test_are_folded(self, rows, telling, folded):
        shown = shown_of(*self.COLUMNS, rows=rows)

        assert self.names(shown.telling) == telling
        assert self.names(shown.folded) == folded

    def test_of_words_alone_are_no_rows_of_nothing(self):
        assert len(shown_of(self.COLUMNS[0], NAME, rows=[("Warmth", "ash")]).telling) == 1

    @pytest.mark.parametrize("picture", [Picture.HEAT, Picture.LINES, Picture.POINTS])
    def test_of_maps_and_curves_stay_in_their_places(self, picture):
        assert shown_of(*self.COLUMNS, rows=self.ROWS, picture=picture).folded == ()


class TestShades:
    @pytest.mark.parametrize(
        ("values", "kind", "middle"),
        [
            ([0.2, 0.9], ColumnKind.SHARE, 0.5),
            ([-3.0, 1.0], ColumnKind.NUMBER, 0.0),
            ([10.0, 20.0], ColumnKind.ELO, 10.0),
            ([1450.0, 1600.0], ColumnKind.ELO, 1500.0),
            ([-20.0, 30.0], ColumnKind.ELO, 0.0),
            ([-0.2, 0.1], ColumnKind.SHARE, 0.0),
            ([0.1, 0.4], ColumnKind.SHARE, 0.1),
            ([], ColumnKind.NUMBER, 0.0),
        ],
    )
    def test_has_the_middle_of_its_kind(self, values, kind, middle):
        assert Shades.of(values, kind).start == middle

    @pytest.mark.parametrize(
        ("values", "kind", "shades"),
        [
            ([0.0, 1.0], ColumnKind.SHARE, {1.0: "up5", 0.0: "down5", 0.5: "", 0.61: "up1"}),
            ([0.1, 0.2, 0.4], ColumnKind.SHARE, {0.1: "", 0.25: "up2", 0.4: "up5"}),
            ([0.0, 0.0], ColumnKind.NUMBER, {0.0: ""}),
        ],
        ids=["two ways", "from pale to dark on one side", "nothing where all is the same"],
    )
    def test_shades(self, values, kind, shades):
        shades_of = Shades.of(values, kind)

        assert {value: shades_of.step(value) for value in shades} == shades

    @pytest.mark.parametrize("values", [[0.1, 0.2, 0.4], [0.1, 0.6], [0.4, 0.9]])
    def test_reaches_as_far_below_the_middle_as_above(self, values):
        assert Shades.of(values, ColumnKind.SHARE).low == pytest.approx(0.1)


class TestShownTable:
    def test_names_systems_and_says_which_are_simulated(self):
        shown = shown_of(NAME, rows=[("ash",), ("beech",), ("gone",)])

        heads = [(row.head.text, row.head.is_simulated) for row in shown.rows]
        assert heads == [("Ash", False), ("Simulated Beech", True), ("gone", False)]

    @pytest.mark.parametrize(
        ("who", "key", "headers"),
        [
            (NAME, "beech", [("System", False), ("Simulated Beech", True)]),
            (WHO, "judge-oak", [("Evaluator", False), ("Judge Oak", False)]),
        ],
        ids=["systems", "judges"],
    )
    def test_names_the_columns_of_a_matrix(self, who, key, headers):
        columns = [who, Column(key, key, ColumnKind.SHARE)]

        shown = shown_of(*columns, rows=[(key, None)])

        assert [(header.text, header.is_simulated) for header in shown.headers] == headers

    def test_plots_points_by_name_over_their_diagonal_in_per_cent(self):
        axes = [Column("x", "Told", ColumnKind.SHARE), Column("y", "Seen", ColumnKind.SHARE)]
        other = Column("other", "Other", ColumnKind.SYSTEM)
        rows = [("ash", "beech", 0.2, 0.3), ("beech", "ash", None, 0.1), ("beech", "ash", 0.6, 0.5)]

        plot = shown_of(NAME, other, *axes, rows=rows, picture=Picture.POINTS).plot

        names = [dot.name for dot in plot.dots]
        assert names == ["Ash and Simulated Beech", "Simulated Beech and Ash"]
        assert plot.diagonal is not None
        assert (plot.x_label, plot.y_label) == ("Told, %", "Seen, %")
        assert [tick.text for tick in plot.x_ticks] == ["20", "30", "40", "50", "60"]

    def test_shades_a_heat_map_and_leaves_gaps(self):
        columns = [NAME, *(Column(key, key, ColumnKind.SHARE) for key in ("ash", "beech"))]
        rows = [("ash", None, 0.9), ("beech", 0.1, None)]

        shown = shown_of(*columns, rows=rows, picture=Picture.HEAT)

        assert (shown.is_heat, shown.is_in_per_cent) == (True, True)
        shades = [[cell.shade for cell in row.cells] for row in shown.rows]
        assert shades == [["", "up5"], ["down5", ""]]

    def test_shades_no_counts_beside_shares(self):
        columns = [NAME, Column("a", "A", ColumnKind.SHARE), Column("n", "N", ColumnKind.COUNT)]
        rows = [("ash", 0.9, 40), ("beech", 0.2, 9)]

        (row, _) = shown_of(*columns, rows=rows, picture=Picture.HEAT).rows

        assert [bool(cell.shade) for cell in row.cells] == [True, False]

    def test_draws_an_interval_in_each_row_that_has_one(self):
        rows = [("ash", 0.6, 0.4, 0.8), ("beech", None, None, None)]

        shown = shown_of(NAME, *ENDS, rows=rows, picture=Picture.WHISKERS)

        known, unknown = shown.rows
        assert known.whisker.centre is not None
        assert unknown.whisker is None
        assert {tick.text for tick in shown.ticks} >= {"50", "60"}

    def test_holds_intervals_against_what_their_kind_asks_for(self):
        rows = [("ash", 0.5, 0.4, 0.7)]

        (row,) = shown_of(NAME, *ENDS, rows=rows, picture=Picture.WHISKERS).rows

        assert row.whisker.low < row.whisker.centre == row.whisker.middle < row.whisker.high

    def test_plots_a_line_for_each_column_of_numbers(self):
        x, ash = Column("x", "Judgments", ColumnKind.COUNT), Column("ash", "ash", ColumnKind.ELO)
        note = Column("note", "Note", ColumnKind.TEXT)
        rows = [(10, 1500.0, "first"), (20, 1510.0, "second")]

        plot = shown_of(x, ash, note, rows=rows, picture=Picture.LINES).plot

        assert [line.name for line in plot.lines] == ["Ash"]

    @pytest.mark.parametrize("picture", list(Picture))
    def test_is_a_plain_table_where_the_picture_lacks_its_columns_or_rows(self, picture):
        columns = [NAME, Column("words", "Words", ColumnKind.TEXT)]

        for rows in ([("ash", "x")], []):
            shown = shown_of(*columns, rows=rows, picture=picture)

            assert shown.plot is None
            assert not shown.has_whiskers


class TestPeople:
    TABLE = make_table(
        WHO,
        Column("weight", "Weight"),
        rows=[("judge-oak", 9.0), *((f"R{n}", float(n)) for n in range(1, 6))],
        caption="R1 stands out, R10 does not.",
    )

    def test_are_shown_together_to_the_public(self):
        table, n_hidden = public_table(self.TABLE, NAMES)

        assert n_hidden == 5
        assert table.rows == (("judge-oak", 9.0), ("5 people, median", 3.0))
        assert table.caption == "one person stands out, R10 does not."

    def test_are_shown_one_by_one_to_staff(self):
        table, n_hidden = public_table(self.TABLE, STAFF)

        assert (table, n_hidden) == (self.TABLE, 0)

    def test_are_not_meant_where_all_judges_are_taken_together(self):
        share = Column("value", "Agreement", ColumnKind.SHARE)
        rows = [("judge-oak", 0.8), (ALL_JUDGES, 0.9)]

        shown = shown_of(WHO, share, rows=rows)

        assert [row.head.text for row in shown.rows] == ["Judge Oak", "majority of the judges"]
        assert shown.n_hidden == 0

    @pytest.mark.parametrize(
        ("columns", "rows", "kept"),
        [
            ([WHO, Column("w", "W")], [("R1", 1.0), ("R2", 2.0)], ()),
            ([WHO], [("gone",)], ()),
            (
                [WHO, Column("other", "Other", ColumnKind.EVALUATOR)],
                [("judge-oak", "R1"), ("R2", "judge-oak"), ("judge-oak", "judge-oak")],
                (("judge-oak", "judge-oak"),),
            ),
        ],
        ids=["too few for a median", "unknown", "in pairs of evaluators"],
    )
    def test_are_left_out(self, columns, rows, kept):
        table, n_hidden = public_table(make_table(*columns, rows=rows), NAMES)

        assert table.rows == kept
        assert n_hidden == len(rows) - len(kept) < FEWEST_TOGETHER

    def test_as_columns_are_left_out(self):
        columns = [NAME, Column("R2", "R2"), Column("judge-oak", "Judge Oak")]

        table, _ = public_table(make_table(*columns, rows=[("ash", 1.0, 2.0)]), NAMES)

        assert [column.key for column in table.columns] == ["system", "judge-oak"]
        assert table.rows == (("ash", 2.0),)

    def test_are_taken_out_of_words_in_cells(self):
        note = Column("note", "Note", ColumnKind.TEXT)

        table, _ = public_table(make_table(NAME, note, rows=[("ash", "without R3")]), NAMES)

        assert table.rows == (("ash", "without one person"),)
