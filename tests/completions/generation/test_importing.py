"""Completions of models that were made elsewhere come in whole, or not at all."""

from typing import Any

import pytest

from access.models import LogEntry
from annotation.models import Comparison, Study
from completions.choices import CallState, HoldState, Review, SystemKind, Way
from completions.files import OutcomeChangedError, Reason, Refused
from completions.leaks import queries
from completions.models import BroughtCompletion, Completion, GenerationCall, Hold, System
from completions.runs import services as run_services
from completions.systems import services as system_services
from completions.systems.services.importing import RowsRefusedError
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
from tests.helpers.factories_written_once import make_user

pytestmark = pytest.mark.django_db
FAILED = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "timeout"}


class BrokenError(Exception):
    """Something went wrong in the middle."""


@pytest.fixture(autouse=True)
def context():
    return make_context(dialogue=make_dialogue(dataset=make_dataset(slug="talks")), key="abc")


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
        given: dict[str, Any] = {
            "model_version": "v1",
            "source": "A paper",
            "produced_at": NOW - HOUR,
        }

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

    def test_with_one_bad_row_stores_nothing(self):
        assert faults(row(), row(1, context="nowhere")) == [(1, "context", Reason.UNKNOWN_CONTEXT)]
        assert not Completion.objects.exists()
        assert not LogEntry.objects.exists()

    def test_that_breaks_off_leaves_nothing(self, monkeypatch):
        def broken(**_fields):
            raise BrokenError

        monkeypatch.setattr("completions.systems.services.importing.storing.record", broken)

        with pytest.raises(BrokenError):
            import_rows(row(text="As an AI, I hear you."))
        assert not Completion.objects.exists()
        assert not BroughtCompletion.objects.exists()
        assert not Hold.objects.exists()

    def test_costs_as_many_queries_for_a_hundred(self, context, django_assert_max_num_queries):
        contexts = [make_context(dialogue=context.dialogue) for _ in range(100)]
        ada = make_user()
        rows = [row(n, context=one.key) for n, one in enumerate(contexts)]

        # Systems, contexts, lock, completions, calls; two inserts, the log, two savepoints.
        with django_assert_max_num_queries(12):
            import_rows(*rows, by=ada)


class TestARefusal:
    def test_names_every_fault_of_a_row(self):
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

    def test_of_contexts_that_nothing_new_is_made_from(self):
        make_context(key="dropped", review=Review.DROPPED)
        make_context(key="check", dialogue=make_dialogue(dataset=make_dataset(is_for_checks=True)))

        assert faults(row(0, context="dropped"), row(1, context="check")) == [
            (0, "context", Reason.DROPPED_CONTEXT),
            (1, "context", Reason.UNKNOWN_CONTEXT),
        ]

    def test_of_another_dataset_than_the_one_named(self):
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
    def test_is_held_at_once_by_the_text_as_it_came(self):
        report = import_rows(row(text="Here are two.\n\n* One thing.\n* Another thing."))

        hold = Hold.objects.get()
        assert hold.state == HoldState.HELD
        assert report.kept[0].held == ("markup",)
        assert [one["reason"] for one in hold.reasons] == ["markup"]

    def test_is_still_found_by_the_text_as_it_came(self, context):
        import_rows(row(text="Here are two.\n\n* One thing.\n* Another thing."))
        Hold.objects.all().delete()

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

        report = system_services.try_completions(
            rows=rows, way=Way.CONSOLE, by=make_user(), now=NOW
        )

        assert (report.n_read, report.n_new, report.n_refused) == (3, 1, 2)
        assert report.by_system == {"ash": 1}
        assert not Completion.objects.exists()
        assert not LogEntry.objects.exists()
        assert System.objects.count() == 1

    def test_has_the_digest_of_what_is_stored_then(self):
        ada = make_user()
        tried = system_services.try_completions(rows=[row()], way=Way.CONSOLE, by=ada, now=NOW)

        assert import_rows(row(), by=ada, as_shown=tried.digest).digest == tried.digest

    def test_gives_refusals_as_a_table(self):
        report = system_services.try_completions(
            rows=[row(2, context="nowhere")], way=Way.CONSOLE, by=make_user(), now=NOW
        )

        assert list(report.rows())[1] == (
            *("2", "context", "unknown context", 'unknown context: "nowhere"'),
            "Compare the key with the list of contexts.",
        )
