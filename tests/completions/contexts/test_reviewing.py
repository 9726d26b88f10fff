"""What people decide about contexts, how it is logged, and what it stops."""

import pytest
from django.db import transaction

from access.models import LogEntry
from annotation.models import Comparison
from annotation.planning.services import plan_study
from completions.choices import Review
from completions.contexts import services as context_services
from completions.contexts.services import reviewing
from completions.generation import services as generation_services
from completions.models import Context, GenerationCall
from completions.writers import services as writer_services
from completions.writers.desk_queries import open_contexts
from completions.writers.queries import stranded_leases
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_written_once import make_user
from tests.helpers.written import draft_of, lease_next, save_draft, send, skip, slots_of

pytestmark = pytest.mark.django_db

ALL_DECISIONS = [Review.KEPT, Review.DROPPED, Review.PENDING]


def review(context, decision, note="", by=None, now=NOW):
    return context_services.review_context(
        context=context, decision=decision, note=note, by=by, now=now
    )


def stored(context):
    return Context.objects.get(pk=context.pk)


def log():
    return list(LogEntry.objects.order_by("pk"))


class TestReviewContext:
    @pytest.mark.parametrize("decision", [Review.KEPT, Review.DROPPED])
    def test_stores_the_decision_with_its_note(self, decision):
        returned = review(make_context(), decision, "names a town")

        context = stored(returned)
        assert (context.review, context.review_note) == (decision, "names a town")
        assert (returned.review, returned.review_note) == (decision, "names a town")

    def test_leaves_other_contexts_alone(self):
        other = make_context()

        review(make_context(), Review.DROPPED, "too little")

        assert (stored(other).review, stored(other).review_note) == (Review.PENDING, "")

    def test_logs_who_decided_what_before_and_after(self):
        context, by = make_context(), make_user()
        review(context, Review.KEPT, "fine", by=by)

        review(context, Review.DROPPED, "names a town", by=by, now=NOW + HOUR)

        entry = log()[-1]
        assert (entry.action, entry.subject) == ("context.reviewed", f"context {context.key}")
        assert (entry.by, entry.at) == (by, NOW + HOUR)
        assert entry.before == {"review": "KEPT", "note": "fine"}
        assert entry.after == {"review": "DROPPED", "note": "names a town"}

    def test_stores_and_logs_nothing_when_repeated(self):
        context = make_context()

        for _ in range(2):
            review(context, Review.KEPT, "fine")

        assert len(log()) == 1

    def test_judges_what_is_stored_and_not_what_the_caller_holds(self):
        held = make_context()
        review(held, Review.DROPPED)

        review(held, Review.DROPPED)

        assert held.review == Review.PENDING  # as the caller read it
        assert len(log()) == 1

    @pytest.mark.parametrize("before", ALL_DECISIONS)
    def test_changes_a_note_without_a_decision(self, before):
        context = make_context(review=before)

        review(context, None, "look again")

        assert (stored(context).review, stored(context).review_note) == (before, "look again")
        assert [entry.action for entry in log()] == ["context.noted"]
        assert log()[0].after == {"review": before, "note": "look again"}

    @pytest.mark.parametrize("decision", [Review.KEPT, Review.PENDING])
    def test_takes_a_dropped_context_back(self, decision):
        context = make_context(review=Review.DROPPED)

        review(context, decision)

        assert stored(context).review == decision
        assert context in Context.objects.in_use()

    def test_stores_no_decision_without_its_entry(self, monkeypatch):
        def fail(**_fields):
            raise RuntimeError

        context = make_context()
        monkeypatch.setattr(reviewing, "record", fail)

        with pytest.raises(RuntimeError), transaction.atomic():
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
        return make_context(dialogue=make_dialogue(dataset=dataset))

    @pytest.fixture
    def kept(self, dataset):
        return make_context(dialogue=make_dialogue(dataset=dataset))

    @pytest.fixture
    def dropped(self, context):
        return review(context, Review.DROPPED)

    def test_is_offered_to_no_writer(self, writer, dropped, kept):
        assert list(open_contexts(writer)) == [kept]

        assert lease_next(writer).context == kept

    def test_is_offered_again_once_it_is_taken_back(self, writer, dropped):
        review(dropped, Review.KEPT)

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

        with pytest.raises(writer_services.ContextTakenError):
            send(lease)

        assert draft_of(lease)
        assert slots_of(context) == 3

    @pytest.mark.parametrize(("decision", "n"), [(Review.DROPPED, 0), (Review.KEPT, 1)])
    def test_asks_no_writer_to_finish_a_draft(self, writer, context, decision, n):
        save_draft(lease_next(writer))
        writer_services.release_expired_writing_leases(now=NOW + 3 * HOUR)
        review(context, decision)

        assert stranded_leases(writer).count() == n

    def test_is_completed_by_no_model(self, dataset, dropped, kept):
        system = make_system()

        generation_services.plan_generation_calls(dataset=dataset, systems=[system], now=NOW)

        assert [call.context for call in GenerationCall.objects.all()] == [kept]

    def test_keeps_the_calls_that_were_planned_before(self, dataset, context):
        generation_services.plan_generation_calls(dataset=dataset, systems=[make_system()], now=NOW)

        review(context, Review.DROPPED)

        assert GenerationCall.objects.get().context == context

    def test_enters_no_plan(self, dataset, dropped, kept):
        for one in (dropped, kept):
            for _ in range(2):
                make_completion(context=one)
        study = make_study(dataset=dataset)

        plan_study(study=study, now=NOW)

        assert [pair.context for pair in study.comparisons.all()] == [kept]

    def test_keeps_the_comparisons_that_it_has_and_gets_no_more(self, dataset, context):
        for _ in range(2):
            make_completion(context=context)
        study = make_study(dataset=dataset)
        plan_study(study=study, now=NOW)
        planned = list(Comparison.objects.values())

        review(context, Review.DROPPED)
        make_completion(context=context)
        plan_study(study=study, now=NOW)

        assert list(Comparison.objects.values()) == planned

    def test_is_planned_once_it_is_taken_back(self, dataset, dropped):
        for _ in range(2):
            make_completion(context=dropped)
        study = make_study(dataset=dataset)

        review(dropped, Review.KEPT)
        plan_study(study=study, now=NOW)

        assert study.comparisons.count() == 1
