"""Writers pause, go on and leave, and what they sent stays."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from access.models import LogEntry
from completions.choices import LeaseOutcome, MailKind, MessageState, WriterState
from completions.models import Context, Message, WriterMail, WritingLease
from completions.writers import services
from tests.helpers.factories import NOW, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_accepted, make_mail, make_sent, make_vetting

pytestmark = pytest.mark.django_db

NEW: dict[str, Any] = {"admitted_at": None, "background": "PEER"}


def pause(writer, by=None):
    return services.pause_writer(writer=writer, now=NOW, by=by)


def resume(writer, by=None):
    return services.resume_writer(writer=writer, now=NOW, by=by)


def leave(writer):
    return services.leave(writer=writer, now=NOW)


@pytest.fixture
def boss():
    return User.objects.create_user("boss")


class TestPausing:
    def test_of_ones_own_can_be_ended_by_oneself(self):
        writer = pause(make_writer())

        assert (writer.state, writer.may_resume) == (WriterState.PAUSED, True)
        assert resume(writer).state == WriterState.ACTIVE

    def test_by_an_admin_can_be_ended_by_an_admin_alone(self, boss):
        writer = pause(make_writer(), by=boss)

        with pytest.raises(services.WriterNotActiveError):
            resume(writer)
        assert resume(writer, by=boss).state == WriterState.ACTIVE

    def test_by_an_admin_outweighs_a_pause_of_ones_own(self, boss):
        writer = pause(make_writer())
        pause(writer, by=boss)
        pause(writer)

        with pytest.raises(services.WriterNotActiveError):
            resume(writer)

    def test_leaves_the_dialogue_with_the_writer(self):
        lease = make_writing_lease(draft="I hear")

        pause(lease.writer)

        lease.refresh_from_db()
        assert (lease.closed_at, lease.draft) == (None, "I hear")

    def test_is_for_those_who_are_here(self):
        for state in (WriterState.INVITED, WriterState.LEFT, WriterState.REFUSED):
            with pytest.raises(services.WriterNotActiveError):
                pause(make_writer(state=state))

    def test_and_going_on_are_logged_once_each(self):
        writer = make_writer()
        for act in (pause, pause, resume, resume):
            act(writer)

        actions = LogEntry.objects.order_by("pk").values_list("action", flat=True)
        assert list(actions) == ["writer.paused", "writer.resumed"]


class TestGoingOn:
    def test_leads_a_newcomer_back_to_the_trial(self):
        dataset = make_dataset(vetting=make_vetting())
        writer = make_writer(dataset=dataset, state=WriterState.VETTING, **NEW)

        assert resume(pause(writer)).state == WriterState.VETTING

    def test_leads_somebody_unknown_back_to_the_profile(self):
        writer = make_writer(state=WriterState.PROFILING, admitted_at=None)

        assert resume(pause(writer)).state == WriterState.PROFILING

    def test_lets_a_newcomer_in_where_nobody_is_tried_any_more(self):
        writer = resume(pause(make_writer(state=WriterState.VETTING, **NEW)))

        assert (writer.state, writer.admitted_at) == (WriterState.ACTIVE, NOW)

    def test_is_not_for_those_who_left_by_themselves(self):
        with pytest.raises(services.WriterNotActiveError):
            resume(leave(make_writer()))

    def test_is_for_those_who_left_where_an_admin_takes_them_back(self, boss):
        writer = resume(leave(make_writer()), by=boss)

        assert (writer.state, writer.admitted_at) == (WriterState.ACTIVE, NOW)
        entry = LogEntry.objects.get(action="writer.taken_back")
        assert (entry.by, entry.before) == (boss, {"state": WriterState.LEFT})

    def test_leads_a_newcomer_who_left_back_to_the_trial(self, boss):
        dataset = make_dataset(vetting=make_vetting())
        writer = make_writer(dataset=dataset, state=WriterState.VETTING, **NEW)

        assert resume(leave(writer), by=boss).state == WriterState.VETTING

    @pytest.mark.parametrize("state", [WriterState.REFUSED, WriterState.WITHDRAWN])
    def test_is_for_nobody_who_was_refused_or_withdrew(self, boss, state):
        with pytest.raises(services.WriterNotActiveError):
            resume(make_writer(state=state), by=boss)


class TestLeaving:
    def test_gives_the_open_dialogue_to_somebody_else(self):
        lease = make_writing_lease(draft="I hear")
        free = lease.context.slots_left

        assert leave(lease.writer).state == WriterState.LEFT

        assert Context.objects.get().slots_left == free + 1
        assert WritingLease.objects.get().outcome == LeaseOutcome.RELEASED

    def test_takes_no_slot_of_a_trial_dialogue(self):
        lease = make_writing_lease(is_trial=True)
        free = lease.context.slots_left

        leave(lease.writer)

        assert Context.objects.get().slots_left == free

    def test_lets_what_was_sent_back_lapse_and_frees_its_place(self):
        message = make_sent(state=MessageState.RETURNED)
        free = message.lease.context.slots_left

        leave(message.lease.writer)

        assert Message.objects.get().state == MessageState.LAPSED
        assert Context.objects.get().slots_left == free + 1

    def test_keeps_the_text_that_was_accepted_before_a_revision_was_sent_back(self):
        message = make_accepted()
        Message.objects.update(state=MessageState.RETURNED)
        free = message.lease.context.slots_left

        leave(message.lease.writer)

        assert Message.objects.get().state == MessageState.ACCEPTED
        assert Context.objects.get().slots_left == free

    @pytest.mark.parametrize("state", [MessageState.WAITING, MessageState.REJECTED])
    def test_leaves_what_waits_or_is_decided_alone(self, state):
        message = make_sent(state=state)

        leave(message.lease.writer)

        assert Message.objects.get().state == state

    def test_deletes_the_mails_that_wait_and_keeps_those_that_went(self):
        writer = make_writer(email="ada@example.org")
        went = make_mail(writer=writer, claimed_at=NOW, sent_at=NOW)
        make_mail(writer=writer, kind=MailKind.RETURNED)

        leave(writer)

        assert list(WriterMail.objects.all()) == [went]

    def test_twice_changes_nothing(self):
        lease = make_writing_lease()
        for _ in range(2):
            leave(lease.writer)

        assert Context.objects.get().slots_left == lease.context.slots_left + 1
        assert LogEntry.objects.filter(action="writer.left").count() == 1
