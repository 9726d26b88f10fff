"""How a message is changed after it was sent, and until when."""

import pytest

from completions.choices import MessageState, WriterState
from completions.models import Completion, Dataset, Message
from completions.writers import services
from tests.helpers.factories import HOUR, NOW, make_dataset, make_writer
from tests.helpers.factories_of_people import make_accepted, make_sent
from tests.helpers.written import TEXT, draft_of, lease_next, make_open_context, send, slots_of

pytestmark = pytest.mark.django_db

BETTER = "That sounds lonely, and so quiet. Who would you call if you could?"


@pytest.fixture
def lease():
    """A lease under which a message was sent."""
    dataset = make_dataset()
    make_open_context(dataset)
    lease = lease_next(make_writer(dataset=dataset))
    send(lease)
    lease.refresh_from_db()
    return lease


def texts(message):
    return list(message.revisions.order_by("number").values_list("text", flat=True))


def in_state(lease, state):
    Message.objects.update(state=state)
    return Message.objects.get(lease=lease)


class TestANewVersion:
    def test_is_kept_beside_the_one_before(self, lease):
        message = send(lease, BETTER, now=NOW + HOUR)

        message.refresh_from_db()
        assert texts(message) == [TEXT, BETTER]
        assert (message.sent_at, message.changed_at) == (NOW, NOW + HOUR)
        assert draft_of(lease) == ""

    def test_takes_no_slot_and_leaves_the_lease_as_it_is(self, lease):
        send(lease, BETTER, now=NOW + HOUR)

        assert slots_of(lease.context) == 2
        before = (lease.closed_at, lease.outcome)
        lease.refresh_from_db()
        assert (lease.closed_at, lease.outcome) == before

    def test_of_a_message_that_came_back_waits_for_review_again(self, lease):
        in_state(lease, MessageState.RETURNED)

        message = send(lease, BETTER)

        message.refresh_from_db()
        assert message.state == MessageState.WAITING

    def test_of_an_accepted_message_leaves_the_completion_as_it_is(self):
        message = make_accepted()

        send(message.lease, BETTER)

        message.refresh_from_db()
        assert message.state == MessageState.WAITING
        assert message.completion is not None
        assert message.completion.text == TEXT

    def test_with_nothing_changed_is_none(self, lease):
        in_state(lease, MessageState.RETURNED)

        message = send(lease, f" {TEXT}\n", now=NOW + HOUR)

        assert texts(message) == [TEXT]
        assert (message.state, message.changed_at) == (MessageState.RETURNED, NOW)


class TestAMessageStaysAsItIs:
    def refused(self, lease, error=services.MessageClosedError):
        with pytest.raises(error):
            send(lease, BETTER)
        message = Message.objects.get(lease=lease)
        return texts(message) == [TEXT] and draft_of(lease) == BETTER

    @pytest.mark.parametrize("state", [MessageState.REJECTED, MessageState.LAPSED])
    def test_once_it_is(self, lease, state):
        in_state(lease, state)

        assert self.refused(lease)

    def test_once_a_study_compares_it(self):
        message = make_accepted()
        Completion.objects.update(fixed_at=NOW)

        assert self.refused(message.lease)

    def test_once_its_newer_version_waits_and_a_study_compares_the_accepted_one(self):
        message = make_accepted()
        Completion.objects.update(fixed_at=NOW)
        in_state(message.lease, MessageState.WAITING)

        assert self.refused(message.lease)

    def test_once_the_texts_of_the_dataset_are_final(self, lease):
        Dataset.objects.filter(pk=lease.writer.dataset_id).update(frozen_at=NOW)

        assert self.refused(lease, services.DatasetFrozenError)

    @pytest.mark.parametrize(
        ("writer_state", "is_taken"), [(WriterState.VETTING, True), (WriterState.ACTIVE, False)]
    )
    def test_on_trial_once_the_trial_is_over(self, writer_state, is_taken):
        writer = make_writer(state=writer_state)
        lease = writer.leases.create(
            context=make_open_context(make_dataset(is_for_checks=True), slots_left=0),
            issued_at=NOW,
            expires_at=NOW + HOUR,
            is_trial=True,
        )
        lease.closed_at, lease.outcome = NOW, "SUBMITTED"
        lease.save()
        message = make_sent(lease=lease, state=MessageState.TRIAL)

        if is_taken:
            assert send(lease, BETTER).state == MessageState.TRIAL
            assert texts(message) == [TEXT, BETTER]
        else:
            assert self.refused(lease)
