"""Which dialogue a writer gets, how it comes back, and what the desk promises."""

from itertools import pairwise

import pytest

from completions.choices import LeaseOutcome, MessageState, Review, WriterState
from completions.models import Context, Dataset, Writer, WritingLease
from completions.writers import queries
from completions.writers.assigning import ADVERSARIAL, REGULAR, Stock, WriterStatus
from completions.writers.services.leasing import (
    DatasetFrozenError,
    WriterNotActiveError,
    release_expired_writing_leases,
)
from tests.completions.writers.desk import SENT, make_newcomer
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_context,
    make_dataset,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import make_accepted, make_vetting
from tests.helpers.written import (
    REJECT,
    RETURN,
    SECOND,
    decide,
    draft_of,
    lease_next,
    make_open_context,
    save_draft,
    send,
    set_state,
    skip,
    slots_of,
)

pytestmark = pytest.mark.django_db

MAY_WRITE = {WriterState.ACTIVE, WriterState.VETTING}
LATER = NOW + 2 * HOUR  # every lease has run out by then


def make_dialogues(dataset, n, *, stratum=REGULAR, slots_left=3, **fields):
    fields |= {"stratum": stratum, "slots_left": slots_left}
    return [make_context(dataset=dataset, **fields) for _ in range(n)]


def send_next(writer):
    lease = lease_next(writer)
    send(lease)
    return lease


def write_all(writer):
    """Write for whatever is handed out, and return the leases in order."""
    leases = []
    while (lease := lease_next(writer)) is not None:
        leases.append(lease)
        send(lease)
    return leases


def strata_given(writer):
    return [lease.context.stratum for lease in write_all(writer)]


def sweep(*_leases):
    return release_expired_writing_leases(now=LATER)


def have_returned(lease):
    decide(send(lease), RETURN)


def have_rejected(lease):
    decide(send(lease), REJECT)


class TestLeaseNextContext:
    def test_claims_a_slot_for_two_hours(self, writer, context):
        lease = lease_next(writer)

        assert (lease.context, lease.writer) == (context, writer)
        assert (lease.issued_at, lease.expires_at) == (NOW, LATER)
        assert slots_of(context) == 2

    def test_returns_the_open_lease_again_and_claims_nothing_more(self, writer, dataset):
        contexts = make_dialogues(dataset, 2)
        lease = lease_next(writer)

        again = lease_next(writer, NOW + HOUR)

        assert (again, again.expires_at) == (lease, lease.expires_at)
        assert sum(slots_of(one) for one in contexts) == 5

    def test_prolongs_a_lease_that_ran_out_and_was_not_given_back(self, writer, context):
        lease = lease_next(writer)

        assert lease_next(writer, LATER) == lease

        lease.refresh_from_db()
        assert lease.expires_at == NOW + 4 * HOUR

    def test_gives_the_emptiest_dialogue_first(self, writer, dataset):
        _few, emptiest, _more = (
            make_open_context(dataset, slots_left=n_missing) for n_missing in (1, 3, 2)
        )

        assert lease_next(writer).context == emptiest

    def test_gives_the_emptiest_dialogue_of_whichever_stratum(self, dataset, writer):
        make_dialogues(dataset, 4)
        for _ in range(3):
            send_next(writer)
        Context.objects.filter(slots_left=3).update(slots_left=1)
        [emptiest] = make_dialogues(dataset, 1, stratum=ADVERSARIAL, slots_left=3)

        assert lease_next(writer).context == emptiest

    @pytest.mark.parametrize("close", [send, skip, sweep, have_returned, have_rejected])
    def test_never_gives_a_dialogue_again(self, writer, context, close):
        close(lease_next(writer))

        assert lease_next(writer, LATER) is None

    def test_never_gives_a_dialogue_for_which_a_text_of_theirs_was_imported(self):
        message = make_accepted()
        assert slots_of(message.lease.context) > 0

        assert lease_next(message.lease.writer) is None

    @pytest.mark.parametrize(
        "fields",
        [{"slots_left": 0}, {"review": Review.DROPPED}, {"stratum": ADVERSARIAL}],
        ids=["full", "dropped", "above the bound"],
    )
    def test_finds_nothing_where_dialogues_are(self, writer, dataset, fields):
        make_dialogues(dataset, 2, **fields)
        make_open_context(make_dataset())

        assert lease_next(writer) is None
        assert queries.desk_counts(writer)["n_waiting"] == 0

    @pytest.mark.parametrize("state", sorted(set(WriterState) - MAY_WRITE))
    def test_refuses_a_writer_who_is(self, writer, context, state):
        set_state(writer, state)

        with pytest.raises(WriterNotActiveError):
            lease_next(writer)

        assert slots_of(context) == 3

    def test_gives_equally_empty_dialogues_in_an_order_of_the_writers_own(self, dataset):
        make_dialogues(dataset, 30)
        writers = [make_writer(dataset=dataset) for _ in range(6)]

        orders = [
            tuple(queries.contexts_to_give(one).values_list("key", flat=True)) for one in writers
        ]

        assert len(set(orders)) == 6
        assert len({frozenset(order) for order in orders}) == 1

    def test_takes_the_same_number_of_queries_however_many_contexts(
        self, writer, dataset, django_assert_num_queries
    ):
        make_dialogues(dataset, 8)

        # Savepoint and its release; lock the writer; read the dataset; look for an open lease;
        # count what the writer had and may have; a savepoint, lock a context, its release; take
        # its slot; store the lease.
        with django_assert_num_queries(11):
            lease_next(writer)


def test_only_adversarial_dialogues_are_given_where_nothing_bounds_them():
    dataset = make_dataset(most_adversarial=100)
    make_dialogues(dataset, 2, stratum=ADVERSARIAL)

    assert strata_given(make_writer(dataset=dataset)) == [ADVERSARIAL] * 2


class TestNewcomers:
    def test_get_the_dialogues_of_the_vetting_set_in_its_order_and_nothing_else(self):
        writer = make_newcomer()
        make_open_context(writer.dataset)

        leases = write_all(writer)

        assert [lease.context for lease in leases] == list(
            writer.dataset.vetting.contexts.order_by("pk")
        )
        assert all(lease.is_trial for lease in leases)
        states = WritingLease.objects.values_list("message__state", flat=True)
        assert set(states) == {MessageState.TRIAL}

    def test_take_no_slot_give_none_back_and_get_nothing_again_that_they_skipped(self):
        writer = make_newcomer(2)

        send_next(writer)
        skip(lease_next(writer))

        assert set(writer.dataset.vetting.contexts.values_list("slots_left", flat=True)) == {0}
        assert lease_next(writer) is None

    def test_keep_the_dialogue_they_are_at_however_long_it_takes(self):
        writer = make_newcomer(2)
        lease = lease_next(writer)

        sweep()

        assert lease_next(writer, NOW + 3 * HOUR) == lease
        lease.refresh_from_db()
        assert (lease.outcome, lease.expires_at) == ("", NOW + 5 * HOUR)

    def test_get_nothing_where_nobody_chose_a_vetting_set(self):
        writer = make_newcomer()
        Dataset.objects.filter(pk=writer.dataset_id).update(vetting=None)

        assert lease_next(Writer.objects.get(pk=writer.pk)) is None

    def test_get_dialogues_that_count_once_they_are_admitted(self):
        writer = make_newcomer(1)
        make_open_context(writer.dataset)
        send_next(writer)
        Writer.objects.filter(pk=writer.pk).update(state=WriterState.ACTIVE, admitted_at=NOW)

        lease = lease_next(writer)

        assert not lease.is_trial
        assert lease.context.dataset == writer.dataset
        assert slots_of(lease.context) == 2


class TestAFrozenDataset:
    @pytest.mark.parametrize("state", [WriterState.VETTING, WriterState.ACTIVE])
    @pytest.mark.parametrize("is_claimed", [False, True], ids=["at first", "claimed before"])
    def test_hands_out_nothing(self, state, is_claimed):
        writer = make_newcomer()
        make_open_context(writer.dataset)
        Writer.objects.update(state=state, admitted_at=NOW)
        if is_claimed:
            lease_next(writer)
        Dataset.objects.filter(pk=writer.dataset_id).update(frozen_at=NOW)

        with pytest.raises(DatasetFrozenError):
            lease_next(writer)

        assert WritingLease.objects.count() == is_claimed

    def test_promises_nothing_on_a_desk(self, dataset, writer):
        make_dialogues(dataset, 2)
        send_next(writer)
        lease_next(writer)
        Dataset.objects.filter(pk=dataset.pk).update(frozen_at=NOW)

        seen = queries.desk_counts(Writer.objects.get(pk=writer.pk))

        assert seen == {"n_written": 1, "n_waiting": 0, "n_trial": 0}


class TestSkipContext:
    def test_gives_the_slot_back_and_keeps_the_reason_and_the_draft(self, writer, context):
        lease = lease_next(writer)
        save_draft(lease)

        skip(lease, "too close to home", now=NOW + SECOND)

        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "too close to home")
        assert (lease.closed_at, lease.draft) == (NOW + SECOND, "I can hear how")
        assert slots_of(context) == 3

    def test_changes_nothing_when_repeated_or_when_the_text_was_sent_in_another_tab(
        self, writer, dataset, context
    ):
        other = make_open_context(dataset)
        lease = lease_next(writer)
        skip(lease, "upsetting")
        sent = send_next(writer)

        for one in (lease, sent):
            skip(one, "unclear", now=NOW + SECOND)

        lease.refresh_from_db()
        sent.refresh_from_db()
        assert (lease.outcome, lease.skip_reason, lease.closed_at) == ("SKIPPED", "upsetting", NOW)
        assert (sent.outcome, sent.skip_reason) == (LeaseOutcome.SUBMITTED, "")
        assert sorted(slots_of(one) for one in (context, other)) == [2, 3]


def test_a_sweep_closes_what_ran_out_keeps_the_draft_and_finds_nothing_more(dataset, context):
    late, open_, sent = (lease_next(make_writer(dataset=dataset)) for _ in range(3))
    WritingLease.objects.filter(pk=open_.pk).update(expires_at=LATER + SECOND)
    save_draft(late)
    send(sent)

    assert (sweep(), sweep()) == (1, 0)

    outcomes = [WritingLease.objects.get(pk=one.pk).outcome for one in (late, open_, sent)]
    assert outcomes == [LeaseOutcome.EXPIRED, "", LeaseOutcome.SUBMITTED]
    assert draft_of(late) == "I can hear how"
    assert slots_of(context) == 1


class TestTheDesk:
    def test_promises_what_the_writer_then_gets(self, dataset, writer):
        make_dialogues(dataset, 7)
        make_dialogues(dataset, 5, stratum=ADVERSARIAL)
        promised = queries.desk_counts(writer)["n_waiting"]

        strata = strata_given(writer)

        assert len(strata) == promised == 9
        assert strata.count(ADVERSARIAL) == 2
        assert all(pair != (ADVERSARIAL, ADVERSARIAL) for pair in pairwise(strata))
        assert queries.desk_counts(writer) == {"n_written": 9, "n_waiting": 0, "n_trial": 0}

    def test_counts_the_dialogue_that_is_held_and_no_trial(self, dataset, writer):
        make_dialogues(dataset, 3)
        send_next(writer)
        lease_next(writer)
        [old] = make_vetting(1).contexts.all()
        make_writing_lease(context=old, writer=writer, is_trial=True, **SENT)

        assert queries.desk_counts(writer) == {"n_written": 1, "n_waiting": 2, "n_trial": 1}

    def test_of_a_newcomer_counts_the_trial_dialogues(self):
        writer = make_newcomer(4)
        send_next(writer)
        skip(lease_next(writer))
        lease_next(writer)

        assert queries.desk_counts(writer) == {"n_written": 1, "n_waiting": 2, "n_trial": 0}

    def test_takes_as_many_queries_however_much_there_is(
        self, dataset, writer, django_assert_num_queries
    ):
        make_dialogues(dataset, 9)
        make_dialogues(dataset, 3, stratum=ADVERSARIAL)
        for _ in range(4):
            send_next(writer)

        with django_assert_num_queries(2):
            queries.desk_counts(writer)


class TestTheStatus:
    def test_counts_open_dialogues_and_what_became_of_those_the_writer_had(self, dataset, writer):
        make_dialogues(dataset, 4)
        make_dialogues(dataset, 2, stratum=ADVERSARIAL, slots_left=2)
        make_dialogues(dataset, 1, slots_left=0)
        send_next(writer)
        lease_next(writer)
        sweep()
        send_next(writer)
        held = lease_next(writer)

        seen = queries.status_of(writer)

        kept = {REGULAR: 2, ADVERSARIAL: 0}
        kept[held.context.stratum] += 1
        assert (seen.regular.kept, seen.adversarial.kept) == (kept[REGULAR], kept[ADVERSARIAL])
        assert (seen.regular.given_up, seen.adversarial.given_up) == (1, 0)
        assert seen.was_adversarial == (held.context.stratum == ADVERSARIAL)

    def test_leaves_other_writers_out(self, dataset, writer):
        assert queries.status_of(writer) == WriterStatus()
        make_dialogues(dataset, 2)
        send_next(make_writer(dataset=dataset))

        assert queries.status_of(writer) == WriterStatus(regular=Stock(dialogues=2, slots=5))
