"""Which dialogue a writer gets: strata, the bound, trials, frozen datasets; what a desk says."""

import pytest

from completions.choices import LeaseOutcome, MessageState, MessageVerdict, Review, WriterState
from completions.models import Context, Dataset, Writer, WritingLease
from completions.writers import desk_queries, services
from completions.writers.assigning import ADVERSARIAL, REGULAR, Stock, WriterStatus
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_context,
    make_dataset,
    make_dialogue,
    make_writer,
)
from tests.helpers.factories_of_people import make_accepted, make_vetting
from tests.helpers.written import lease_next, make_open_context, send, skip, slots_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    return make_dataset()


@pytest.fixture
def writer(dataset):
    return make_writer(dataset=dataset)


def make_dialogues(dataset, n, *, stratum=REGULAR, slots_left=3):
    fields = {"stratum": stratum, "slots_left": slots_left}
    return [make_context(dialogue=make_dialogue(dataset=dataset), **fields) for _ in range(n)]


def make_newcomer(*, n_dialogues=2, **fields):
    """A writer on trial, for whom dialogues of the dataset itself wait as well."""
    dataset = make_dataset(vetting=make_vetting(n_dialogues), **fields)
    make_open_context(dataset)
    return make_writer(dataset=dataset, state=WriterState.VETTING, admitted_at=None)


def send_next(writer):
    lease = lease_next(writer)
    send(lease)
    return lease


def strata_given(writer):
    """Write for whatever is handed out, and return the strata in order."""
    strata = []
    while (lease := lease_next(writer)) is not None:
        strata.append(lease.context.stratum)
        send(lease)
    return strata


def sweep():
    services.release_expired_writing_leases(now=NOW + 2 * HOUR)


class TestWriters:
    def test_get_one_adversarial_dialogue_in_four_at_most_and_never_two_in_a_row(
        self, dataset, writer
    ):
        make_dialogues(dataset, 10)
        make_dialogues(dataset, 10, stratum=ADVERSARIAL)

        strata = strata_given(writer)

        assert strata.count(REGULAR) == 10
        assert strata.count(ADVERSARIAL) == 3
        assert all(
            4 * strata[:n].count(ADVERSARIAL) <= n and strata[n - 2 : n] != [ADVERSARIAL] * 2
            for n in range(1, len(strata) + 1)
        )

    def test_get_nothing_when_only_adversarial_dialogues_are_left_above_the_bound(
        self, dataset, writer
    ):
        make_dialogues(dataset, 2, stratum=ADVERSARIAL)

        assert lease_next(writer) is None
        assert desk_queries.desk(writer).n_waiting == 0

    def test_get_only_adversarial_dialogues_where_nothing_bounds_them(self):
        dataset = make_dataset(most_adversarial=100)
        make_dialogues(dataset, 2, stratum=ADVERSARIAL)

        assert strata_given(make_writer(dataset=dataset)) == [ADVERSARIAL] * 2

    def test_get_the_emptiest_dialogue_of_whichever_stratum(self, dataset, writer):
        make_dialogues(dataset, 4)
        for _ in range(3):
            send_next(writer)
        Context.objects.filter(slots_left=3).update(slots_left=1)
        [emptiest] = make_dialogues(dataset, 1, stratum=ADVERSARIAL, slots_left=3)

        assert lease_next(writer).context == emptiest

    def test_go_through_equally_empty_dialogues_in_orders_of_their_own(self, dataset):
        make_dialogues(dataset, 30)
        writers = [make_writer(dataset=dataset) for _ in range(6)]

        orders = [
            tuple(desk_queries.contexts_to_give(one).values_list("key", flat=True))
            for one in writers
        ]

        assert len(set(orders)) == 6
        assert len({frozenset(order) for order in orders}) == 1

    @pytest.mark.parametrize(
        "verdict", [MessageVerdict.RETURNED, MessageVerdict.REJECTED], ids=["returned", "rejected"]
    )
    def test_never_get_a_dialogue_again_whose_message_was(self, dataset, writer, verdict):
        make_dialogues(dataset, 1)
        lease = send_next(writer)

        services.decide_message(
            message=lease.message, verdict=verdict, note="Too long.", by=None, now=NOW
        )

        assert lease_next(writer) is None

    def test_never_get_a_dialogue_for_which_a_text_of_theirs_was_imported(self):
        message = make_accepted()
        writer = message.lease.writer
        assert slots_of(message.lease.context) > 0

        assert lease_next(writer) is None

    def test_get_no_dialogue_that_was_dropped(self, dataset, writer):
        [dialogue] = make_dialogues(dataset, 1)
        Context.objects.filter(pk=dialogue.pk).update(review=Review.DROPPED)

        assert lease_next(writer) is None
        assert desk_queries.desk(writer).n_waiting == 0


class TestNewcomers:
    def test_get_the_dialogues_of_the_vetting_set_in_its_order_and_nothing_else(self):
        writer = make_newcomer(n_dialogues=3)

        leases = []
        while (lease := lease_next(writer)) is not None:
            leases.append(lease)
            send(lease)

        assert [lease.context_id for lease in leases] == list(
            writer.dataset.vetting.contexts.order_by("pk").values_list("pk", flat=True)
        )
        assert all(lease.is_trial for lease in leases)
        assert set(WritingLease.objects.values_list("message__state", flat=True)) == {
            MessageState.TRIAL
        }

    def test_take_no_slot_and_give_none_back(self):
        writer = make_newcomer(n_dialogues=2)

        send_next(writer)
        skip(lease_next(writer))

        assert set(writer.dataset.vetting.contexts.values_list("slots_left", flat=True)) == {0}

    def test_do_not_get_a_dialogue_again_that_they_skipped(self):
        writer = make_newcomer(n_dialogues=1)

        skip(lease_next(writer))

        assert lease_next(writer) is None

    def test_keep_the_dialogue_they_are_at_however_long_it_takes(self):
        writer = make_newcomer(n_dialogues=2)
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
        writer = make_newcomer(n_dialogues=1)
        send_next(writer)
        Writer.objects.filter(pk=writer.pk).update(state=WriterState.ACTIVE, admitted_at=NOW)

        lease = lease_next(writer)

        assert not lease.is_trial
        assert lease.context.dataset == writer.dataset
        assert slots_of(lease.context) == 2

    def test_read_how_many_trial_dialogues_wait_and_were_written(self):
        writer = make_newcomer(n_dialogues=4)
        send_next(writer)
        skip(lease_next(writer))
        lease_next(writer)

        assert desk_queries.desk(writer) == desk_queries.DeskContents(
            n_written=1, n_waiting=2, n_trial=0
        )


class TestAFrozenDataset:
    @pytest.mark.parametrize("state", [WriterState.VETTING, WriterState.ACTIVE])
    def test_hands_out_nothing(self, state):
        writer = make_newcomer()
        Writer.objects.update(state=state, admitted_at=NOW)
        Dataset.objects.filter(pk=writer.dataset_id).update(frozen_at=NOW)

        with pytest.raises(services.DatasetFrozenError):
            lease_next(writer)

        assert not WritingLease.objects.exists()

    def test_does_not_show_a_dialogue_that_was_claimed_before(self, dataset, writer):
        make_dialogues(dataset, 1)
        lease_next(writer)
        Dataset.objects.filter(pk=dataset.pk).update(frozen_at=NOW)

        with pytest.raises(services.DatasetFrozenError):
            lease_next(writer)

    def test_promises_nothing_on_a_desk(self, dataset, writer):
        make_dialogues(dataset, 2)
        send_next(writer)
        lease_next(writer)
        dataset.frozen_at = NOW
        dataset.save()

        seen = desk_queries.desk(Writer.objects.get(pk=writer.pk))

        assert seen == desk_queries.DeskContents(n_written=1, n_waiting=0, n_trial=0)


class TestTheDesk:
    def test_promises_what_the_writer_then_gets(self, dataset, writer):
        make_dialogues(dataset, 7)
        make_dialogues(dataset, 5, stratum=ADVERSARIAL)
        promised = desk_queries.desk(writer).n_waiting

        assert len(strata_given(writer)) == promised == 9
        assert desk_queries.desk(writer) == desk_queries.DeskContents(
            n_written=9, n_waiting=0, n_trial=0
        )

    def test_counts_the_dialogue_that_is_held_and_no_trial(self, dataset, writer):
        make_dialogues(dataset, 3)
        send_next(writer)
        lease_next(writer)
        [old] = make_vetting(1).contexts.all()
        WritingLease.objects.create(
            context=old,
            writer=writer,
            is_trial=True,
            issued_at=NOW,
            expires_at=NOW + HOUR,
            closed_at=NOW,
            outcome=LeaseOutcome.SUBMITTED,
        )

        assert desk_queries.desk(writer) == desk_queries.DeskContents(
            n_written=1, n_waiting=2, n_trial=1
        )

    def test_takes_as_many_queries_however_much_there_is(
        self, dataset, writer, django_assert_num_queries
    ):
        make_dialogues(dataset, 9)
        make_dialogues(dataset, 3, stratum=ADVERSARIAL)
        for _ in range(4):
            send_next(writer)

        with django_assert_num_queries(2):
            desk_queries.desk(writer)


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

        seen = desk_queries.status_of(writer)

        kept = {REGULAR: 2, ADVERSARIAL: 0}
        kept[held.context.stratum] += 1
        assert (seen.regular.kept, seen.adversarial.kept) == (kept[REGULAR], kept[ADVERSARIAL])
        assert (seen.regular.given_up, seen.adversarial.given_up) == (1, 0)
        assert seen.was_adversarial == (held.context.stratum == ADVERSARIAL)

    def test_leaves_other_writers_out(self, dataset, writer):
        make_dialogues(dataset, 2)
        send_next(make_writer(dataset=dataset))

        assert desk_queries.status_of(writer) == WriterStatus(regular=Stock(dialogues=2, slots=5))

    def test_is_empty_without_dialogues(self, writer):
        assert desk_queries.status_of(writer) == WriterStatus()
