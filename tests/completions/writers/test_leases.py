"""Which context a writer gets, the draft, and how the slot comes back."""

import itertools
import uuid

import pytest

from completions.choices import LeaseOutcome, WriterState
from completions.models import WritingLease
from completions.writers import services
from tests.helpers.factories import HOUR, NOW, make_dataset, make_writer
from tests.helpers.written import (
    SECOND,
    draft_of,
    lease_next,
    make_open_context,
    save_draft,
    send,
    set_state,
    skip,
    slots_of,
    writers_of,
)

pytestmark = pytest.mark.django_db

MAY_WRITE = {WriterState.ACTIVE, WriterState.VETTING}


@pytest.fixture
def dataset():
    return make_dataset()


@pytest.fixture
def writer(dataset):
    return make_writer(dataset=dataset)


@pytest.fixture
def context(dataset):
    return make_open_context(dataset, slots_left=3)


class TestLeaseNextContext:
    def test_claims_a_slot_for_two_hours(self, writer, context):
        lease = lease_next(writer)

        assert (lease.context, lease.writer) == (context, writer)
        assert (lease.issued_at, lease.expires_at) == (NOW, NOW + 2 * HOUR)
        assert slots_of(context) == 2

    def test_returns_the_open_lease_again_and_claims_nothing_more(self, writer, dataset):
        contexts = [make_open_context(dataset) for _ in range(2)]
        lease = lease_next(writer)

        again = lease_next(writer, NOW + HOUR)

        assert (again, again.expires_at) == (lease, lease.expires_at)
        assert sum(slots_of(one) for one in contexts) == 5

    def test_prolongs_a_lease_that_ran_out_and_was_not_given_back(self, writer, context):
        lease = lease_next(writer)

        assert lease_next(writer, NOW + 2 * HOUR) == lease

        lease.refresh_from_db()
        assert lease.expires_at == NOW + 4 * HOUR

    def test_gives_contexts_with_the_most_completions_missing_first(self, writer, dataset):
        make_open_context(dataset, slots_left=1)
        emptiest = make_open_context(dataset, slots_left=3)
        make_open_context(dataset, slots_left=2)

        assert lease_next(writer).context == emptiest

    @pytest.mark.parametrize("close", [send, skip], ids=["written for", "skipped"])
    def test_never_gives_a_context_again_once_it_is(self, writer, context, close):
        close(lease_next(writer))

        assert lease_next(writer) is None

    def test_never_gives_a_context_again_once_the_lease_expired(self, writer, context):
        lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        assert lease_next(writer, NOW + 2 * HOUR) is None
        assert slots_of(context) == 3

    def test_finds_nothing_in_full_contexts_or_other_datasets(self, writer, dataset):
        make_open_context(dataset, slots_left=0)
        make_open_context(make_dataset())

        assert lease_next(writer) is None

    @pytest.mark.parametrize("state", sorted(set(WriterState) - MAY_WRITE))
    def test_refuses_a_writer_who_is(self, writer, context, state):
        set_state(writer, state)

        with pytest.raises(services.WriterNotActiveError):
            lease_next(writer)

        assert slots_of(context) == 3

    def test_fills_every_context_with_three_completions_by_three_people(self, dataset):
        contexts = [make_open_context(dataset, slots_left=3) for _ in range(3)]
        writers = [make_writer(dataset=dataset) for _ in range(5)]

        for writer in itertools.chain(*[writers] * 3):
            if (lease := lease_next(writer)) is not None:
                send(lease)

        for context in contexts:
            people = list(writers_of(context))
            assert len(people) == len(set(people)) == 3
            assert slots_of(context) == 0

    def test_takes_the_same_number_of_queries_however_many_contexts(
        self, writer, dataset, django_assert_num_queries
    ):
        for _ in range(8):
            make_open_context(dataset)

        # Savepoint and its release; lock the writer; read the dataset; look for an open lease;
        # count what the writer had and may have; a savepoint, lock a context, its release; take
        # its slot; store the lease.
        with django_assert_num_queries(11):
            lease_next(writer)


class TestSkipContext:
    def test_gives_the_slot_back_and_keeps_the_reason(self, writer, context):
        lease = lease_next(writer)

        skip(lease, "too close to home", now=NOW + SECOND)

        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "too close to home")
        assert lease.closed_at == NOW + SECOND
        assert slots_of(context) == 3

    def test_keeps_the_draft(self, writer, context):
        lease = lease_next(writer)
        save_draft(lease)

        skip(lease)

        assert draft_of(lease) == "I can hear how"

    def test_changes_nothing_when_repeated(self, writer, context):
        lease = lease_next(writer)
        skip(lease, "upsetting")

        skip(lease, "unclear", now=NOW + SECOND)

        lease.refresh_from_db()
        assert (lease.skip_reason, lease.closed_at) == ("upsetting", NOW)
        assert slots_of(context) == 3

    def test_changes_nothing_when_the_text_was_sent_in_another_tab(self, writer, context):
        lease = lease_next(writer)
        send(lease)

        skip(lease)

        lease.refresh_from_db()
        assert lease.outcome == LeaseOutcome.SUBMITTED
        assert slots_of(context) == 2

    def test_refuses_a_token_that_nobody_has(self, writer):
        with pytest.raises(services.WritingLeaseNotFoundError):
            services.skip_context(token=uuid.uuid4(), writer=writer, reason="unclear", now=NOW)


class TestReleaseExpiredWritingLeases:
    def test_closes_what_ran_out_and_nothing_else(self, dataset, context):
        late, open_, sent = (lease_next(make_writer(dataset=dataset)) for _ in range(3))
        WritingLease.objects.filter(pk=open_.pk).update(expires_at=NOW + 2 * HOUR + SECOND)
        send(sent)

        assert services.release_expired_writing_leases(now=NOW + 2 * HOUR) == 1

        outcomes = [WritingLease.objects.get(pk=one.pk).outcome for one in (late, open_, sent)]
        assert outcomes == [LeaseOutcome.EXPIRED, "", LeaseOutcome.SUBMITTED]
        assert slots_of(context) == 1

    def test_keeps_the_draft(self, writer, context):
        lease = lease_next(writer)
        save_draft(lease)

        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        assert draft_of(lease) == "I can hear how"

    def test_finds_nothing_more_when_repeated(self, writer, context):
        lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        assert services.release_expired_writing_leases(now=NOW + 2 * HOUR) == 0
        assert slots_of(context) == 3
