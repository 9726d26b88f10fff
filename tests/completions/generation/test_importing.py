"""Completions of models made elsewhere: read row by row, and stored in whole or not at all."""

import datetime as dt
import io
import json
from functools import partial
from typing import Any

import pytest
from django.test import Client

from access.choices import Scope
from access.models import LogEntry
from annotation.models import Comparison, Study
from completions.choices import CallState, HoldState, Review, SystemKind, Way
from completions.files.refusals import REMEDIES, InputFileError, Reason, Refused, printable
from completions.files.rows import OutcomeChangedError
from completions.generation.services import start_generation_run
from completions.leaks import queries
from completions.models import BroughtCompletion, Completion, GenerationCall, Hold, System
from completions.runs.services import running as run_services
from completions.systems.importing import ImportedRow, checked, imported_file
from completions.systems.services.importing import RowsRefusedError, try_completions
from tests.helpers.datasets import TEXT, import_rows, row
from tests.helpers.factories import (
    HOUR,
    NOW,
    digest,
    make_comparison,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_generation_call,
    make_study,
    make_system,
)
from tests.helpers.factories_of_calls import make_generation_run
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_user
from tests.helpers.threads import together, while_uncommitted

pytestmark = pytest.mark.django_db
FAILED = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "timeout"}


@pytest.fixture(autouse=True)
def context():
    return make_context(dataset=make_dataset(slug="talks"), key="abc")


@pytest.fixture(autouse=True)
def system():
    return make_system(slug="ash", name="Ash")


def faults(*rows, **options):
    with pytest.raises(RowsRefusedError) as caught:
        import_rows(*rows, **options)
    return [(one.position, one.field, one.reason) for one in caught.value.refused]


class TestABatch:
    def test_is_stored_with_where_it_is_from(self, context, system):
        ada = make_user()
        given: Any = {"model_version": "v1", "source": "A paper", "produced_at": NOW - HOUR}

        report = import_rows(row(text="Two\n\nlines.", **given), by=ada)

        stored = Completion.objects.get()
        assert (stored.context, stored.system, stored.text) == (context, system, "Two lines.")
        assert (stored.content_hash, stored.created_at) == (digest("Two lines."), NOW)
        brought = BroughtCompletion.objects.filter(completion=stored, **given).get()
        assert (brought.raw_text, brought.way, brought.brought_by) == ("Two\n\nlines.", "API", ada)
        assert [(one.pk, one.is_new) for one in report.kept] == [(stored.pk, True)]

    def test_is_logged_for_each_dataset(self):
        other = make_context(key="xyz")
        ada = make_user()

        import_rows(row(), row(1, context="xyz"), by=ada, way=Way.CONSOLE)

        entries = LogEntry.objects.filter(action="completions.brought_in", by=ada)
        assert {entry.subject: entry.after for entry in entries} == {
            "dataset talks": {"way": "CONSOLE", "ash": 1},
            f"dataset {other.dataset.slug}": {"way": "CONSOLE", "ash": 1},
        }

    def test_again_adds_nothing_and_says_so(self):
        (first,) = import_rows(row()).kept

        report = import_rows(row(4, text=f"  {TEXT}\n"))

        assert [(one.pk, one.is_new) for one in report.kept] == [(first.pk, False)]
        assert BroughtCompletion.objects.count() == 1
        assert LogEntry.objects.filter(action="completions.brought_in").count() == 1

    def test_that_breaks_off_leaves_nothing(self, monkeypatch):
        monkeypatch.setattr("completions.systems.services.importing.record", None)

        with pytest.raises(TypeError, match="'NoneType' object is not callable"):
            import_rows(row(text="As an AI, I hear you."))
        assert not Completion.objects.exists()
        assert not BroughtCompletion.objects.exists()
        assert not Hold.objects.exists()

    def test_costs_as_many_queries_for_twenty(self, context, django_assert_max_num_queries):
        contexts = [make_context(dialogue=context.dialogue) for _ in range(20)]
        ada = make_user()
        rows = [row(n, context=one.key) for n, one in enumerate(contexts)]

        # Systems, contexts, lock, completions, calls; two inserts, the log, two savepoints.
        with django_assert_max_num_queries(12):
            import_rows(*rows, by=ada)


class TestARefusal:
    def test_names_every_fault_of_a_row_and_stores_nothing(self):
        make_system(slug="people", kind=SystemKind.HUMAN)
        found = faults(
            row(0, context="nowhere", system="none", produced_at=NOW + HOUR),
            row(1, system="people"),
            Refused(2, "text", Reason.BAD_FIELD, "is missing"),
            row(3),
            row(4),
        )

        assert found == [
            (0, "context", Reason.UNKNOWN_CONTEXT),
            (0, "system", Reason.UNKNOWN_SYSTEM),
            (0, "produced_at", Reason.FUTURE),
            (1, "system", Reason.NO_MODEL),
            (2, "text", Reason.BAD_FIELD),
            (4, "", Reason.REPEATED),
        ]
        assert not Completion.objects.exists()
        assert not LogEntry.objects.exists()

    def test_of_contexts_that_nothing_new_is_made_from(self):
        make_context(key="dropped", review=Review.DROPPED)
        make_context(key="check", dialogue=make_dialogue(dataset=make_dataset(is_for_checks=True)))

        assert faults(row(0, context="dropped"), row(1, context="check")) == [
            (0, "context", Reason.DROPPED_CONTEXT),
            (1, "context", Reason.UNKNOWN_CONTEXT),
        ]
        assert faults(row(), dataset=make_dataset()) == [(0, "context", Reason.OTHER_DATASET)]

    def test_of_what_would_replace_a_completion(self, context, system):
        there = make_completion(context=context, system=system)

        assert faults(row()) == [(0, "", Reason.HAS_COMPLETION)]
        assert Completion.objects.get() == there

    def test_of_what_a_model_is_being_asked(self, context, system):
        call = make_generation_call(context=context, system=system)

        assert faults(row()) == [(0, "", Reason.ASKED)]
        GenerationCall.objects.filter(pk=call.pk).update(**FAILED)
        assert import_rows(row()).n_new == 1

    def test_is_no_outcome_that_somebody_confirmed(self):
        with pytest.raises(OutcomeChangedError):
            import_rows(row(), as_shown="another")
        assert not Completion.objects.exists()


class TestWhatLeaks:
    def test_is_held_at_once_and_found_by_the_text_as_it_came(self, context):
        report = import_rows(row(text="Here are two.\n\n* One thing.\n* Another thing."))

        hold = Hold.objects.get()
        assert hold.state == HoldState.HELD
        assert report.kept[0].held == ("markup",)
        assert [one["reason"] for one in hold.reasons] == ["markup"]
        hold.delete()
        assert len(queries.find_new_leaks(context.dataset_id)) == 1


class TestAround:
    def test_a_locked_study_stays_as_it_is(self, context):
        study = make_study(dataset=context.dataset)
        make_comparison(study=study, first=make_completion(context=context))
        tables = (Study, Comparison)
        before = [list(table.objects.values()) for table in tables]

        import_rows(row())

        assert [list(table.objects.values()) for table in tables] == before

    def test_a_run_asks_no_more_for_what_came(self, context, system):
        run = make_generation_run(dataset=context.dataset)
        make_generation_call(run=run, context=context, system=system, **FAILED)
        another = make_generation_call(run=run, system=system, **FAILED)
        import_rows(row())

        assert run_services.retry_failed(run, now=NOW) == 1
        assert GenerationCall.objects.get(state=CallState.PENDING) == another


class TestTrying:
    def test_tells_everything_and_stores_nothing(self):
        rows = [row(2), row(3, context="nowhere"), row(4, system="ash", context="abc")]

        report = try_completions(rows=rows, way=Way.CONSOLE, by=make_user(), now=NOW)

        assert (report.n_read, report.n_new, report.n_refused) == (3, 1, 2)
        assert report.by_system == {"ash": 1}
        assert list(report.rows())[1] == (
            *("3", "context", "unknown context", 'unknown context: "nowhere"'),
            "Compare the key with the list of contexts.",
        )
        assert not Completion.objects.exists()
        assert not LogEntry.objects.exists()
        assert System.objects.count() == 1

    def test_has_the_digest_of_what_is_stored_then(self):
        ada = make_user()
        tried = try_completions(rows=[row()], way=Way.CONSOLE, by=ada, now=NOW)

        assert import_rows(row(), by=ada, as_shown=tried.digest).digest == tried.digest


HEADER = "context,system,text"


def read_row(**fields):
    return {"context": "abc", "system": "ash", "text": TEXT} | fields


def faults_of(value):
    found = checked(value, 3)
    assert not isinstance(found, ImportedRow)
    return [(one.field, one.why) for one in found]


class TestARow:
    def test_has_its_text_as_it_came_and_on_one_line_and_its_provenance(self):
        given = read_row(
            text=" One.\r\n\r\n* Two. ",
            model_version=" v1 ",
            source=None,
            produced_at="2026-01-31T18:05:00+01:00",
        )

        found = checked(given, 7)

        at = dt.datetime(2026, 1, 31, 17, 5, tzinfo=dt.UTC)
        assert found == ImportedRow(7, "abc", "ash", " One.\n\n* Two. ", "v1", "", at)
        assert found.line == "One. * Two."

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ("a text", [("", "is not an object with these fields")]),
            ({}, [(name, "is missing") for name in ("context", "system", "text")]),
            (
                read_row(text=3, context=None),
                [("context", "is not a text"), ("text", "is not a text")],
            ),
            *((read_row(text=text), [("text", "has no words")]) for text in (" ... ", "\u3164.")),
            (read_row(text="a" * 4001), [("text", "is too long: 4,000 characters at most")]),
            (read_row(text="a\x07"), [("text", "contains the control character U+0007")]),
            (read_row(modelversion="1"), [("modelversion", "is not known")]),
            (read_row(**{"\ud800": "1"}), [("", "contains half of a surrogate pair")]),
        ],
        ids=["text", "empty", "types", "stop", "blank", "long", "control", "unknown", "half"],
    )
    def test_tells_every_field_at_fault(self, value, told):
        assert faults_of(value) == told

    @pytest.mark.parametrize("moment", ["yesterday", "2026-01-31T18:05:00", 0, "1066-01-01T00:00Z"])
    def test_refuses_what_is_no_time(self, moment):
        ((field, why),) = faults_of(read_row(produced_at=moment))

        assert field == "produced_at"
        assert "ISO 8601" in why

    def test_that_is_refused_says_what_to_do(self):
        assert set(REMEDIES) == set(Reason)
        assert Refused(1, "", Reason.BAD_FIELD, "x").remedy == "Mend the field."
        assert Refused(1, "", Reason.REPEATED, "x").remedy.startswith("Leave one")
        assert printable("a\ud800" + "b" * 200) == "a?" + "b" * 98  # of names that are sent back


class TestAFile:
    def test_of_csv_has_rows_by_their_lines(self):
        content = f'{HEADER},wage\nabc,ash,"One.\nTwo.",3\n\nabc,beech,"",'.encode()
        file = imported_file(io.BytesIO(content), most_rows=10)

        first, second = file

        assert first == ImportedRow(2, "abc", "ash", "One.\nTwo.")
        assert isinstance(second, Refused)
        assert (second.position, second.field) == (5, "text")
        assert file.notes == ["Columns that are not read: wage."]

    def test_of_json_lines_has_rows_by_their_lines(self):
        lines = [json.dumps(read_row(source="A paper")), "", "{", "[]"]

        first, *others = imported_file(io.BytesIO("\n".join(lines).encode()), most_rows=10)

        assert isinstance(first, ImportedRow)
        assert first.source == "A paper"
        assert [(one.position, one.reason) for one in others if isinstance(one, Refused)] == [
            (3, Reason.UNREADABLE),
            (4, Reason.UNREADABLE),
        ]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (HEADER, "has no completions"),
            ("context,text\na,b", "names no column system; it has to name context, system, text"),
            (f"{HEADER}\n" + "a,b,c\n" * 11, "has over 10 rows"),
        ],
        ids=["no rows", "a column", "many"],
    )
    def test_that_cannot_be_read_says_why(self, content, said):
        with pytest.raises(InputFileError, match=said):
            list(imported_file(io.BytesIO(content.encode()), most_rows=10))


def post(secret, text, key):
    body = json.dumps({"completions": [{"context": "abc", "system": "ash", "text": text}]})
    headers = bearing(secret) | {"Idempotency-Key": key}
    address, form = "/api/v1/completions/", "application/json"
    answer = Client().post(address, body, content_type=form, headers=headers)
    return answer.status_code, "Idempotent-Replayed" in answer.headers


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
class TestAtTheSameMoment:
    def test_equal_requests_write_once_and_get_one_answer(self):
        secret = make_secret(Scope.WRITE_COMPLETIONS)

        equal = together([partial(post, secret, TEXT, "key-1") for _ in range(4)])
        other = together([partial(post, secret, f"{TEXT} {n}", "key-1") for n in range(2)])

        assert sorted(equal) == [(201, False), (201, True), (201, True), (201, True)]
        assert other == [(422, False), (422, False)]
        assert Completion.objects.count() == 1
        assert LogEntry.objects.filter(action="completions.brought_in").count() == 1

    def test_whoever_comes_second_with_another_text_is_told(self):
        first = partial(import_rows, row(), by=make_user())
        second = partial(faults, row(text="Another text, quite another."), by=make_user())

        told = while_uncommitted(first, second, has_to_wait=True)

        assert told == [(0, "", Reason.HAS_COMPLETION)]
        assert Completion.objects.get().text == TEXT

    def test_a_run_that_is_planned_meanwhile_is_seen(self, context):
        system = make_system(slug="elm", name="Elm")
        plan = partial(start_generation_run, dataset=context.dataset, systems=[system], now=NOW)
        bring = partial(faults, row(system="elm"), by=make_user())

        assert while_uncommitted(plan, bring, has_to_wait=True) == [(0, "", Reason.ASKED)]
        assert (GenerationCall.objects.count(), Completion.objects.count()) == (1, 0)
