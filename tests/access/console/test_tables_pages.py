"""Tables of the console sort, filter and page on the server; also the log.

They leave as CSV, no cell of which runs as a formula: every writer of CSV goes through one place.
"""

import csv
import datetime as dt
import io
import re
from pathlib import Path

import pytest
from django.urls import reverse

from access.choices import Role
from access.console.csv_cells import csv_lines, defuse
from annotation.rationales.services.scanning import scan_rationales
from annotation.studies.services import states
from completions.choices import RunState
from tests.conftest import rolled_back
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_dataset,
    make_judge,
    make_judgment,
    make_rater,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_of_calls import make_generation_run, make_judge_run
from tests.helpers.factories_of_site import make_token_row
from tests.helpers.factories_written_once import make_log_entry, make_member, make_release
from tests.helpers.pages import rows_of, text

pytestmark = pytest.mark.django_db


DAY = dt.timedelta(days=1)
TABLES = [
    ("members:all", "members:csv", "-member", {"show": "analysts"}),
    ("tokens:all", "tokens:csv", "token", {"q": "first"}),
    ("people:retention", "people:retention_csv", "-n", {"show": "contact"}),
    ("console:personal_data", "console:personal_data_csv", "-judgment", {"q": "nobody"}),
    ("console:judge_runs", "console:judge_runs_csv", "run", {"show": "running"}),
    ("models:runs", "models:runs_csv", "run", {"show": "running"}),
    ("models:systems", "models:systems_csv", "-name", {"q": "first"}),
    ("console:all_judges", "console:all_judges_csv", "-name", {"q": "first"}),
]
OF_A_STUDY = ("personal_data", "judge_runs")


def where(name, study):
    is_of_a_study = name.removeprefix("console:").removesuffix("_csv") in OF_A_STUDY
    return reverse(name, args=[study.slug] if is_of_a_study else [])


def lines(staff, address, query):
    return b"".join(staff.get(address, query)).decode().splitlines()[1:]


@pytest.fixture(scope="class")
def study(module_rows):
    """The study of two rows for each table."""
    with rolled_back():
        make_member("ada", role=Role.ANALYST)
        for name in ("first", "second"):
            make_token_row(name=name, prefix=f"heart_{name[:4]}")
            make_system(name=f"{name} system", slug=f"{name}-system")
            make_judge(name=f"{name} judge", slug=f"{name}-judge")
        study = make_study()
        for reason in ("Write to ann@example.com.", "Call ann@example.com."):
            make_judgment(comparison=make_comparison(study=study), rationale=reason)
        scan_rationales(clock=lambda: NOW)
        for n_writers in (1, 2):
            dataset = make_dataset(frozen_at=NOW + n_writers * DAY)
            for n in range(n_writers):
                make_writer(dataset=dataset, email=f"{n}@example.org")
        for state, over in ((RunState.RUNNING, None), (RunState.CANCELLED, NOW)):
            make_judge_run(study=study, state=state, ended_at=over)
            make_generation_run(state=state, ended_at=over)
        yield study


class TestTables:
    @pytest.mark.parametrize(("page", "csv", "sort", "few"), TABLES)
    def test_sort_filter_and_are_downloaded(self, staff, study, page, csv, sort, few):
        shown, taken = where(page, study), where(csv, study)

        rows = lines(staff, taken, {})
        assert lines(staff, taken, {"sort": sort}) == rows[::-1]
        assert len(lines(staff, taken, few)) < len(rows)
        found = staff.get(shown, {"sort": sort, **few})
        assert found.status_code == 200
        assert f"{taken}?" in found.content.decode()
        for wrong in ({"sort": "x"}, {"show": "x"}):
            assert staff.get(shown, wrong).status_code == 404
            assert staff.get(taken, wrong).status_code == 404

    @pytest.mark.parametrize(
        ("page", "sentence"),
        [
            ("tokens:all", "No token is meant by that."),
            ("people:retention", "Nothing is meant by that."),
            ("console:personal_data", "No reason is meant by that."),
            ("console:judge_runs", "No run is meant by that."),
            ("models:runs", "No run is meant by that."),
            ("models:systems", "No system matches."),
            ("console:all_judges", "No judge matches."),
        ],
    )
    def test_say_that_a_search_found_nothing(self, staff, study, page, sentence):
        assert sentence in text(staff.get(where(page, study), {"q": "nobody has this"}))

    def test_keep_what_a_page_shows_in_a_search(self, staff, study):
        page = staff.get(where("console:personal_data", study), {"state": "RELEASED"})

        assert '<input type="hidden" name="state" value="RELEASED">' in page.content.decode()


def address(study=None, *, suffix=""):
    if study is None:
        return reverse(f"log:all{suffix}")
    return reverse(f"raters:log{suffix}", args=[study.slug])


def shown(client, study=None, **query):
    answer = client.get(address(study), query)
    assert answer.status_code == 200
    return answer


def actions(client, study=None, **query):
    return [row["action"] for row in rows_of(client.get(address(study, suffix="_csv"), query))]


class TestTheLogOfAStudy:
    def test_has_what_belongs_to_the_study_and_nothing_else(self, staff):
        study, other = make_study(slug="demo"), make_study(slug="my-demo")
        rater, run = make_rater(study=study), make_judge_run(study=study)
        release = make_release(study=study)
        own = (
            "study demo",
            f"rater {rater.code}",
            f"judge run {run.pk}",
            f"release {release.key}",
            "context c-1 in study demo",
            "comparison 7 of study demo",
            f"dataset {study.dataset.slug}",
        )
        strange = (
            "study my-demo",
            f"rater {make_rater(study=other).code}",
            f"judge run {make_judge_run(study=other).pk}",
            f"release {make_release(study=other).key}",
            "context c-1 in study my-demo",
            "context c-1 in study demo-2",
        )
        for subject in (*own, *strange):
            make_log_entry(subject=subject, action="tried")

        page = text(shown(staff, study))

        assert len(actions(staff, study)) == len(own)
        assert all(subject in page for subject in own)
        assert not any(subject in page for subject in strange)

    def test_has_an_act_once_it_is_done(self, staff):
        study, boss = make_study(), make_member("boss")

        states.pause_study(study=study, now=NOW, by=boss)

        assert "boss study.paused" in text(shown(staff, study))


class TestTheWholeLog:
    def test_shows_before_and_after_and_leaves_out_what_stayed(self, staff):
        make_log_entry(
            before={"quota": 3, "state": "OPEN", "gone": [1]},
            after={"quota": 5, "state": "OPEN", "reason": "<b>More</b>"},
        )

        page = shown(staff).content.decode()

        assert "<del>3</del>" in page
        assert "<ins>5</ins>" in page
        assert "<del>[1]</del>" in page
        assert "&lt;b&gt;More&lt;/b&gt;" in page
        assert "OPEN" not in page

    def test_can_be_filtered_by_everything(self, staff):
        boss = make_member("boss")
        make_log_entry(action="a.done", subject="study one", by=boss, at=NOW)
        make_log_entry(action="b.done", subject="rater R1", at=NOW + DAY)
        make_log_entry(action="c.done", subject="study two", by=boss, at=NOW + 2 * DAY)

        assert actions(staff, action="a.done") == ["a.done"]
        assert actions(staff, by="boss") == ["c.done", "a.done"]
        assert actions(staff, by="-") == ["b.done"]
        assert actions(staff, subject="STUDY") == ["c.done", "a.done"]
        assert actions(staff, since=(NOW + DAY).date()) == ["c.done", "b.done"]
        assert actions(staff, until=(NOW + DAY).date()) == ["b.done", "a.done"]

    @pytest.mark.parametrize(
        ("asked", "wanted"),
        [
            ({"until": "9999-12-31"}, ["late.done", "early.done"]),
            ({"until": "0001-01-01"}, []),
            ({"since": "0001-01-01"}, ["late.done", "early.done"]),
            ({"since": "9999-12-31"}, []),
            ({"since": f"{NOW:%Y-%m-%d}", "until": f"{NOW:%Y-%m-%d}"}, ["late.done", "early.done"]),
        ],
    )
    def test_takes_days_whole_up_to_the_first_and_the_last(self, staff, asked, wanted):
        day = NOW.replace(hour=0, minute=0, second=0, microsecond=0)
        make_log_entry(action="early.done", at=day)
        make_log_entry(action="late.done", at=day + DAY - dt.timedelta(microseconds=1))

        assert actions(staff, **asked) == wanted

    @pytest.mark.parametrize(
        ("sort", "wanted"),
        [("at", "ab"), ("-at", "ba"), ("action", "ab"), ("-action", "ba"), ("subject", "ba")],
    )
    def test_can_be_sorted(self, staff, sort, wanted):
        make_log_entry(action="a", subject="z", at=NOW)
        make_log_entry(action="b", subject="y", at=NOW + DAY)

        assert "".join(actions(staff, sort=sort)) == wanted

    def test_comes_in_pages_that_keep_the_filter(self, staff):
        for number in range(60):
            make_log_entry(action=f"act.{number}", at=NOW + number * DAY)

        page = shown(staff, subject="study", page="2").content.decode()

        assert "Page 2 of 2" in page
        assert "?subject=study&amp;page=1" in page
        assert page.count('scope="row"') == 10

    @pytest.mark.parametrize("query", [{"since": "yesterday"}, {"sort": "luck"}])
    def test_says_what_is_amiss_with_an_address(self, staff, query):
        assert staff.get(address(), query).status_code == 422
        assert staff.get(address(suffix="_csv"), query).status_code == 422

    def test_is_told_from_a_study_of_its_name(self, staff):
        assert reverse("log:all") == "/console/log/"
        assert staff.get("/console/log/").status_code == 200


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


@pytest.mark.parametrize(
    ("page", "searched"),
    [("members:all", "Name or address"), ("tokens:all", "Token, name or owner")],
)
def test_what_a_search_looks_in_is_said_of_no_field_below(client, page, searched):
    client.force_login(make_member())

    assert text(client.get(reverse(page))).count(searched) == 1
