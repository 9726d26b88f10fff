"""No cell of any table runs as a formula, and every writer of CSV goes through one place."""

import csv
import datetime as dt
import io
import re
from pathlib import Path

import pytest

from access.console.csv_cells import csv_lines, defuse

ROOT = Path(__file__).resolve().parents[3]
APPS = ("access", "annotation", "completions", "heart_site", "ranking")


class TestDefuse:
    @pytest.mark.parametrize(
        "text",
        [
            *("=1+1", "+1", "-1+1", "-x", "-", "@x", "\tx", "\rx", "\nx"),
            *("-1\n", "-٣", "-1.", "-1e", "--1"),  # no numbers, though they begin like one
        ],
    )
    def test_puts_an_apostrophe_before_what_could_run(self, text):
        assert defuse(text) == f"'{text}"

    @pytest.mark.parametrize(
        "cell",
        [
            *("1-1", "plain", "", -2, -0.47, 0.5, True, None, "-1", "-0.47", "-1e-05", "-2.5E+3"),
            *("Try:\n- tea\n- don't rush; rest.", "fine ;-) (really!)", "so; -(", "a=b;c"),
            "a\n\n-- me",
        ],
    )
    def test_leaves_all_else_alone_also_lists_and_faces(self, cell):
        assert defuse(cell) == cell
        assert type(defuse(cell)) is type(cell)

    @pytest.mark.parametrize(
        ("text", "safe"),
        [
            ("a;=cmd|' /C calc'!A0;", "a;'=cmd|' /C calc'!A0;"),
            ("a\t+HYPERLINK(1)", "a\t'+HYPERLINK(1)"),
            ("a\r\n@SUM(1)", "a\r\n'@SUM(1)"),
            ("a\n=1\n=2", "a\n'=1\n'=2"),
            ('a;"=1;', "a;\"'=1;"),
            ("a;-2+cmd|'x'!A0", "a;'-2+cmd|'x'!A0"),
            ("a\n- b ('x'#$c.A1)", "a\n'- b ('x'#$c.A1)"),
            ("=a;=b", "'=a;'=b"),
        ],
    )
    def test_does_so_too_where_other_separators_part_a_text(self, text, safe):
        assert defuse(text) == safe


class TestCsvLines:
    def test_are_read_back_by_a_reader_of_csv(self):
        rows = [("a", "b"), ('say "no"', "two\nlines"), (-0.47, None)]

        read = list(csv.reader(io.StringIO("".join(csv_lines(rows)), newline="")))  # type: ignore[arg-type]

        assert read == [["a", "b"], ['say "no"', "two\nlines"], ["-0.47", ""]]

    @pytest.mark.parametrize("separator", [",", ";", "\t"])
    @pytest.mark.parametrize("before", [";", "\t", "\n", "\r\n", ';"', '\t"', '\n"'])
    @pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
    def test_hold_no_formula_for_whichever_separator(self, separator, before, sign):
        text = "".join(csv_lines([[1, f"a{before}{sign}cmd|'x'!A0;", "b"]]))

        read = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))

        assert [cell for row in read for cell in row if cell.startswith(sign)] == []

    def test_write_times_as_iso_8601(self):
        (line,) = csv_lines([[dt.datetime(2026, 1, 2, tzinfo=dt.UTC)]])

        assert line == "2026-01-02T00:00:00+00:00\r\n"

    def test_begin_with_one_byte_order_mark_if_asked(self):
        text = "".join(csv_lines([["a"], ["b"]], bom=True))

        assert text.encode() == b"\xef\xbb\xbfa\r\nb\r\n"


def test_nobody_writes_csv_by_another_way():
    ways = re.compile(r"csv\.(writer|DictWriter)\(|\.to_csv\(")
    modules = (path for app in APPS for path in (ROOT / app).rglob("*.py"))

    found = [str(path.relative_to(ROOT)) for path in modules if ways.search(path.read_text())]

    assert found == ["access/console/csv_cells.py"]
