"""What is kept of a text before it is sent."""

import uuid

import pytest

from completions.choices import WriterState
from completions.dialogues import wording
from completions.writers import services
from tests.helpers.factories import HOUR, NOW, make_dataset, make_writer
from tests.helpers.written import (
    TEXT,
    draft_of,
    lease_next,
    make_open_context,
    save_draft,
    send,
    set_state,
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


class TestSaveDraft:
    def test_keeps_what_is_typed_so_far(self, writer, context):
        lease = lease_next(writer)

        save_draft(lease, "I can")
        save_draft(lease, "I can hear how")

        assert draft_of(lease) == "I can hear how"

    def test_keeps_the_whole_of_what_no_message_could_hold(self, writer, context):
        lease = lease_next(writer)

        save_draft(lease, "x" * (wording.MAX_CHARACTERS + 1))

        assert len(draft_of(lease)) == wording.MAX_CHARACTERS + 1

    def test_never_counts_back_what_was_typed_and_pasted(self, writer, context):
        lease = lease_next(writer)
        save_draft(lease, typing_ms=5_000, pastes=2, pasted_characters=90)

        save_draft(lease, "From another device.", typing_ms=700, pastes=3)

        lease.refresh_from_db()
        assert (lease.typing_ms, lease.pastes, lease.pasted_characters) == (5_000, 3, 90)

    def test_keeps_a_draft_of_a_lease_that_was_given_back(self, writer, context):
        lease = lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        save_draft(lease)

        assert draft_of(lease) == "I can hear how"

    def test_refuses_a_draft_that_is_older_than_what_was_sent(self, writer, context):
        lease = lease_next(writer)
        send(lease)

        with pytest.raises(services.DraftOutdatedError):
            save_draft(lease, "typed in an old tab", seen=0)

        assert draft_of(lease) == ""

    def test_keeps_a_draft_of_a_new_version(self, writer, context):
        lease = lease_next(writer)
        send(lease)

        save_draft(lease, "That sounds very lonely.", seen=1)

        assert draft_of(lease) == "That sounds very lonely."

    def test_keeps_nothing_of_a_text_that_was_sent_as_it_is(self, writer, context):
        lease = lease_next(writer)
        send(lease)
        save_draft(lease, f"{TEXT} And then?", seen=1)

        save_draft(lease, f"{TEXT} ", seen=1)

        assert draft_of(lease) == ""

    def test_refuses_a_token_that_nobody_has(self, writer, context):
        lease = lease_next(writer)
        lease.token = uuid.uuid4()

        with pytest.raises(services.WritingLeaseNotFoundError):
            save_draft(lease)

    def test_refuses_the_token_of_another_writer(self, writer, context, dataset):
        lease = lease_next(writer)

        with pytest.raises(services.WritingLeaseNotFoundError):
            save_draft(lease, writer=make_writer(dataset=dataset))

        assert draft_of(lease) == ""

    def test_stores_nothing_of_a_writer_who_has_withdrawn(self, writer, context):
        lease = lease_next(writer)
        set_state(writer, WriterState.WITHDRAWN)

        with pytest.raises(services.WritingLeaseNotFoundError):
            save_draft(lease)

        assert draft_of(lease) == ""
