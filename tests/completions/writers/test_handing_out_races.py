"""Dialogues that are handed out while something else happens to them, in real threads."""

from functools import partial

import pytest

from completions.choices import LeaseOutcome, WriterState
from completions.models import Message, WritingLease
from completions.writers import services
from completions.writers.assigning import ADVERSARIAL
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_context,
    make_dataset,
    make_dialogue,
    make_writer,
)
from tests.helpers.factories_of_people import make_vetting
from tests.helpers.threads import together, while_uncommitted
from tests.helpers.written import lease_next, make_open_context, send, slots_of

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]

LATER = NOW + 2 * HOUR  # every lease has run out by then


@pytest.fixture
def dataset():
    return make_dataset()


@pytest.fixture
def writer(dataset):
    return make_writer(dataset=dataset)


def sweep():
    return services.release_expired_writing_leases(now=LATER)


def freeze(dataset):
    return services.freeze_dataset(dataset=dataset, by=None, now=NOW)


def lease_unless_frozen(writer):
    try:
        return lease_next(writer)
    except services.DatasetFrozenError:
        return "frozen"


class TestTwoTabs:
    def test_of_a_newcomer_open_one_trial_dialogue(self, crowd):
        dataset = make_dataset(vetting=make_vetting(crowd.rounds))
        for _ in range(crowd.rounds):
            writer = make_writer(dataset=dataset, state=WriterState.VETTING, admitted_at=None)

            first, second = together([partial(lease_next, writer)] * 2)

            assert first == second
            assert writer.leases.count() == 1

    def test_of_a_writer_get_past_no_bound(self, dataset, writer, crowd):
        for _ in range(3):
            make_open_context(dataset)
            send(lease_next(writer))
        for _ in range(4):
            make_context(dialogue=make_dialogue(dataset=dataset), stratum=ADVERSARIAL)

        def send_whatever_comes():
            while (lease := lease_next(writer)) is not None:
                send(lease)

        together([send_whatever_comes] * 4)

        hostile = WritingLease.objects.filter(context__stratum=ADVERSARIAL)
        assert [one.outcome for one in hostile] == [LeaseOutcome.SUBMITTED]


class TestASweep:
    def test_leaves_a_dialogue_alone_whose_message_is_being_sent(self, dataset, writer):
        context = make_open_context(dataset, slots_left=1)
        lease = lease_next(writer)

        n_swept = while_uncommitted(partial(send, lease, now=LATER), sweep, has_to_wait=False)

        lease.refresh_from_db()
        assert (n_swept, lease.outcome) == (0, LeaseOutcome.SUBMITTED)
        assert slots_of(context) == 0

    def test_that_comes_first_is_waited_for_and_the_slot_taken_again(self, dataset, writer):
        context = make_open_context(dataset, slots_left=1)
        lease = lease_next(writer)

        message = while_uncommitted(sweep, partial(send, lease, now=LATER), has_to_wait=True)

        assert message == Message.objects.get()
        assert slots_of(context) == 0


class TestFreezing:
    def test_is_waited_for_by_whoever_asks_for_a_dialogue(self, dataset, writer):
        context = make_open_context(dataset)

        given = while_uncommitted(
            partial(freeze, dataset), partial(lease_unless_frozen, writer), has_to_wait=True
        )

        assert given == "frozen"
        assert not WritingLease.objects.exists()
        assert slots_of(context) == 3

    def test_waits_for_a_dialogue_that_is_being_handed_out_and_takes_it_back(self, dataset, writer):
        context = make_open_context(dataset)

        n_given_back = while_uncommitted(
            partial(lease_next, writer), partial(freeze, dataset), has_to_wait=True
        )

        assert n_given_back == 1
        assert not WritingLease.objects.filter(closed_at=None).exists()
        assert slots_of(context) == 3
