"""What becomes of a message that is accepted, and of its completion when that is taken back."""

import pytest

from completions.choices import HoldState, LeaseOutcome, MessageState
from completions.dialogues import locking
from completions.models import Completion, Hold, MessageDecision
from completions.writers import services as writer_services
from tests.helpers.factories import HOUR, NOW, make_comparison, make_writing_lease
from tests.helpers.factories_of_people import make_accepted, make_hold, make_revision, make_sent
from tests.helpers.written import (
    ACCEPT,
    REJECT,
    RETURN,
    SECOND_TEXT,
    completion_of,
    decide,
    fix,
    freeze,
    revised,
    slots_of_message,
    stored,
)

pytestmark = pytest.mark.django_db


class TestAccepting:
    def test_makes_the_text_a_completion_of_its_writer(self):
        message = make_sent("I hear you, and I am here.")

        decide(message, ACCEPT)

        message = stored(message)
        completion = message.completion
        assert message.state == MessageState.ACCEPTED
        assert message.changed_at == completion.created_at == NOW + HOUR
        assert completion.text == "I hear you, and I am here."
        assert completion.content_hash == message.revisions.get().content_hash
        assert (completion.writer, completion.context) == (
            message.lease.writer,
            message.lease.context,
        )
        assert (completion.system.slug, completion.fixed_at) == ("human", None)

    def test_takes_the_newest_version(self):
        message = make_sent("The first words of it.")
        make_revision(message=message, text=SECOND_TEXT)

        decide(message, ACCEPT)

        assert stored(message).completion.text == SECOND_TEXT
        assert MessageDecision.objects.get().revision.number == 2

    def test_leaves_the_slot_taken(self):
        message = make_sent()
        before = slots_of_message(message)

        decide(message, ACCEPT)

        assert slots_of_message(message) == before

    def test_of_a_message_that_was_sent_back_is_possible(self):
        message = make_sent()
        decide(message, RETURN)

        decide(message, ACCEPT)

        assert stored(message).completion is not None

    def test_keeps_a_note_for_the_writer(self):
        decide(make_sent(), ACCEPT, "Lovely.")

        assert MessageDecision.objects.get().note == "Lovely."


class TestAcceptingARevision:
    @pytest.fixture
    def message(self):
        message = make_accepted("The text that was accepted first.")
        revised(message)
        return message

    def test_replaces_the_text_of_the_completion(self, message):
        completion = decide(message, ACCEPT).completion

        assert completion.pk == stored(message).completion_id == message.completion_id
        assert stored(message).completion.text == SECOND_TEXT
        newest = message.revisions.get(number=2)
        assert stored(message).completion.content_hash == newest.content_hash

    @pytest.mark.parametrize("state", HoldState)
    def test_removes_what_was_held_and_decided_about_the_old_text(self, message, state):
        decided = {} if state == HoldState.HELD else {"decided_at": NOW, "decision_reason": "x"}
        make_hold(completion=message.completion, state=state, **decided)

        decide(message, ACCEPT)

        assert not Hold.objects.exists()

    def test_keeps_the_hold_when_the_text_is_the_same(self):
        message = make_accepted("The same words once more.")
        hold = make_hold(completion=message.completion)
        revised(message, "The same words once more.")

        decide(message, ACCEPT)

        assert Hold.objects.get() == hold

    def test_is_refused_once_a_study_compares_the_text(self, message):
        fix(message)

        with pytest.raises(locking.CompletionFixedError):
            decide(message, ACCEPT)

        assert stored(message).completion.text == "The text that was accepted first."
        assert stored(message).state == MessageState.WAITING
        assert not MessageDecision.objects.exists()

    def test_is_refused_while_the_dataset_is_frozen(self, message):
        freeze(message)

        with pytest.raises(writer_services.DatasetFrozenError):
            decide(message, ACCEPT)


class TestTheSystem:
    @pytest.mark.parametrize("agreed", [False, True])
    @pytest.mark.parametrize("offered", [False, True])
    def test_is_the_writers_own_if_they_agreed_whatever_is_offered_since(self, agreed, offered):
        message = make_sent()
        writer = message.lease.writer
        writer.has_own_system, writer.dataset.offers_own_systems = agreed, offered
        writer.save()
        writer.dataset.save()

        system = decide(message, ACCEPT).completion.system

        own = f"supporter-{writer.code.lower()}"
        assert system.slug == (own if agreed else "human")
        assert system.kind == "HUMAN"
        assert system.writer == (writer if agreed else None)

    @pytest.mark.parametrize("is_simulated", [False, True])
    def test_of_a_program_says_that_it_is_simulated(self, is_simulated):
        message = make_sent()
        writer = message.lease.writer
        writer.has_own_system = writer.dataset.offers_own_systems = True
        writer.is_simulated = is_simulated
        writer.save()
        writer.dataset.save()

        system = decide(message, ACCEPT).completion.system

        assert system.is_simulated is is_simulated
        expected = "Simulated supporter" if is_simulated else "Supporter"
        assert system.name == f"{expected} {writer.code}"

    def test_is_one_for_all_messages_of_a_writer(self):
        first = make_sent()
        writer = first.lease.writer
        writer.has_own_system = writer.dataset.offers_own_systems = True
        writer.save()
        writer.dataset.save()
        lease = make_writing_lease(writer=writer, closed_at=NOW, outcome=LeaseOutcome.SUBMITTED)
        second = make_sent(lease=lease)

        systems = {decide(one, ACCEPT).completion.system for one in (first, second)}

        assert len(systems) == 1


@pytest.mark.parametrize("verdict", [RETURN, REJECT])
class TestTakingBack:
    def test_deletes_the_completion_with_its_hold(self, verdict):
        message = make_accepted()
        make_hold(completion=message.completion)

        decide(message, verdict)

        assert stored(message).completion is None
        assert stored(message).state == verdict
        assert not Completion.objects.exists()
        assert not Hold.objects.exists()

    def test_gives_the_slot_back_only_with_a_rejection(self, verdict):
        message = make_accepted()
        before = slots_of_message(message)

        decide(message, verdict)

        assert slots_of_message(message) == before + (verdict == REJECT)

    def test_is_refused_once_a_study_compares_the_text(self, verdict):
        message = make_accepted()
        fix(message)

        with pytest.raises(locking.CompletionFixedError):
            decide(message, verdict)

        assert stored(message).state == MessageState.ACCEPTED

    def test_is_refused_when_a_plan_from_before_compares_it(self, verdict):
        message = make_accepted()
        completion = completion_of(message)
        make_comparison(first=completion)

        with pytest.raises(locking.CompletionFixedError):
            decide(message, verdict)

        assert completion_of(message) == completion

    def test_is_refused_while_the_dataset_is_frozen(self, verdict):
        message = make_accepted()
        freeze(message)

        with pytest.raises(writer_services.DatasetFrozenError):
            decide(message, verdict)

        assert stored(message).completion is not None
