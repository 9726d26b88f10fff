"""What a writer sends, and what happens to a text that cannot be taken."""

import hashlib
import uuid

import pytest

from completions.choices import LeaseOutcome, MessageState, WriterState
from completions.dialogues import wording
from completions.models import Completion, Context, Dataset, Message
from completions.writers import services
from tests.helpers.factories import HOUR, NOW, make_dataset, make_writer
from tests.helpers.factories_of_people import make_vetting
from tests.helpers.written import (
    TEXT,
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

REACH = "Do write to me at ada@example.org whenever it gets dark."


@pytest.fixture
def dataset():
    return make_dataset()


@pytest.fixture
def writer(dataset):
    return make_writer(dataset=dataset)


@pytest.fixture
def context(dataset):
    return make_open_context(dataset, slots_left=3)


class TestSendMessage:
    def test_stores_the_text_as_the_first_version_of_a_message_that_waits(self, writer, context):
        message = send(lease_next(writer), f"\n {TEXT} ", now=NOW + HOUR)

        message.refresh_from_db()
        assert (message.state, message.completion) == (MessageState.WAITING, None)
        assert message.sent_at == message.changed_at == NOW + HOUR
        (version,) = message.revisions.all()
        assert (version.number, version.text, version.is_declared) == (1, TEXT, True)
        assert version.content_hash == hashlib.sha256(TEXT.encode()).hexdigest()
        assert not Completion.objects.exists()

    def test_closes_the_lease_and_keeps_the_slot(self, writer, context):
        lease = lease_next(writer)

        send(lease, now=NOW + HOUR)

        lease.refresh_from_db()
        assert (lease.outcome, lease.closed_at) == (LeaseOutcome.SUBMITTED, NOW + HOUR)
        assert lease.draft == ""
        assert slots_of(context) == 2

    def test_keeps_how_the_text_came_about(self, writer, context):
        lease = lease_next(writer)
        save_draft(lease, typing_ms=9_000, pastes=1)

        version = send(lease, typing_ms=8_000, pasted_characters=40).revisions.get()

        figures = (version.typing_ms, version.pastes, version.pasted_characters)
        assert figures == (9_000, 1, 40)

    def test_says_which_rules_were_asked(self, writer, context):
        assert "leaks-" in send(lease_next(writer)).revisions.get().rules

    def test_takes_no_slot_for_a_trial_message(self, dataset):
        vetting = make_vetting(1)
        newcomer = make_writer(dataset=dataset, state=WriterState.VETTING, admitted_at=None)
        lease = newcomer.leases.create(
            context=vetting.contexts.get(), issued_at=NOW, expires_at=NOW + HOUR, is_trial=True
        )

        message = send(lease)

        assert message.state == MessageState.TRIAL
        assert slots_of(lease.context) == 0

    def test_accepts_a_text_after_its_time_as_long_as_nobody_took_the_slot_back(
        self, writer, context
    ):
        assert send(lease_next(writer), now=NOW + 5 * HOUR).pk

    def test_takes_a_slot_again_when_the_lease_was_given_back(self, writer, context):
        lease = lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        send(lease, now=NOW + 3 * HOUR)

        lease.refresh_from_db()
        assert lease.outcome == LeaseOutcome.SUBMITTED
        assert slots_of(context) == 2

    def test_counts_when_the_context_was_skipped_in_another_tab(self, writer, context):
        lease = lease_next(writer)
        skip(lease)

        send(lease)

        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SUBMITTED, "")
        assert slots_of(context) == 2

    def test_takes_the_same_number_of_queries_whatever_came_before(
        self, writer, dataset, context, django_assert_num_queries
    ):
        send(lease_next(make_writer(dataset=dataset)))
        lease = lease_next(writer)

        # Keep the draft: savepoint and its release; lock the writer and the lease; store the draft.
        # Read the lease with its dialogue; what the text is compared with: own, others', models'.
        # Then: savepoint and its release; lock the writer, the lease, the message; read the
        # dataset; look for a version; store the message and its first version; empty the draft;
        # close the lease.
        with django_assert_num_queries(20):
            send(lease)


class TestARefusedText:
    def is_kept_as_a_draft(self, lease, text):
        return draft_of(lease) == text and not Message.objects.exists()

    @pytest.mark.parametrize(
        "text",
        ["", "Oh no", "?!... --", "word " * 151],
        ids=["empty", "far too short", "without a word", "far too long"],
    )
    def test_is_unusable(self, writer, context, text):
        lease = lease_next(writer)

        with pytest.raises(wording.UnusableTextError):
            send(lease, text)

        lease.refresh_from_db()
        assert self.is_kept_as_a_draft(lease, text)
        assert lease.closed_at is None

    def test_was_not_declared_to_be_in_own_words(self, writer, context):
        lease = lease_next(writer)

        with pytest.raises(services.OwnWordsMissingError):
            send(lease, is_own_words=False)

        lease.refresh_from_db()
        assert self.is_kept_as_a_draft(lease, TEXT)
        assert lease.closed_at is None

    def test_has_something_to_look_at_again(self, writer, context):
        lease = lease_next(writer)

        with pytest.raises(services.LookAgainError) as asked:
            send(lease, REACH)

        assert [one.matched for one in asked.value.findings] == ["ada@example.org"]
        assert self.is_kept_as_a_draft(lease, REACH)

    def test_comes_when_others_have_filled_the_context(self, writer, context):
        lease = lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)
        Context.objects.update(slots_left=0)

        with pytest.raises(services.ContextTakenError):
            send(lease, now=NOW + 3 * HOUR)

        lease.refresh_from_db()
        assert self.is_kept_as_a_draft(lease, TEXT)
        assert lease.outcome == LeaseOutcome.EXPIRED
        assert slots_of(context) == 0

    def test_comes_when_the_texts_of_the_dataset_are_final(self, writer, context):
        lease = lease_next(writer)
        Dataset.objects.filter(pk=writer.dataset_id).update(frozen_at=NOW)

        with pytest.raises(services.DatasetFrozenError):
            send(lease)

        assert self.is_kept_as_a_draft(lease, TEXT)

    @pytest.mark.parametrize("state", [WriterState.PAUSED, WriterState.LEFT])
    def test_comes_from_a_writer_who_may_not_write_any_more(self, writer, context, state):
        lease = lease_next(writer)
        set_state(writer, state)

        with pytest.raises(services.WriterNotActiveError):
            send(lease)

        assert self.is_kept_as_a_draft(lease, TEXT)

    def test_comes_from_a_writer_who_has_withdrawn_and_is_not_kept_at_all(self, writer, context):
        lease = lease_next(writer)
        set_state(writer, WriterState.WITHDRAWN)

        with pytest.raises(services.WritingLeaseNotFoundError):
            send(lease)

        assert self.is_kept_as_a_draft(lease, "")

    def test_has_a_token_that_nobody_has(self, writer, context):
        lease = lease_next(writer)
        lease.token = uuid.uuid4()

        with pytest.raises(services.WritingLeaseNotFoundError):
            send(lease)

        assert not Message.objects.exists()

    def test_has_the_token_of_another_writer(self, writer, context, dataset):
        lease = lease_next(writer)

        with pytest.raises(services.WritingLeaseNotFoundError):
            send(lease, writer=make_writer(dataset=dataset))

        assert self.is_kept_as_a_draft(lease, "")


def test_a_writer_who_looked_again_may_send_all_the_same(writer, context):
    message = send(lease_next(writer), REACH, has_looked_again=True)

    version = message.revisions.get()
    assert version.has_looked_again
    assert [flag["matched"] for flag in version.flags] == ["ada@example.org"]


def test_only_who_was_asked_is_said_to_have_looked_again(writer, context):
    assert not send(lease_next(writer), has_looked_again=True).revisions.get().has_looked_again
