"""What people decide about contexts, what it stops, and how contexts leave as JSON lines."""

import hashlib
import itertools
import json
from collections import Counter
from functools import partial

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from access.models import LogEntry
from annotation.planning.services import plan_study
from completions.choices import Review
from completions.contexts.queries import context_lines
from completions.contexts.services import building
from completions.generation import services as generation_services
from completions.models import Context, GenerationCall
from completions.writers.queries import open_contexts, stranded_leases
from completions.writers.services.leasing import ContextTakenError, release_expired_writing_leases
from tests.helpers.factories import (
    HOUR,
    NOW,
    TURNS,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_written_once import make_user
from tests.helpers.threads import together
from tests.helpers.written import draft_of, lease_next, save_draft, send, skip, slots_of

pytestmark = pytest.mark.django_db


def review(context, decision, note="", by=None, now=NOW):
    return building.review_context(context=context, decision=decision, note=note, by=by, now=now)


def stored(context):
    return Context.objects.get(pk=context.pk)


class TestReviewContext:
    @pytest.mark.parametrize(("first", "second"), [*itertools.permutations(Review, 2)])
    def test_stores_and_logs_who_decided_what_before_and_after(self, first, second):
        context, other = make_context(review=first, review_note="?"), make_context()
        by = make_user()

        returned = review(context, second, "names a town", by=by, now=NOW + HOUR)

        assert (returned.review, returned.review_note) == (second, "names a town")
        assert (stored(context).review, stored(context).review_note) == (second, "names a town")
        assert (context in Context.objects.in_use()) is (second != Review.DROPPED)
        assert stored(other).review == Review.PENDING
        entry = LogEntry.objects.get()
        assert (entry.action, entry.subject) == ("context.reviewed", f"context {context.key}")
        assert (entry.by, entry.at) == (by, NOW + HOUR)
        assert entry.before == {"review": first, "note": "?"}
        assert entry.after == {"review": second, "note": "names a town"}

    def test_stores_and_logs_nothing_that_is_stored_already(self):
        held = make_context()
        review(held, Review.DROPPED)

        review(held, Review.DROPPED)

        assert held.review == Review.PENDING  # as the caller read it
        assert LogEntry.objects.count() == 1

    def test_leaves_a_note_that_was_written_meanwhile_where_none_is_given(self):
        context = make_context()
        review(stored(context), None, "look again")

        review(context, Review.KEPT, None)

        assert stored(context).review_note == "look again"

    @pytest.mark.parametrize("before", Review)
    def test_changes_a_note_without_a_decision(self, before):
        context = make_context(review=before)

        review(context, None, "look again")

        assert (stored(context).review, stored(context).review_note) == (before, "look again")
        entry = LogEntry.objects.get()
        assert entry.action == "context.noted"
        assert entry.after == {"review": before, "note": "look again"}

    def test_stores_no_decision_without_its_entry(self, monkeypatch):
        context = make_context()
        monkeypatch.setattr(building, "record", None)

        with pytest.raises(TypeError, match="not callable"), transaction.atomic():
            review(context, Review.DROPPED)

        assert stored(context).review == Review.PENDING

    def test_takes_a_fixed_number_of_queries(self, django_assert_num_queries):
        context = make_context()

        with django_assert_num_queries(5):  # savepoint and its release; lock; store; log
            review(context, Review.KEPT)


class TestADroppedContext:
    @pytest.fixture
    def dataset(self):
        return make_dataset()

    @pytest.fixture
    def writer(self, dataset):
        return make_writer(dataset=dataset)

    @pytest.fixture
    def context(self, dataset):
        return make_context(dataset=dataset)

    @pytest.fixture
    def kept(self, dataset):
        return make_context(dataset=dataset)

    def test_is_offered_to_no_writer_until_it_is_taken_back(self, writer, context, kept):
        dropped = review(context, Review.DROPPED)
        assert list(open_contexts(writer)) == [kept]
        lease = lease_next(writer)
        send(lease)
        review(dropped, Review.KEPT)

        assert lease.context == kept
        assert lease_next(writer).context == dropped

    def test_is_finished_by_the_writer_who_has_it(self, writer, context):
        lease = lease_next(writer)
        review(context, Review.DROPPED)

        assert lease_next(writer) == lease
        assert send(lease).lease.context == context

    def test_takes_no_text_whose_claim_was_given_back(self, writer, context):
        lease = lease_next(writer)
        skip(lease)
        review(context, Review.DROPPED)

        with pytest.raises(ContextTakenError):
            send(lease)

        assert draft_of(lease)
        assert slots_of(context) == 3

    @pytest.mark.parametrize(("decision", "n"), [(Review.DROPPED, 0), (Review.KEPT, 1)])
    def test_asks_no_writer_to_finish_a_draft(self, writer, context, decision, n):
        save_draft(lease_next(writer))
        release_expired_writing_leases(now=NOW + 3 * HOUR)
        review(context, decision)

        assert stranded_leases(writer).count() == n

    def test_is_completed_by_no_model_but_keeps_the_calls_of_before(self, dataset, context, kept):
        def plan(system):
            generation_services.plan_generation_calls(dataset=dataset, systems=[system], now=NOW)

        before, after = make_system(), make_system()
        plan(before)
        review(context, Review.DROPPED)
        plan(after)

        calls = set(GenerationCall.objects.values_list("system", "context"))
        assert calls == {(before.pk, context.pk), (before.pk, kept.pk), (after.pk, kept.pk)}

    def test_keeps_its_comparisons_and_gets_no_more_until_it_is_taken_back(
        self, dataset, context, kept
    ):
        for one in (context, context, kept, kept):
            make_completion(context=one)
        study = make_study(dataset=dataset)

        def planned():
            plan_study(study=study, now=NOW)
            return Counter(study.comparisons.values_list("context", flat=True))

        assert planned() == {context.pk: 1, kept.pk: 1}
        review(context, Review.DROPPED)
        make_completion(context=context)
        assert planned() == {context.pk: 1, kept.pk: 1}
        review(context, Review.KEPT)
        assert planned() == {context.pk: 3, kept.pk: 1}


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
class TestReviewersAtTheSameMoment:
    def test_who_agree_are_logged_once(self, crowd):
        for _ in range(crowd.rounds):
            context = make_context()

            together([partial(review, context, Review.KEPT)] * 3)

            assert LogEntry.objects.filter(subject=f"context {context.key}").count() == 1

    def test_who_differ_leave_a_log_without_gaps(self, crowd):
        for _ in range(crowd.rounds):
            context = make_context()

            together(
                [partial(review, context, Review.KEPT), partial(review, context, Review.DROPPED)]
            )

            entries = LogEntry.objects.filter(subject=f"context {context.key}").order_by("pk")
            first, second = entries
            assert first.before["review"] == Review.PENDING
            assert first.after == second.before
            assert second.after["review"] == Context.objects.get(pk=context.pk).review


@pytest.fixture
def dataset():
    return make_dataset(slug="talks", name="Talks", licence="CC0")


def rows(dataset, **options):
    return [json.loads(line) for line in context_lines(dataset, **options)]


class TestExportedLines:
    def test_hold_the_context_and_where_it_is_from_without_replies_or_notes(self, dataset):
        dialogue = make_dialogue(
            dataset=dataset,
            content_hash="d" * 64,
            emotion_type="sadness",
            problem_type="job crisis",
            situation="Lost a job — again.",
        )
        context = make_context(
            dialogue=dialogue,
            key="k1",
            turn_index=2,
            content_hash="c" * 64,
            provenance={"seed": 7},
            review_note="Reminds me of my neighbour.",
        )
        make_completion(context=context)

        assert rows(dataset) == [
            {
                "key": "k1",
                "content_hash": "c" * 64,
                "dataset": "Talks",
                "licence": "CC0",
                "stratum": "REGULAR",
                "escalation_profile": "",
                "source_context": None,
                "is_simulated": False,
                "review": "PENDING",
                "language": "en",
                "emotion_type": "sadness",
                "problem_type": "job crisis",
                "situation": "Lost a job — again.",
                "dialogue": "d" * 64,
                "turn_index": 2,
                "turns": TURNS,
                "provenance": {"seed": 7},
            }
        ]

    def test_name_the_source_of_a_rewrite_and_whether_it_is_simulated(self, dataset, make_hostile):
        make_hostile(make_context(dataset=dataset, key="b"), key="a")

        regular, hostile = rows(dataset)

        assert (regular["key"], hostile["key"]) == ("b", "a")
        assert hostile["source_context"] == "b"
        assert hostile["escalation_profile"] == "MID_SPIKE"
        assert hostile["is_simulated"] is True

    def test_leave_out_what_a_reviewer_dropped_unless_asked(self, dataset):
        for key, review in (("c", Review.KEPT), ("b", Review.DROPPED), ("a", Review.PENDING)):
            make_context(dataset=dataset, key=key, review=review)
        make_context()  # of another dataset

        assert [row["key"] for row in rows(dataset)] == ["a", "c"]
        assert [row["key"] for row in rows(dataset, with_dropped=True)] == ["a", "b", "c"]

    def test_take_one_query_however_many_there_are(self, dataset, django_assert_max_num_queries):
        for _ in range(5):
            make_context(dataset=dataset)

        with django_assert_max_num_queries(1):
            assert len(rows(dataset)) == 5


class TestExportCommand:
    def test_writes_the_same_bytes_twice_and_names_them(self, dataset, tmp_path):
        make_context(dataset=dataset, key="a")
        first, second, usual = (tmp_path / name for name in ("first", "second", "usual"))
        usual.touch()

        said = call_command("contexts", "export", "--dataset", "Talks", "--output", str(first))
        call_command("contexts", "export", "--dataset", "talks", "--output", str(second))

        assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_mode == usual.stat().st_mode  # others may read it as any file
        digest = hashlib.sha256(first.read_bytes()).hexdigest()
        assert said == f"{first}: 1 contexts of Talks, SHA-256 {digest}"

    def test_writes_to_standard_output_without_a_file(self, dataset, capsys):
        make_context(dataset=dataset, key="a")

        call_command("contexts", "export", "--dataset", "talks")

        out, err = capsys.readouterr()
        assert [json.loads(line)["key"] for line in out.splitlines()] == ["a"]
        assert err == "1 contexts\n"

    def test_leaves_an_older_file_alone_when_it_fails(self, dataset, tmp_path, monkeypatch):
        make_context(dataset=dataset)
        file = tmp_path / "contexts.jsonl"
        file.write_text("what was there\n")
        monkeypatch.setattr("os.fsync", _full_disk)

        with pytest.raises(CommandError, match="No space left"):
            call_command("contexts", "export", "--dataset", "talks", "--output", str(file))

        assert file.read_text() == "what was there\n"
        assert [path.name for path in tmp_path.iterdir()] == ["contexts.jsonl"]


def _full_disk(_file):
    raise OSError(28, "No space left on device")
