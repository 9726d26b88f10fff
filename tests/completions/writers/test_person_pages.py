"""The console's page on one writer, and what an admin does about them."""

import pytest
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from completions.choices import LeaseOutcome, MailKind, MessageState, WriterState
from completions.models import AdmissionDecision, Writer, WriterMail
from completions.writers.credentials import invitation_link
from tests.helpers.factories import NOW, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_accepted, make_mail, make_sent, make_vetting
from tests.helpers.factories_written_once import make_member, make_writer_consent

pytestmark = pytest.mark.django_db

SENT = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}


@pytest.fixture
def admin():
    return make_member("ada")


@pytest.fixture
def staff(client, admin):
    client.force_login(admin)
    return client


def make_person(**fields):
    dataset = fields.pop("dataset", None) or make_dataset(slug="talks")
    return make_writer(dataset=dataset, **{"code": "Wkim", "email": "kim@example.org"} | fields)


def make_newcomer(n_done=2):
    """A newcomer who has written for so many of two trial dialogues."""
    vetting = make_vetting(2)
    writer = make_person(
        dataset=make_dataset(slug="talks", vetting=vetting),
        state=WriterState.VETTING,
        admitted_at=None,
    )
    for number, context in enumerate(vetting.contexts.order_by("pk")[:n_done], start=1):
        lease = make_writing_lease(writer=writer, context=context, is_trial=True, **SENT)
        make_sent(f"Trial message {number}.", lease=lease, state=MessageState.TRIAL)
    return writer


def address(name="writer", code="Wkim"):
    return reverse(f"writing:{name}", args=["talks", code])


def show(staff):
    page = staff.get(address())
    assert page.status_code == 200
    return page.content.decode()


def act(staff, name, **fields):
    page = staff.post(address("writer-act"), {"act": name, **fields}, follow=True)
    return page.content.decode()


class TestPage:
    def test_shows_the_person_and_the_whole_link(self, staff):
        writer = make_person(background="CLINICIAN", has_own_system=True)
        make_writer_consent(writer=writer, version="2")

        page = show(staff)

        assert "kim@example.org" in page
        assert "Clinician" in page
        assert "agreed to it" in page
        assert "version 2" in page
        assert f'value="http://testserver{invitation_link(writer)}"' in page

    @pytest.mark.parametrize(
        ("role", "is_shown"),
        [(Role.ANALYST, False), (Role.MANAGER, True), (Role.OWNER, True)],
    )
    def test_tells_who_changes_nothing_neither_link_nor_names(self, client, role, is_shown):
        dataset = make_person().dataset
        imported = {"state": WriterState.ELSEWHERE, "imported_as": "Kim Smith", "email": ""}
        make_person(dataset=dataset, code="Wfar", **imported)
        client.force_login(make_member(role=role))

        page = show(client) + client.get(address(code="Wfar")).content.decode()

        for told in ("/w/i/", "kim@example.org", "Kim Smith", "Make a new link"):
            assert (told in page) == is_shown
        assert ("Managers and owners see the link." in page) != is_shown

    @pytest.mark.parametrize("state", [WriterState.WITHDRAWN, WriterState.ELSEWHERE])
    def test_has_no_link_for_whom_none_leads_in(self, staff, state):
        make_person(state=state, email="")

        page = show(staff)

        assert "/w/i/" not in page
        assert "This person has no link." in page

    @pytest.mark.parametrize(
        ("mail", "words"),
        [
            ({}, "waits to be sent"),
            ({"claimed_at": NOW, "sent_at": NOW}, "sent"),
            ({"error": "SMTPDataError: no", "attempts": 1}, "tried, and tried again soon"),
            ({"error": "unknown", "attempts": 5}, "given up: the server refused it 5 times"),
        ],
    )
    def test_says_what_became_of_each_mail(self, staff, mail, words):
        make_mail(writer=make_person(), kind=MailKind.INVITED, **mail)

        page = show(staff)

        assert f"<strong>Invitation with the personal link</strong>: {words}</p>" in page
        assert mail.get("error", "") in page

    def test_says_of_a_mail_without_an_address_that_it_will_not_go(self, staff):
        make_mail(writer=make_person(state=WriterState.DECLINED, email=""))

        assert "not sent: the address is forgotten" in show(staff)

    def test_shows_no_text_but_those_on_trial(self, staff):
        writer = make_newcomer()
        make_accepted("An accepted text.", lease=make_writing_lease(writer=writer, **SENT))

        page = show(staff)

        assert "Trial message 1." in page
        assert "An accepted text." not in page

    def test_asks_a_constant_number_of_queries(self, staff, django_assert_max_num_queries):
        writer = make_newcomer()
        for _ in range(5):
            make_mail(writer=writer)

        with django_assert_max_num_queries(16):
            show(staff)

    @pytest.mark.parametrize("code", ["%00", "a%00b", "W%20x"])
    @pytest.mark.parametrize("rest", ["", "withdraw/"])
    def test_is_not_there_for_what_is_no_code(self, staff, code, rest):
        make_dataset(slug="talks")

        answer = staff.get(f"/console/writing/talks/writers/{code}/{rest}")

        assert answer.status_code == 404

    def test_is_not_there_for_another_datasets_writer(self, staff):
        make_dataset(slug="talks")
        make_writer(code="Wkim")

        assert staff.get(address()).status_code == 404
        assert staff.post(address("writer-act"), {"act": "pause"}).status_code == 404


class TestActs:
    @pytest.mark.parametrize("name", ["admit", "refuse"])
    @pytest.mark.parametrize(
        ("email", "words"),
        [("kim@example.org", "A mail tells them."), ("", "Tell them yourself: they have no")],
    )
    def test_on_a_newcomer_say_how_the_person_hears_of_it(self, staff, name, email, words):
        Writer.objects.filter(pk=make_newcomer().pk).update(email=email)

        page = act(staff, name, note="Thank you.")

        assert words in page

    def test_pause_and_resume(self, staff, admin):
        writer = make_person()

        assert "On pause" in act(staff, "pause")
        writer.refresh_from_db()
        assert (writer.state, writer.may_resume) == (WriterState.PAUSED, False)

        act(staff, "resume")
        writer.refresh_from_db()
        assert writer.state == WriterState.ACTIVE
        by = LogEntry.objects.order_by("pk").values_list("action", "by")
        assert list(by) == [("writer.paused", admin.pk), ("writer.resumed", admin.pk)]

    def test_take_somebody_back_who_has_left(self, staff, admin):
        writer = make_person(state=WriterState.LEFT)
        assert "Take them back" in show(staff)

        assert "Goes on from here." in act(staff, "resume")

        writer.refresh_from_db()
        assert writer.state == WriterState.ACTIVE
        assert LogEntry.objects.get(action="writer.taken_back").by == admin
        assert "Take them back" not in show(staff)

    def test_send_the_link_again(self, staff, admin):
        make_person()

        assert "The link is sent once more." in act(staff, "invite-again")
        assert WriterMail.objects.get().kind == MailKind.INVITED
        assert LogEntry.objects.get(action="writer.invited_again").by == admin

    def test_renew_the_link_after_saying_what_that_does(self, staff, admin):
        writer = make_person()
        older = invitation_link(writer)
        assert "Every older link stops working at once" in show(staff)

        page = act(staff, "renew-link")

        writer.refresh_from_db()
        assert older not in page
        assert invitation_link(writer) in page
        assert LogEntry.objects.get(action="writer.link_renewed").by == admin

    def test_tell_why_nothing_was_sent(self, staff):
        make_person(email="")

        assert "Nothing was sent: there is no address." in act(staff, "invite-again")
        assert 'value="invite-again"' not in show(staff)

    @pytest.mark.parametrize(
        ("name", "state"),
        [("pause", "LEFT"), ("resume", "REFUSED"), ("admit", "ACTIVE")],
    )
    def test_that_are_not_possible_change_nothing_and_say_so(self, staff, name, state):
        writer = make_person(state=state)

        assert "as things stand now, that is not possible" in act(staff, name)
        writer.refresh_from_db()
        assert writer.state == state

    @pytest.mark.parametrize("name", ["", "erase"])
    def test_that_do_not_exist_are_refused(self, staff, name):
        make_person()

        page = staff.post(address("writer-act"), {"act": name})

        assert page.status_code == 422
        assert "there is no such act" in page.content.decode()


class TestAdmission:
    def test_lets_somebody_in_with_a_note(self, staff, admin):
        writer = make_newcomer()

        act(staff, "admit", note="Warm and short.")

        writer.refresh_from_db()
        decision = AdmissionDecision.objects.get()
        assert writer.state == WriterState.ACTIVE
        assert (decision.is_admitted, decision.note) == (True, "Warm and short.")
        assert decision.decided_by == admin
        assert WriterMail.objects.get().kind == MailKind.ADMITTED

    def test_waits_until_the_trial_is_done(self, staff):
        writer = make_newcomer(n_done=1)

        assert "Trial conversations are left to write for." in act(staff, "admit")
        writer.refresh_from_db()
        assert writer.state == WriterState.VETTING

    def test_turns_somebody_away_with_a_note(self, staff):
        writer = make_newcomer()

        act(staff, "refuse", note="Too long, and it preaches.")

        writer.refresh_from_db()
        assert writer.state == WriterState.REFUSED
        assert "Too long, and it preaches." in show(staff)

    @pytest.mark.parametrize("note", ["", "   "])
    def test_turns_nobody_away_without_saying_why(self, staff, note):
        writer = make_newcomer()

        page = staff.post(address("writer-act"), {"act": "refuse", "note": note})

        assert page.status_code == 422
        assert 'id="note-error">Say why' in page.content.decode()
        writer.refresh_from_db()
        assert writer.state == WriterState.VETTING

    def test_is_asked_for_while_somebody_is_on_trial_alone(self, staff):
        make_person()

        assert 'value="admit"' not in show(staff)
