"""The rows of exports: complete, explained, and the same in every form."""

import csv
import datetime as dt
import io
import json

import pytest
from pyarrow import parquet

from access.console.csv_cells import defuse
from annotation.choices import Protocol
from annotation.models import Judgment, Study
from completions.choices import SystemKind
from completions.models import Dataset
from ranking.exports import rows as export_rows
from ranking.exports.data_dictionary import JUDGMENTS, TABLES, WHY_NOT, Kind
from ranking.exports.rows import ExportFormat, ExportRefusedError, ExportRequest
from ranking.exports.rows.sources import columns_of
from ranking.judgments import analysis_set
from tests.helpers.factories import (
    make_alone,
    make_comparison,
    make_judgment,
    make_rater,
    make_study,
)
from tests.helpers.factories_of_site import make_batch, make_batch_decision, make_external
from tests.helpers.factories_written_once import make_imported_completion
from tests.helpers.released import LATER, make_mixed_study

pytestmark = pytest.mark.django_db
USUAL = ExportRequest()
PLAIN = [table.name for table in TABLES if not table.is_nested]


@pytest.fixture(scope="module")
def kept(module_rows):
    return make_mixed_study().pk


@pytest.fixture
def study(kept):
    return Study.objects.get(pk=kept)


def export(study, name="judgments", asked=USUAL, now=LATER):
    return export_rows.export_of(study, name, asked, now=now)


def content(study, name, form, **options):
    return b"".join(export_rows.written(export(study, name), form, **options))


def records(study, name="judgments", asked=USUAL, now=LATER):
    found = export(study, name, asked, now)
    names = [column.name for column in found.columns]
    return [dict(zip(names, row, strict=True)) for row in found.rows]


class TestJudgments:
    def test_count_exactly_when_the_analysis_counts_them(self, study):
        counting = analysis_set.analysis_set(study=study, as_of=LATER)

        found = records(study)

        expected = [one.pk for one in study_judgments(study) if counting.filter(pk=one.pk).exists()]
        keys = [one.pk for one in study_judgments(study)]
        assert [key for key, one in zip(keys, found, strict=True) if one["counts"]] == expected

    def test_give_a_reason_exactly_where_they_do_not_count(self, study):
        found = records(study)

        assert all(one["counts"] == (one["why_not"] == "") for one in found)
        assert {one["why_not"] for one in found if one["why_not"]} == set(WHY_NOT) - {"not_main"}

    def test_of_a_simulated_study_count_for_programs(self):
        study = make_study(is_simulated=True, title="A simulated study")
        make_judgment(
            comparison=make_comparison(study=study),
            rater=make_rater(study=study, is_simulated=True),
        )

        (one,) = records(study)

        assert (one["counts"], one["is_simulated_study"]) == (True, True)

    def test_name_the_rule_of_an_exclusion_that_holds(self, study):
        by_reason = {one["why_not"]: one["exclusion"] for one in records(study)}

        assert by_reason["rater_excluded"] == "pace v1"
        assert by_reason["judge_excluded"] == "by hand"
        assert by_reason[""] is None  # also where a decision was taken back

    def test_stand_in_the_order_drawn_as_well(self, study):
        found = records(study)[-1]

        assert (found["first_system"], found["system_b"]) == (found["system_b"],) * 2
        assert (found["verdict"], found["winner"], found["strength"]) == (-2, "a", 4)
        assert found["rater_id"] == found["rater"]

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
        assert all(one["first_completion"] for one in found)

    def test_have_the_reasons_that_were_ticked(self, study):
        make_judgment(comparison=study.comparisons.first(), chips="heard warm")

        assert records(study)[-1]["chips"] == "heard warm"

    def test_leave_the_words_of_reasons_out_on_request(self, study):
        assert "rationale" not in records(study, asked=ExportRequest(with_rationales=False))[0]

    def test_are_fetched_in_batches(self, study, monkeypatch):
        fetched = []
        monkeypatch.setattr("ranking.exports.rows.facts.BATCH", 5)
        real = type(study.comparisons.all()).iterator

        def spy(self, chunk_size=None):
            fetched.append(chunk_size)
            return real(self, chunk_size=chunk_size)

        monkeypatch.setattr("django.db.models.query.QuerySet.iterator", spy)
        rows = export(study).rows

        first = next(rows)

        assert not isinstance(rows, list)
        assert fetched == [5]
        assert len(first) == len(export(study).columns)


def study_judgments(study):
    return Judgment.objects.filter(comparison__study=study).order_by("pk")


class TestForms:
    @pytest.mark.parametrize("name", PLAIN)
    def test_hold_the_same_rows(self, study, name, monkeypatch):
        monkeypatch.setattr("ranking.exports.rows.writing.GROUP", 7)
        columns = export(study, name).columns

        read = list(
            csv.DictReader(io.StringIO(content(study, name, ExportFormat.CSV).decode(), newline=""))
        )
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
        monkeypatch.setattr("ranking.exports.rows.writing.GROUP", 10)

        file = parquet.ParquetFile(io.BytesIO(content(study, "judgments", ExportFormat.PARQUET)))

        assert file.metadata.num_row_groups == -(-file.metadata.num_rows // 10)
        assert file.schema_arrow.field("submitted_at").type.tz == "UTC"

    def test_of_a_study_without_rows_have_their_columns(self):
        study = make_study()

        assert (
            content(study, "judgments", ExportFormat.CSV).decode().startswith("comparison,context,")
        )
        assert content(study, "judgments", ExportFormat.JSONL) == b""
        table = parquet.read_table(io.BytesIO(content(study, "judgments", ExportFormat.PARQUET)))
        assert table.num_rows == 0
        assert "mark_H" in table.column_names

    def test_of_csv_begin_before_any_row_is_read(self, study):
        def unread():
            yield pytest.fail("a row was read")

        blocks = export_rows.written(export(study).of_rows(unread()), ExportFormat.CSV)

        assert b"why_not" in next(blocks)

    def test_of_csv_begin_with_a_mark_on_request(self, study):
        assert content(study, "raters", ExportFormat.CSV, bom=True).startswith(
            b"\xef\xbb\xbfrater,"
        )

    def test_of_csv_defuse_what_would_run(self, study):
        assert "'=2+2" in content(study, "judgments", ExportFormat.CSV).decode()


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

    def test_say_which_were_made_elsewhere_and_where(self, study):
        text = study.comparisons.exclude(first__system__kind=SystemKind.HUMAN)[0].first
        make_imported_completion(completion=text, source="run 7", model_version="ash-2026")

        elsewhere = [one for one in records(study, "completions") if one["is_brought_in"]]

        (row,) = elsewhere
        assert (row["completion"], row["source"]) == (text.content_hash, "run 7")
        assert row["model_version"] == "ash-2026"
        blinded = records(study, "completions", ExportRequest(is_blinded=True))
        assert not {"is_brought_in", "source", "model_version"} & set(blinded[0])


class TestRaters:
    def test_have_their_newest_decision_and_no_name_of_a_platform(self, study):
        make_rater(study=study, platform="PROLIFIC", external_id="5f1d-secret")

        found = records(study, "raters")

        by_rule = {one["exclusion"]: one["is_excluded"] for one in found}
        assert by_rule == {None: None, "pace v1": True, "by hand": False}
        assert "secret" not in content(study, "raters", ExportFormat.JSONL).decode()
        assert sum(one["n_checks"] for one in found) == 1


class TestComparisons:
    def test_count_their_judgments(self, study):
        found = records(study, "comparisons")

        assert sum(one["n_people"] + one["n_judges"] for one in found) == len(records(study))


class TestNames:
    def test_say_simulated_if_anything_is(self, study):
        assert export_rows.file_name(study, "judgments", ExportFormat.CSV) == (
            f"simulated-{study.slug}-judgments.csv"
        )

    def test_say_nothing_of_it_if_nothing_is(self):
        study = make_judgment().comparison.study

        assert (
            export_rows.file_name(study, "raters", ExportFormat.PARQUET)
            == f"{study.slug}-raters.parquet"
        )

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


def test_every_column_is_of_the_dictionary(study):
    for table in TABLES:
        found = [column.name for column in columns_of(study, table, USUAL)]

        assert found == [column.name for column in table.of(["H", "E", "A", "R", "T"])]
        assert len(set(found)) == len(found)


def test_every_column_is_explained_in_words():
    for table in TABLES:
        assert all(len(column.meaning.split()) > 1 for column in table.columns)


def test_reasons_of_the_dictionary_are_those_of_the_rule():
    (column,) = (one for one in JUDGMENTS.columns if one.name == "why_not")

    assert column.values == tuple(WHY_NOT)
