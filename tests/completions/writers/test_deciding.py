"""What reviewers decide about messages, and what a decision does to completions and slots."""

import pytest

from access.models import LogEntry
from completions.choices import HoldState, MailKind, MessageState, MessageVerdict, WriterState
from completions.dialogues import locking
from completions.models import Completion, Context, Hold, MessageDecision, Writer, WriterMail
from completions.writers.message_queries import REASONS, Obstacle, Situation, obstacle
from completions.writers.queries import open_contexts
from completions.writers.services.leasing import DatasetFrozenError
from completions.writers.services.review_decisions import (
    MessageChangedError,
    MessageNotOpenError,
    NoteMissingError,
    Seen,
    WriterGoneError,
)
from tests.completions.writers.desk import SENT
from tests.helpers.factories import HOUR, NOW, make_comparison, make_writer, make_writing_lease
from tests.helpers.factories_of_people import (
    make_accepted,
    make_hold,
    make_message,
    make_revision,
    make_sent,
)
from tests.helpers.factories_written_once import make_user
from tests.helpers.written import (
    ACCEPT,
    NOTE,
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

WAITING, RETURNED, ACCEPTED = MessageState.WAITING, MessageState.RETURNED, MessageState.ACCEPTED
OPEN = {
    WAITING: {ACCEPT, RETURN, REJECT},
    RETURNED: {ACCEPT, REJECT},
    ACCEPTED: {RETURN, REJECT},
}
FIRST_TEXT = "The text that was accepted first."
AS_SENT = Seen(revision=1, decisions=0)


def against(verdict, state, *facts):
    names = ("has_completion", "is_fixed", "is_frozen", "is_gone")
    known = {name: name in facts for name in names}
    if state == ACCEPTED:
        known["has_completion"] = True
    return obstacle(verdict, Situation(state=state, **known))


class TestTheRule:
    @pytest.mark.parametrize("verdict", MessageVerdict)
    @pytest.mark.parametrize("state", MessageState)
    def test_opens_a_state_to_some_decisions_alone(self, verdict, state):
        expected = None if verdict in OPEN.get(state, ()) else Obstacle.CLOSED

        assert against(verdict, state) == expected

    @pytest.mark.parametrize(
        ("verdict", "state", "facts", "expected"),
        [
            (ACCEPT, WAITING, ["is_frozen"], None),
            (REJECT, WAITING, ["is_frozen"], None),
            (ACCEPT, WAITING, ["is_gone"], None),
            (REJECT, WAITING, ["is_gone"], None),
            (REJECT, WAITING, ["has_completion", "is_frozen"], None),
            (REJECT, WAITING, ["has_completion", "is_fixed"], None),
            (ACCEPT, WAITING, ["has_completion", "is_fixed"], Obstacle.FIXED),
            (RETURN, WAITING, ["has_completion", "is_fixed"], Obstacle.FIXED),
            (RETURN, ACCEPTED, ["is_fixed"], Obstacle.FIXED),
            (ACCEPT, WAITING, ["has_completion", "is_frozen"], Obstacle.FROZEN),
            (RETURN, WAITING, ["is_frozen"], Obstacle.FROZEN),
            (RETURN, ACCEPTED, ["is_frozen"], Obstacle.FROZEN),
            (REJECT, ACCEPTED, ["is_frozen"], Obstacle.FROZEN),
            (RETURN, WAITING, ["is_gone"], Obstacle.GONE),
            (RETURN, WAITING, ["is_gone", "is_frozen"], Obstacle.GONE),
        ],
    )
    def test_weighs_texts_in_use_frozen_datasets_and_people_who_left(
        self, verdict, state, facts, expected
    ):
        assert against(verdict, state, *facts) == expected

    def test_tells_every_obstacle_in_words(self):
        assert set(REASONS) == set(Obstacle)


def make_revised():
    """An accepted message with a second version that waits."""
    return revised(make_accepted(FIRST_TEXT)).message


def leave_alone(message):
    """Settle nothing."""


def compare_before(message):
    """A plan from before texts were fixed compares the text."""
    make_comparison(first=completion_of(message))


def gone(state):
    def settle(message):
        Writer.objects.filter(leases__message=message).update(state=state)

    settle.__name__ = state.lower()
    return settle


def facts_of(message):
    message = stored(message)
    return message.state, message.completion and message.completion.text, slots_of_message(message)


class TestARefusedDecision:
    @pytest.mark.parametrize(
        ("make", "settle", "verdict", "error"),
        [
            (make_revised, fix, ACCEPT, locking.CompletionFixedError),
            (make_accepted, compare_before, REJECT, locking.CompletionFixedError),
            (make_sent, freeze, RETURN, DatasetFrozenError),
            (make_sent, gone(WriterState.LEFT), RETURN, WriterGoneError),
            (make_sent, gone(WriterState.WITHDRAWN), RETURN, WriterGoneError),
            (make_sent, gone(WriterState.ELSEWHERE), RETURN, WriterGoneError),
            (make_accepted, leave_alone, ACCEPT, MessageNotOpenError),
        ],
    )
    def test_changes_nothing(self, make, settle, verdict, error):
        message = make()
        settle(message)
        before = facts_of(message)

        with pytest.raises(error):
            decide(message, verdict)

        assert facts_of(message) == before
        assert not MessageDecision.objects.exists()
        assert not LogEntry.objects.exists()

    def test_is_one_about_a_message_without_a_version(self):
        with pytest.raises(MessageNotOpenError):
            decide(make_message(), ACCEPT)

    @pytest.mark.parametrize("verdict", [RETURN, REJECT])
    @pytest.mark.parametrize("note", ["", " \n "])
    def test_is_one_that_owes_the_writer_a_note(self, verdict, note):
        message = make_sent()

        with pytest.raises(NoteMissingError):
            decide(message, verdict, note)

        assert stored(message).state == WAITING


class TestAccepting:
    def test_makes_the_newest_version_a_completion_of_its_writer_and_keeps_the_slot(self):
        message = make_sent("The first words of it.")
        newest = make_revision(message=message, text=SECOND_TEXT)
        slots = slots_of_message(message)

        decide(message, ACCEPT, "Lovely.")

        assert facts_of(message) == (ACCEPTED, SECOND_TEXT, slots)
        message = stored(message)
        completion = message.completion
        assert message.changed_at == completion.created_at == NOW + HOUR
        assert completion.content_hash == newest.content_hash
        assert completion.writer == message.lease.writer
        assert completion.context == message.lease.context
        assert (completion.system.slug, completion.fixed_at) == ("human", None)
        decision = MessageDecision.objects.get()
        assert (decision.revision, decision.note) == (newest, "Lovely.")

    def test_a_revision_replaces_the_text_of_the_completion(self):
        message = make_revised()

        completion = decide(message, ACCEPT).completion

        assert completion.pk == stored(message).completion_id == message.completion_id
        assert stored(message).completion.text == SECOND_TEXT
        newest = message.revisions.get(number=2)
        assert stored(message).completion.content_hash == newest.content_hash

    @pytest.mark.parametrize("state", HoldState)
    def test_a_revision_removes_what_was_held_and_decided_about_the_old_text(self, state):
        message = make_revised()
        decided = {} if state == HoldState.HELD else {"decided_at": NOW, "decision_reason": "x"}
        make_hold(completion=message.completion, state=state, **decided)

        decide(message, ACCEPT)

        assert not Hold.objects.exists()

    def test_a_revision_of_the_same_words_keeps_the_hold(self):
        message = make_accepted(FIRST_TEXT)
        hold = make_hold(completion=message.completion)
        revised(message, FIRST_TEXT)

        decide(message, ACCEPT)

        assert Hold.objects.get() == hold


def give_own_system(writer, *, agreed=True, offered=True, **fields):
    Writer.objects.filter(pk=writer.pk).update(has_own_system=agreed, **fields)
    type(writer.dataset).objects.filter(pk=writer.dataset_id).update(offers_own_systems=offered)


class TestTheSystem:
    @pytest.mark.parametrize("agreed", [False, True])
    @pytest.mark.parametrize("offered", [False, True])
    def test_is_the_writers_own_if_they_agreed_whatever_is_offered_since(self, agreed, offered):
        message = make_sent()
        writer = message.lease.writer
        give_own_system(writer, agreed=agreed, offered=offered)

        system = decide(message, ACCEPT).completion.system

        own = f"supporter-{writer.code.lower()}"
        assert system.slug == (own if agreed else "human")
        assert system.kind == "HUMAN"
        assert system.writer == (writer if agreed else None)

    @pytest.mark.parametrize(
        ("is_simulated", "name"), [(False, "Supporter"), (True, "Simulated supporter")]
    )
    def test_of_a_program_says_that_it_is_simulated(self, is_simulated, name):
        message = make_sent()
        writer = message.lease.writer
        give_own_system(writer, is_simulated=is_simulated)

        system = decide(message, ACCEPT).completion.system

        assert (system.is_simulated, system.name) == (is_simulated, f"{name} {writer.code}")

    def test_is_one_for_all_messages_of_a_writer(self):
        first = make_sent()
        give_own_system(first.lease.writer)
        lease = make_writing_lease(writer=first.lease.writer, **SENT)
        second = make_sent(lease=lease)

        systems = {decide(one, ACCEPT).completion.system for one in (first, second)}

        assert len(systems) == 1


@pytest.mark.parametrize("email", ["", "ada@example.org"])
def test_sending_back_keeps_the_slot_and_mails_the_note_to_a_writer_with_an_address(email):
    message = make_sent()
    slots = slots_of_message(message)
    Writer.objects.update(email=email)

    decide(message, RETURN)

    assert facts_of(message) == (RETURNED, None, slots)
    assert MessageDecision.objects.get().note == NOTE
    mails = WriterMail.objects.values_list("writer", "kind", "note", "queued_at")
    expected = (message.lease.writer_id, MailKind.RETURNED, NOTE, NOW + HOUR)
    assert list(mails) == [expected] * bool(email)


class TestRejecting:
    def test_gives_the_slot_once_to_another_person_and_never_back_to_this_one(self):
        message = make_sent()
        context = message.lease.context
        Context.objects.filter(pk=context.pk).update(slots_left=0)
        other = make_writer(dataset=context.dataset)

        decide(message, REJECT)
        with pytest.raises(MessageNotOpenError):
            decide(message, REJECT)

        assert facts_of(message) == (MessageState.REJECTED, None, 1)
        assert list(open_contexts(other)) == [context]
        assert not open_contexts(message.lease.writer)

    @pytest.mark.parametrize("settle", [leave_alone, fix, freeze])
    @pytest.mark.parametrize("state", [WAITING, RETURNED])
    def test_of_a_revision_leaves_the_text_that_was_accepted_as_sending_it_back_does(
        self, state, settle
    ):
        message = make_revised()
        if state == RETURNED:
            decide(message, RETURN)
            assert facts_of(message)[:2] == (RETURNED, FIRST_TEXT)
        settle(message)
        slots = slots_of_message(message)

        decide(message, REJECT)

        assert facts_of(message) == (ACCEPTED, FIRST_TEXT, slots)


@pytest.mark.parametrize("verdict", [RETURN, REJECT])
def test_taking_an_acceptance_back_deletes_the_completion_and_a_rejection_frees_the_slot(verdict):
    message = make_accepted()
    make_hold(completion=message.completion)
    slots = slots_of_message(message)

    decide(message, verdict)

    assert facts_of(message) == (verdict, None, slots + (verdict == REJECT))
    assert not Completion.objects.exists()
    assert not Hold.objects.exists()


class TestAPageThatIsOutOfDate:
    def test_decides_nothing_about_a_version_that_it_did_not_show(self):
        message = make_sent()
        make_revision(message=message, text=SECOND_TEXT)

        with pytest.raises(MessageChangedError):
            decide(message, ACCEPT, seen=AS_SENT)

        assert stored(message).state == WAITING

    @pytest.mark.parametrize("verdict", [ACCEPT, REJECT], ids=["the same", "another"])
    def test_is_told_of_a_decision_that_it_did_not_show(self, verdict):
        message = make_sent()
        decide(message, ACCEPT, by=make_user())

        with pytest.raises(MessageChangedError):
            decide(message, verdict, by=make_user(), seen=AS_SENT)

        assert stored(message).state == ACCEPTED

    @pytest.mark.parametrize("verdict", MessageVerdict)
    def test_may_repeat_its_own_decision_and_changes_nothing(self, verdict):
        message, by = make_sent(), make_user()
        slots = slots_of_message(message)

        for _ in range(2):
            decide(message, verdict, by=by, seen=AS_SENT)

        assert MessageDecision.objects.count() == LogEntry.objects.count() == 1
        assert slots_of_message(message) == slots + (verdict == REJECT)

    def test_decides_once_it_shows_what_there_is(self):
        message = make_sent()
        decide(message, ACCEPT)

        decide(message, RETURN, seen=Seen(revision=1, decisions=1))

        assert stored(message).state == RETURNED


class TestAnyDecision:
    @pytest.mark.parametrize("verdict", MessageVerdict)
    def test_is_logged_without_a_word_of_the_text_and_mailed_if_it_sends_back(self, verdict):
        message, by = make_sent("A sentence with a wombat."), make_user()
        Writer.objects.update(email="ada@example.org")

        decide(message, verdict, "  A note about the wombat. ", by=by)

        decision = MessageDecision.objects.get()
        assert (decision.verdict, decision.note) == (verdict, "A note about the wombat.")
        assert (decision.decided_by, decision.decided_at) == (by, NOW + HOUR)
        assert stored(message).changed_at == NOW + HOUR
        entry = LogEntry.objects.get()
        assert entry.action == f"message.{verdict.lower()}"
        assert (entry.subject, entry.by, entry.at) == (f"message {message.pk}", by, NOW + HOUR)
        assert entry.before == {"state": "WAITING"}
        assert entry.after == {"state": verdict, "version": 1}
        assert WriterMail.objects.exists() == (verdict == RETURN)

    @pytest.mark.parametrize("verdict", MessageVerdict)
    def test_takes_no_more_than_a_few_queries(self, verdict, django_assert_max_num_queries):
        message = make_sent()

        with django_assert_max_num_queries(20):
            decide(message, verdict)
