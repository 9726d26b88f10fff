"""The rows of exports: complete, explained, and the same in every form."""

import csv
import datetime as dt
import io
import json
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from access.console.csv_cells import defuse
from annotation.choices import Protocol, Side
from annotation.models import Judgment, Study
from completions.choices import SystemKind
from completions.models import Dataset
from ranking.exports.arrays import arrow_array
from ranking.exports.data_dictionary import Kind
from ranking.exports.options import ExportFormat, ExportRefusedError, ExportRequest
from ranking.exports.sources import columns_of, export_of
from ranking.exports.tables import TABLES, WHY_NOT
from ranking.exports.writing import file_name, written
from ranking.judgments import analysis_set
from tests.helpers.factories import (
    make_alone,
    make_comparison,
    make_judge,
    make_judge_call,
    make_judgment,
    make_llm_judgment,
    make_rater,
    make_study,
)
from tests.helpers.factories_of_site import make_batch, make_batch_decision, make_external
from tests.helpers.factories_written_once import make_imported_completion
from tests.helpers.judged import make_marked_judgment
from tests.helpers.released import LATER, make_mixed_study

pytestmark = pytest.mark.django_db
USUAL = ExportRequest()
PLAIN = [table.name for table in TABLES if not table.is_nested]
AT = dt.datetime(1969, 7, 20, 20, 17, 40, 123456, tzinfo=dt.UTC)
KINDS: dict[Any, list[Any]] = {
    pa.string(): ["", "Zoë\n\U0001f600", "a"],
    pa.int64(): [0, -(2**62), 7],
    pa.float64(): [0.1, -0.0, float("inf")],
    pa.bool_(): [True, False, True],
    pa.timestamp("us", tz="UTC"): [AT, AT + dt.timedelta(days=40_000), AT],
}


@pytest.fixture(scope="module")
def kept(module_rows):
    return make_mixed_study().pk


@pytest.fixture
def study(kept):
    return Study.objects.get(pk=kept)


def export(study, name="judgments", asked=USUAL, now=LATER):
    return export_of(study, name, asked, now=now)


def content(study, name, form, **options):
    table, rows = export(study, name)
    return b"".join(written(table, rows, form, **options))


def records(study, name="judgments", asked=USUAL, now=LATER):
    table, rows = export(study, name, asked, now)
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in rows]


class TestJudgments:
    def test_count_exactly_when_the_analysis_counts_them_and_say_why_where_not(self, study):
        counting = set(analysis_set.analysis_set(study=study, as_of=LATER))
        judgments = Judgment.objects.filter(comparison__study=study).order_by("pk")

        found = records(study)

        assert [one["counts"] for one in found] == [one in counting for one in judgments]
        assert [one["counts"] for one in found] == [one["why_not"] == "" for one in found]
        assert {one["why_not"] for one in found} == {"", *WHY_NOT} - {"not_main"}
        by_reason = {one["why_not"]: one for one in found}
        assert by_reason["rater_excluded"]["exclusion"] == "pace v1"
        assert by_reason["judge_excluded"]["exclusion"] == "by hand"
        assert by_reason[""]["exclusion"] is None  # also where a decision was taken back
        surplus, revised = by_reason["surplus"], by_reason["revised"]
        assert (surplus["is_surplus"], surplus["is_revised"]) == (True, False)
        assert (revised["is_surplus"], revised["is_revised"]) == (False, True)

    def test_of_a_simulated_study_count_for_programs(self):
        study = make_study(is_simulated=True, title="A simulated study")
        program = make_rater(study=study, is_simulated=True)
        make_judgment(comparison=make_comparison(study=study), rater=program)

        (one,) = records(study)

        assert (one["counts"], one["is_simulated_study"]) == (True, True)

    def test_stand_in_the_canonical_frame_and_in_the_order_drawn(self, study):
        pair, rater = make_comparison(study=study), make_rater(study=study)
        given = {"verdict": -2, "first_side": Side.B, "chips": "heard warm"}
        make_judgment(comparison=pair, rater=rater, rationale="Warm.", **given)

        found = records(study)[-1]

        first, second = pair.first.system.slug, pair.second.system.slug
        told = {
            "comparison": pair.key,
            "first_system": first,
            "rater": rater.code,
            "rater_id": rater.code,
            "judge": None,
            "verdict": -2,
            "side_of_first": "B",
            "system_a": second,
            "system_b": first,
            "winner": "a",
            "strength": 4,
            "rationale": "Warm.",
            "chips": "heard warm",
            "protocol_hash": study.protocol_hash,
            "is_revised": False,
            "mark_H": None,
        }
        assert found.items() >= told.items()

    def test_of_judges_say_how_they_were_asked_how_sure_they_were_and_what_they_marked(self):
        comparison = make_comparison()
        call = make_judge_call(
            comparison=comparison,
            sample=2,
            first_probability=0.25,
            prompt_hash="f" * 64,
            asked={"addressed": {"first": ["plays-role"]}},
        )
        make_llm_judgment(comparison=comparison, judge=call.judge, judge_call=call)
        make_marked_judgment(comparison, make_judge(name="Judge Ash"), -3)
        make_judgment(comparison=comparison)

        rows = records(comparison.study)

        asked = ("sample", "first_probability", "addresses_judge", "prompt_hash")
        assert [tuple(row[name] for name in asked) for row in rows] == [
            (2, 0.25, True, "f" * 64),
            (0, None, False, ""),
            (None, None, False, None),
        ]
        marked = ("judge", "rater", "mark_H", "mark_E", "mark_A")
        assert [rows[1][name] for name in marked] == ["Judge Ash", None, -3, 0, None]

    def test_of_messages_alone_have_no_winner(self):
        study = make_study(protocol=Protocol.LIKERT)
        make_judgment(comparison=make_alone(study=study), protocol=Protocol.LIKERT, verdict=None)

        (one,) = records(study)

        assert (one["winner"], one["strength"], one["second_completion"]) == (None, None, None)
        assert one["counts"] is True

    def test_tell_no_system_when_blinded(self, study):
        slugs = {one["first_system"] for one in records(study)}

        found = records(study, asked=ExportRequest(is_blinded=True))

        assert not slugs & {cell for one in found for cell in one.values()}
        for one in found:
            assert bool(one["first_completion"]) is (one["why_not"] != "text_erased")

    def test_leave_the_words_of_reasons_out_on_request(self, study):
        assert "rationale" not in records(study, asked=ExportRequest(with_rationales=False))[0]

    def test_are_fetched_in_batches(self, study, monkeypatch):
        fetched = []
        monkeypatch.setattr("ranking.exports.rows.BATCH", 5)
        real = type(study.comparisons.all()).iterator

        def spy(self, chunk_size=None):
            fetched.append(chunk_size)
            return real(self, chunk_size=chunk_size)

        monkeypatch.setattr("django.db.models.query.QuerySet.iterator", spy)
        _, rows = export(study)

        first = next(rows)

        assert not isinstance(rows, list)
        assert fetched == [5]
        assert len(first) == len(export(study)[0].columns)


class TestForms:
    @pytest.mark.parametrize("name", PLAIN)
    def test_hold_the_same_rows(self, study, name, monkeypatch):
        monkeypatch.setattr("ranking.exports.writing.GROUP", 7)
        columns = export(study, name)[0].columns

        text = content(study, name, ExportFormat.CSV).decode()
        read = list(csv.DictReader(io.StringIO(text, newline="")))
        lines = [json.loads(one) for one in content(study, name, ExportFormat.JSONL).splitlines()]
        table = parquet.read_table(io.BytesIO(content(study, name, ExportFormat.PARQUET)))
        kept = table.to_pylist()

        assert len(read) == len(lines) == len(kept) > 0
        for one, line, row in zip(read, lines, kept, strict=True):
            assert list(one) == list(line) == list(row) == [column.name for column in columns]
            for column in columns:
                assert as_json(column, row[column.name]) == line[column.name]
                assert one[column.name] == as_csv(column, line[column.name])

    def test_of_parquet_have_groups_of_rows(self, study, monkeypatch):
        monkeypatch.setattr("ranking.exports.writing.GROUP", 10)

        file = parquet.ParquetFile(io.BytesIO(content(study, "judgments", ExportFormat.PARQUET)))

        assert file.metadata.num_row_groups == -(-file.metadata.num_rows // 10)
        assert file.schema_arrow.field("submitted_at").type.tz == "UTC"

    def test_of_a_study_without_rows_have_their_columns(self):
        study = make_study()

        assert content(study, "judgments", ExportFormat.CSV).startswith(b"comparison,context,")
        assert content(study, "judgments", ExportFormat.JSONL) == b""
        table = parquet.read_table(io.BytesIO(content(study, "judgments", ExportFormat.PARQUET)))
        assert table.num_rows == 0
        assert "mark_H" in table.column_names

    def test_of_csv_begin_before_any_row_is_read(self, study):
        def unread():
            yield pytest.fail("a row was read")

        blocks = written(export(study)[0], unread(), ExportFormat.CSV)

        assert b"why_not" in next(blocks)

    def test_of_csv_begin_with_a_mark_on_request_and_defuse_what_would_run(self, study):
        found = content(study, "judgments", ExportFormat.CSV, bom=True)

        assert found.startswith(b"\xef\xbb\xbfcomparison,")
        assert "'=2+2" in found.decode()

    @pytest.mark.parametrize("kind", KINDS, ids=str)
    @pytest.mark.parametrize("n", [0, 1, 9, 33])
    def test_of_parquet_have_the_columns_that_pyarrow_makes(self, kind, n):
        values = ([*KINDS[kind], None] * n)[:n]

        for given in (values, [one for one in values if one is not None]):
            found = arrow_array(given, kind)
            found.validate(full=True)
            assert found.equals(pa.array(given, kind))

    def test_of_parquet_take_no_value_of_another_kind(self):
        with pytest.raises(TypeError):
            arrow_array([1.5], pa.int64())


def as_json(column, cell):
    if isinstance(cell, dt.datetime):
        return cell.isoformat()
    return json.loads(cell) if column.kind is Kind.JSON and cell is not None else cell


def as_csv(column, cell):
    if column.kind is Kind.JSON:
        return "" if cell is None else json.dumps(cell, ensure_ascii=False)
    return "" if cell is None else str(defuse(cell))


class TestTexts:
    def test_leave_only_with_a_licence_that_is_known_to_let_them(self, study):
        Dataset.objects.update(licence="All rights reserved")
        study.dataset.refresh_from_db()

        contexts = records(study, "contexts")

        assert {(one["turns"], one["situation"], one["has_text"]) for one in contexts} == {
            (None, None, False)
        }
        assert all(one["n_turns"] > 0 for one in contexts)
        assert all(one["text"] for one in records(study, "completions") if not one["is_erased"])
        with pytest.raises(ExportRefusedError, match="All rights reserved"):
            export(study, "preferences")

    def test_come_with_the_licence(self, study):
        Dataset.objects.update(licence="CC BY-NC 4.0", is_authored=False)
        study.dataset.refresh_from_db()

        (first, *_) = records(study, "contexts")

        assert first["has_text"]
        assert first["turns"][0]["role"] == "seeker"
        assert first["licence"] == "CC BY-NC 4.0"

    def test_of_deleted_completions_are_empty(self, study):
        erased = [one for one in records(study, "completions") if one["is_erased"]]

        assert [one["text"] for one in erased] == [""]

    @pytest.mark.parametrize("name", ["judgments", "comparisons", "completions", "external"])
    def test_that_were_deleted_are_named_by_nothing_that_confirms_a_guess(self, study, name):
        pair = study.comparisons.exclude(first__erased_at=None).get()
        make_external(batch=make_batch(study=study), comparison=pair)

        found = records(study, name)

        told = {one for row in found for one in row.values()}
        assert not told & {pair.key, pair.first.content_hash}
        if name != "completions":
            (row,) = [one for one in found if one["comparison"] == f"deleted-{pair.pk}"]
            hashes = ("first_completion", "second_completion")
            assert [row[one] for one in hashes] == ["", pair.second.content_hash]
            assert row.get("position") is None

    def test_say_which_were_made_elsewhere_and_where(self, study):
        text = study.comparisons.exclude(first__system__kind=SystemKind.HUMAN)[0].first
        make_imported_completion(completion=text, source="run 7", model_version="ash-2026")

        (row,) = [one for one in records(study, "completions") if one["is_brought_in"]]

        told = ("completion", "source", "model_version")
        assert [row[name] for name in told] == [text.content_hash, "run 7", "ash-2026"]
        blinded = records(study, "completions", ExportRequest(is_blinded=True))
        assert not {"is_brought_in", "source", "model_version"} & set(blinded[0])


class TestRaters:
    def test_have_their_newest_decision_and_no_name_of_a_platform(self, study):
        rater = make_rater(
            study=study, platform="PROLIFIC", external_id="5f1d-secret", session={"x": "secret2"}
        )
        make_judgment(comparison=study.comparisons.first(), rater=rater)

        found = records(study, "raters")

        by_rule = {one["exclusion"]: one["is_excluded"] for one in found}
        assert by_rule == {None: None, "pace v1": True, "by hand": False}
        assert sum(one["n_checks"] for one in found) == 1
        for name in ("raters", "judgments"):
            assert "secret" not in content(study, name, ExportFormat.JSONL).decode()


class TestComparisons:
    def test_count_their_judgments(self, study):
        found = records(study, "comparisons")

        assert sum(one["n_people"] + one["n_judges"] for one in found) == len(records(study))


class TestNames:
    def test_say_simulated_if_anything_is(self, study):
        real = make_judgment().comparison.study

        names = [file_name(one, "raters", ExportFormat.CSV) for one in (study, real)]

        assert names == [f"simulated-{study.slug}-raters.csv", f"{real.slug}-raters.csv"]

    def test_of_no_export_are_refused(self, study):
        with pytest.raises(ExportRefusedError, match="judgments, comparisons"):
            export(study, "secrets")


def test_judgments_made_elsewhere_have_their_source_and_are_in_no_other_export(study):
    before = content(study, "judgments", ExportFormat.CSV)
    batch = make_batch(study=study)
    pair = make_comparison(study=study)
    make_external(batch=batch, comparison=pair, verdict=-2, marks={"H": 1})
    out = make_external(batch=make_batch(study=study, source="=Lab"), comparison=pair)
    make_batch_decision(batch=out.batch)

    _, first, second = records(study, "external")

    told = ("source", "comparison", "verdict", "is_excluded", "collected_from")
    assert [first[name] for name in told] == ["Lab Elm", pair.key, -2, False, "2026-01-05"]
    assert second["is_excluded"] is True
    assert first["first_system"] == pair.first.system.slug
    assert "first_system" not in records(study, "external", ExportRequest(is_blinded=True))[0]
    assert b"'=Lab" in content(study, "external", ExportFormat.CSV)
    assert content(study, "judgments", ExportFormat.CSV) == before


def test_every_column_is_of_the_dictionary_and_explained_in_words(study):
    for table in TABLES:
        found = [column.name for column in columns_of(study, table, USUAL)]

        assert found == [column.name for column in table.of(["H", "E", "A", "R", "T"])]
        assert len(set(found)) == len(found)
        assert all(len(column.meaning.split()) > 1 for column in table.columns)
