"""What reviewers decide about messages, and what a decision does to completions and slots."""

import datetime as dt

import pytest

from access.models import LogEntry
from completions.choices import LeaseOutcome, MailKind, MessageState, MessageVerdict, WriterState
from completions.dialogues import locking
from completions.models import Context, MessageDecision, WriterMail
from completions.writers import services as writer_services
from completions.writers.desk_queries import open_contexts
from completions.writers.services.review_decisions import Seen
from tests.helpers.factories import HOUR, NOW, make_writing_lease
from tests.helpers.factories_of_people import (
    make_accepted,
    make_message,
    make_revision,
    make_sent,
    make_vetting,
)
from tests.helpers.factories_written_once import make_user
from tests.helpers.written import (
    ACCEPT,
    NOTE,
    REJECT,
    RETURN,
    SECOND_TEXT,
    decide,
    fix,
    freeze,
    revised,
    slots_of_message,
    stored,
)

pytestmark = pytest.mark.django_db


class TestSendingBack:
    def test_asks_for_another_version_and_keeps_the_slot(self):
        message = make_sent()
        before = slots_of_message(message)

        decide(message, RETURN)

        assert stored(message).state == MessageState.RETURNED
        assert slots_of_message(message) == before
        assert MessageDecision.objects.get().note == NOTE

    @pytest.mark.parametrize("email", ["", "ada@example.org"])
    def test_mails_the_note_to_a_writer_with_an_address(self, email):
        message = make_sent()
        writer = message.lease.writer
        writer.email = email
        writer.save()

        decide(message, RETURN)

        mails = WriterMail.objects.values_list("writer", "kind", "note", "queued_at")
        expected = (writer.pk, MailKind.RETURNED, NOTE, NOW + HOUR)
        assert list(mails) == [expected] * bool(email)

    def test_of_a_revision_keeps_the_text_that_was_accepted(self):
        message = make_accepted("The text that was accepted first.")
        revised(message)

        decide(message, RETURN)

        assert stored(message).state == MessageState.RETURNED
        assert stored(message).completion.text == "The text that was accepted first."

    def test_of_a_revision_is_refused_once_a_study_compares_the_text(self):
        message = make_accepted()
        revised(message)
        fix(message)

        with pytest.raises(locking.CompletionFixedError):
            decide(message, RETURN)

    @pytest.mark.parametrize(
        "state", [WriterState.LEFT, WriterState.WITHDRAWN, WriterState.ELSEWHERE]
    )
    def test_is_refused_when_nobody_would_receive_it(self, state):
        message = make_sent()
        type(message.lease.writer).objects.filter(pk=message.lease.writer_id).update(state=state)

        with pytest.raises(writer_services.WriterGoneError):
            decide(message, RETURN)

        decide(message, ACCEPT)

    def test_is_refused_while_the_dataset_is_frozen(self):
        message = make_sent()
        freeze(message)

        with pytest.raises(writer_services.DatasetFrozenError):
            decide(message, RETURN)


class TestRejecting:
    def test_gives_the_slot_to_another_person_and_never_back_to_this_one(self):
        message = make_sent()
        Context.objects.filter(pk=message.lease.context_id).update(slots_left=0)
        other = make_writing_lease(context=message.lease.context).writer
        other.leases.all().delete()

        decide(message, REJECT)

        assert stored(message).state == MessageState.REJECTED
        assert slots_of_message(message) == 1
        assert list(open_contexts(other)) == [message.lease.context]
        assert not open_contexts(message.lease.writer)

    def test_gives_the_slot_back_once(self):
        message = make_sent()
        before = slots_of_message(message)
        decide(message, REJECT)

        with pytest.raises(writer_services.MessageNotOpenError):
            decide(message, REJECT)

        assert slots_of_message(message) == before + 1

    def test_of_a_revision_leaves_the_text_that_was_accepted(self):
        message = make_accepted("The text that was accepted first.")
        revised(message)
        before = slots_of_message(message)

        decide(message, REJECT)

        assert stored(message).state == MessageState.ACCEPTED
        assert stored(message).completion.text == "The text that was accepted first."
        assert slots_of_message(message) == before

    @pytest.mark.parametrize("settle", [fix, freeze])
    def test_of_a_revision_is_possible_however_settled_the_old_text_is(self, settle):
        message = make_accepted()
        revised(message)
        settle(message)

        decide(message, REJECT)

        assert stored(message).state == MessageState.ACCEPTED

    def test_of_a_revision_that_was_sent_back_leaves_the_old_text_as_well(self):
        message = make_accepted()
        revised(message)
        decide(message, RETURN)

        decide(message, REJECT)

        assert stored(message).state == MessageState.ACCEPTED

    def test_is_possible_while_the_dataset_is_frozen(self):
        message = make_sent()
        freeze(message)

        decide(message, REJECT)

        assert stored(message).state == MessageState.REJECTED


class TestNothing:
    @pytest.mark.parametrize("verdict", [RETURN, REJECT])
    @pytest.mark.parametrize("note", ["", " \n "])
    def test_is_sent_back_or_rejected_without_a_note(self, verdict, note):
        message = make_sent()

        with pytest.raises(writer_services.NoteMissingError):
            decide(message, verdict, note)

        assert stored(message).state == MessageState.WAITING

    @pytest.mark.parametrize(
        ("state", "verdict"),
        [
            *((MessageState.TRIAL, verdict) for verdict in MessageVerdict),
            *((MessageState.REJECTED, verdict) for verdict in MessageVerdict),
            *((MessageState.LAPSED, verdict) for verdict in MessageVerdict),
            *((MessageState.ERASED, verdict) for verdict in MessageVerdict),
            (MessageState.RETURNED, RETURN),
        ],
    )
    def test_is_decided_in_a_state_that_is_not_open_to_it(self, state, verdict):
        message = make_sent(state=state)

        with pytest.raises(writer_services.MessageNotOpenError):
            decide(message, verdict)

        assert stored(message).state == state
        assert not LogEntry.objects.exists()

    def test_is_accepted_twice(self):
        with pytest.raises(writer_services.MessageNotOpenError):
            decide(make_accepted(), ACCEPT)

    def test_is_decided_about_a_message_without_a_version(self):
        with pytest.raises(writer_services.MessageNotOpenError):
            decide(make_message(), ACCEPT)

    def test_is_decided_about_trial_messages_of_a_vetting_set(self):
        dialogue = make_vetting(1).contexts.get()
        lease = make_writing_lease(
            context=dialogue, is_trial=True, closed_at=NOW, outcome=LeaseOutcome.SUBMITTED
        )

        with pytest.raises(writer_services.MessageNotOpenError):
            decide(make_sent(lease=lease, state=MessageState.TRIAL), ACCEPT)


class TestAPageThatIsOutOfDate:
    def test_decides_nothing_about_a_version_that_it_did_not_show(self):
        message = make_sent()
        make_revision(message=message, text=SECOND_TEXT)

        with pytest.raises(writer_services.MessageChangedError):
            decide(message, ACCEPT, seen=Seen(revision=1, decisions=0))

        assert stored(message).state == MessageState.WAITING

    def test_does_not_overrule_a_decision_that_it_did_not_show(self):
        message = make_sent()
        decide(message, ACCEPT, by=make_user())

        with pytest.raises(writer_services.MessageChangedError):
            decide(message, REJECT, by=make_user(), seen=Seen(revision=1, decisions=0))

        assert stored(message).state == MessageState.ACCEPTED

    def test_is_told_even_if_the_other_decided_the_same(self):
        message = make_sent()
        decide(message, ACCEPT, by=make_user())

        with pytest.raises(writer_services.MessageChangedError):
            decide(message, ACCEPT, by=make_user(), seen=Seen(revision=1, decisions=0))

    @pytest.mark.parametrize("verdict", MessageVerdict)
    def test_may_repeat_its_own_decision_and_changes_nothing(self, verdict):
        message, by = make_sent(), make_user()
        before = slots_of_message(message)

        for _ in range(2):
            decide(message, verdict, by=by, seen=Seen(revision=1, decisions=0))

        assert MessageDecision.objects.count() == LogEntry.objects.count() == 1
        assert slots_of_message(message) == before + (verdict == REJECT)

    def test_decides_once_it_shows_what_there_is(self):
        message = make_sent()
        decide(message, ACCEPT)

        decide(message, RETURN, seen=Seen(revision=1, decisions=1))

        assert stored(message).state == MessageState.RETURNED


class TestTheLog:
    @pytest.mark.parametrize("verdict", [ACCEPT, REJECT])
    def test_is_all_that_tells_of_another_decision_than_sending_back(self, verdict):
        message = make_sent()
        writer = message.lease.writer
        writer.email = "ada@example.org"
        writer.save()

        decide(message, verdict)

        assert not WriterMail.objects.exists()

    @pytest.mark.parametrize("verdict", MessageVerdict)
    def test_says_who_decided_what_and_not_a_word_of_the_text(self, verdict):
        message, by = make_sent("A sentence with a wombat."), make_user()

        decide(message, verdict, "A note about the wombat.", by=by)

        entry = LogEntry.objects.get()
        assert entry.action == f"message.{verdict.lower()}"
        assert (entry.subject, entry.by, entry.at) == (f"message {message.pk}", by, NOW + HOUR)
        assert entry.before == {"state": "WAITING"}
        assert entry.after == {"state": verdict, "version": 1}
        assert "wombat" not in f"{entry.before}{entry.after}"

    def test_has_the_decision_with_its_time_and_person(self):
        by = make_user()

        decide(make_sent(), RETURN, "  Shorter, please. ", by=by)

        decision = MessageDecision.objects.get()
        assert (decision.verdict, decision.note) == (RETURN, "Shorter, please.")
        assert (decision.decided_by, decision.decided_at) == (by, NOW + HOUR)


class TestAnyDecision:
    @pytest.mark.parametrize("verdict", MessageVerdict)
    def test_takes_no_more_than_a_few_queries(self, verdict, django_assert_max_num_queries):
        message = make_sent()

        with django_assert_max_num_queries(20):
            decide(message, verdict)

    def test_sets_when_the_message_changed_last(self):
        message = make_sent()

        decide(message, RETURN, now=NOW + dt.timedelta(days=2))

        assert stored(message).changed_at == NOW + dt.timedelta(days=2)
