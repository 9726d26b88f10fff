"""How a text becomes a completion, and what happens to one that does not."""

import hashlib
import uuid

import pytest

from completions import services, wording
from completions.choices import LeaseOutcome, SystemKind, WriterState
from completions.models import Completion, Context, System
from tests.factories import HOUR, NOW, make_dataset, make_writer
from tests.written import (
    TEXT,
    draft_of,
    lease_next,
    make_open_context,
    set_state,
    skip,
    slots_of,
    submit,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    return make_dataset()


@pytest.fixture
def writer(dataset):
    return make_writer(dataset=dataset)


@pytest.fixture
def context(dataset):
    return make_open_context(dataset, slots_left=3)


class TestSubmitCompletion:
    def test_stores_the_text_as_a_completion_of_the_human_supporters(self, writer, context):
        completion = submit(lease_next(writer), f"\n {TEXT} ", now=NOW + HOUR)

        completion.refresh_from_db()
        assert (completion.context, completion.writer) == (context, writer)
        assert (completion.text, completion.created_at) == (TEXT, NOW + HOUR)
        assert completion.content_hash == hashlib.sha256(TEXT.encode()).hexdigest()
        assert completion.system.kind == SystemKind.HUMAN

    def test_closes_the_lease_and_keeps_the_slot(self, writer, context):
        lease = lease_next(writer)

        submit(lease, now=NOW + HOUR)

        lease.refresh_from_db()
        assert (lease.outcome, lease.closed_at) == (LeaseOutcome.SUBMITTED, NOW + HOUR)
        assert slots_of(context) == 2

    def test_files_all_people_under_one_system(self, dataset, context):
        for _ in range(2):
            submit(lease_next(make_writer(dataset=dataset)))

        assert System.objects.get(kind=SystemKind.HUMAN).completions.count() == 2

    @pytest.mark.parametrize("text", [TEXT, "Something else entirely, in another tab."])
    def test_returns_the_completion_already_stored_when_repeated(self, writer, context, text):
        lease = lease_next(writer)
        completion = submit(lease)

        again = submit(lease, text, now=NOW + HOUR)

        assert (again, again.text) == (completion, TEXT)
        assert Completion.objects.count() == 1
        assert slots_of(context) == 2

    def test_accepts_a_text_after_its_time_as_long_as_nobody_took_the_slot_back(
        self, writer, context
    ):
        assert submit(lease_next(writer), now=NOW + 5 * HOUR).pk

    def test_takes_a_slot_again_when_the_lease_was_given_back(self, writer, context):
        lease = lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        submit(lease, now=NOW + 3 * HOUR)

        lease.refresh_from_db()
        assert lease.outcome == LeaseOutcome.SUBMITTED
        assert slots_of(context) == 2

    def test_counts_when_the_context_was_skipped_in_another_tab(self, writer, context):
        lease = lease_next(writer)
        skip(lease)

        submit(lease)

        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SUBMITTED, "")
        assert slots_of(context) == 2

    def test_takes_the_same_number_of_queries_whatever_came_before(
        self, writer, dataset, context, django_assert_num_queries
    ):
        submit(lease_next(make_writer(dataset=dataset)))
        lease = lease_next(writer)

        # Keep the draft: savepoint and its release, lock the lease, store the draft. Then:
        # savepoint and its release; lock the writer; lock the lease; look for a completion; find
        # the human system; store the completion; close the lease.
        with django_assert_num_queries(12):
            submit(lease)


class TestARefusedCompletion:
    def is_kept_as_a_draft(self, lease, text):
        return draft_of(lease) == text and not Completion.objects.exists()

    @pytest.mark.parametrize(
        "text", ["Oh no", "word " * 151], ids=["far too short", "far too long"]
    )
    def test_is_unusable(self, writer, context, text):
        lease = lease_next(writer)

        with pytest.raises(wording.UnusableTextError):
            submit(lease, text)

        lease.refresh_from_db()
        assert self.is_kept_as_a_draft(lease, text)
        assert lease.closed_at is None

    def test_was_not_declared_to_be_in_own_words(self, writer, context):
        lease = lease_next(writer)

        with pytest.raises(services.OwnWordsMissingError):
            submit(lease, is_own_words=False)

        lease.refresh_from_db()
        assert self.is_kept_as_a_draft(lease, TEXT)
        assert lease.closed_at is None

    def test_comes_when_others_have_filled_the_context(self, writer, context):
        lease = lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)
        Context.objects.update(slots_left=0)

        with pytest.raises(services.ContextTakenError):
            submit(lease, now=NOW + 3 * HOUR)

        lease.refresh_from_db()
        assert self.is_kept_as_a_draft(lease, TEXT)
        assert lease.outcome == LeaseOutcome.EXPIRED
        assert slots_of(context) == 0

    @pytest.mark.parametrize("state", [WriterState.PAUSED, WriterState.LEFT])
    def test_comes_from_a_writer_who_may_not_write_any_more(self, writer, context, state):
        lease = lease_next(writer)
        set_state(writer, state)

        with pytest.raises(services.WriterNotActiveError):
            submit(lease)

        assert self.is_kept_as_a_draft(lease, TEXT)

    def test_comes_from_a_writer_who_has_withdrawn_and_is_not_kept_at_all(self, writer, context):
        lease = lease_next(writer)
        set_state(writer, WriterState.WITHDRAWN)

        with pytest.raises(services.WritingLeaseNotFoundError):
            submit(lease)

        assert self.is_kept_as_a_draft(lease, "")

    def test_has_a_token_that_nobody_has(self, writer, context):
        lease = lease_next(writer)
        lease.token = uuid.uuid4()

        with pytest.raises(services.WritingLeaseNotFoundError):
            submit(lease)

        assert self.is_kept_as_a_draft(lease, "")

    def test_has_the_token_of_another_writer(self, writer, context, dataset):
        lease = lease_next(writer)

        with pytest.raises(services.WritingLeaseNotFoundError):
            submit(lease, writer=make_writer(dataset=dataset))

        assert self.is_kept_as_a_draft(lease, "")
