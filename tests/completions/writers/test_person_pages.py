"""The console's page on one writer, and what an admin does about them."""

import pytest
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from completions.choices import MailKind, MessageState, WriterState
from completions.models import AdmissionDecision, Message, Writer, WriterMail
from completions.writers.credentials import invitation_link
from tests.completions.writers.desk import SENT, make_newcomer
from tests.helpers.factories import NOW, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_accepted, make_mail, make_sent, make_vetting
from tests.helpers.factories_written_once import make_member, make_writer_consent

pytestmark = pytest.mark.django_db


PERSON = {"code": "Wkim", "email": "kim@example.org"}


def make_person(**fields):
    dataset = fields.pop("dataset", None) or make_dataset(slug="talks")
    return make_writer(dataset=dataset, **PERSON | fields)


def make_tried(n_done=2, **fields):
    """A newcomer who has written for so many of two trial dialogues."""
    dataset = make_dataset(slug="talks", vetting=make_vetting(2))
    writer = make_newcomer(dataset=dataset, **PERSON | fields)
    for number, context in enumerate(dataset.vetting.contexts.order_by("pk")[:n_done], start=1):
        lease = make_writing_lease(writer=writer, context=context, is_trial=True, **SENT)
        make_sent(f"Trial message {number}.", lease=lease, state=MessageState.TRIAL)
    return writer


def address(name="writer", code="Wkim"):
    return reverse(f"writing:{name}", args=["talks", code])


def show(staff):
    page = staff.get(address())
    assert page.status_code == 200
    return page.content.decode()


def state_of(writer):
    return Writer.objects.get(pk=writer.pk).state


def act(staff, name, **fields):
    page = staff.post(address("writer-act"), {"act": name, **fields}, follow=True)
    return page.content.decode()


class TestPage:
    def test_shows_the_person_and_the_whole_link(self, staff):
        writer = make_person(background="CLINICIAN", has_own_system=True)
        make_writer_consent(writer=writer, version="2")

        page = show(staff)

        link = f'value="http://testserver{invitation_link(writer)}"'
        for told in ("kim@example.org", "Clinician", "agreed to it", "version 2", link):
            assert told in page

    @pytest.mark.parametrize(
        ("role", "is_shown"), [(Role.ANALYST, False), (Role.MANAGER, True), (Role.OWNER, True)]
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
        ("mail", "person", "words"),
        [
            ({}, {}, "waits to be sent"),
            ({"claimed_at": NOW, "sent_at": NOW}, {}, "sent"),
            ({"error": "SMTPDataError: no", "attempts": 1}, {}, "tried, and tried again soon"),
            ({"error": "unknown", "attempts": 5}, {}, "given up: the server refused it 5 times"),
            ({}, {"state": "DECLINED", "email": ""}, "not sent: the address is forgotten"),
        ],
    )
    def test_says_what_became_of_each_mail(self, staff, mail, person, words):
        make_mail(writer=make_person(**person), kind=MailKind.INVITED, **mail)

        page = show(staff)

        assert f"<strong>Invitation with the personal link</strong>: {words}" in page
        assert mail.get("error", "") in page

    def test_shows_no_text_but_those_on_trial(self, staff):
        writer = make_tried()
        make_accepted("An accepted text.", lease=make_writing_lease(writer=writer, **SENT))

        page = show(staff)

        assert "Trial message 1." in page
        assert "An accepted text." not in page

    def test_asks_a_constant_number_of_queries(self, staff, django_assert_max_num_queries):
        writer = make_tried()
        for _ in range(5):
            make_mail(writer=writer)

        with django_assert_max_num_queries(16):
            show(staff)

    @pytest.mark.parametrize("code", ["%00", "a%00b", "W%20x", "Wkim"])
    @pytest.mark.parametrize("rest", ["", "withdraw/"])
    def test_is_not_there_for_what_is_no_code_of_a_writer_of_the_dataset(
        self, staff, dataset, code, rest
    ):
        make_writer(code="Wkim")  # of another dataset

        answer = staff.get(f"/console/writing/talks/writers/{code}/{rest}")

        assert answer.status_code == 404
        assert staff.post(address("writer-act"), {"act": "pause"}).status_code == 404


class TestActs:
    def test_pause_resume_and_take_back_who_has_left(self, staff, admin):
        make_person()

        assert "On pause" in act(staff, "pause")
        assert "Goes on from here." in act(staff, "resume")
        Writer.objects.update(state=WriterState.LEFT)
        assert "Take them back" in show(staff)
        assert "Take them back" not in act(staff, "resume")

        by = LogEntry.objects.order_by("pk").values_list("action", "by")
        acts = ("writer.paused", "writer.resumed", "writer.taken_back")
        assert list(by) == [(one, admin.pk) for one in acts]

    def test_send_the_link_again_to_an_address(self, staff, admin):
        writer = make_person()

        assert "The link is sent once more." in act(staff, "invite-again")
        assert LogEntry.objects.get(action="writer.invited_again").by == admin
        Writer.objects.filter(pk=writer.pk).update(email="")
        assert "Nothing was sent: there is no address." in act(staff, "invite-again")
        assert 'value="invite-again"' not in show(staff)

    def test_renew_the_link_after_saying_what_that_does(self, staff, admin):
        writer = make_person()
        older = invitation_link(writer)
        assert "Every older link stops working at once" in show(staff)

        page = act(staff, "renew-link")

        writer.refresh_from_db()
        assert older not in page
        assert invitation_link(writer) in page
        assert LogEntry.objects.get(action="writer.link_renewed").by == admin

    @pytest.mark.parametrize(
        ("name", "state"), [("pause", "LEFT"), ("resume", "REFUSED"), ("admit", "ACTIVE")]
    )
    def test_that_are_not_possible_change_nothing_and_say_so(self, staff, name, state):
        writer = make_person(state=state)

        assert "as things stand now, that is not possible" in act(staff, name)
        assert state_of(writer) == state

    @pytest.mark.parametrize("name", ["", "erase"])
    def test_that_do_not_exist_are_refused(self, staff, name):
        make_person()

        page = staff.post(address("writer-act"), {"act": name})

        assert page.status_code == 422
        assert "there is no such act" in page.content.decode()


class TestAdmission:
    @pytest.mark.parametrize(
        ("name", "ends"),
        [
            ("admit", (WriterState.ACTIVE, MailKind.ADMITTED)),
            ("refuse", (WriterState.REFUSED, MailKind.REFUSED)),
        ],
    )
    @pytest.mark.parametrize(
        ("email", "told"),
        [("kim@example.org", "A mail tells them."), ("", "Tell them yourself: they have no")],
    )
    def test_is_decided_once_with_a_note_and_says_how_the_person_hears_of_it(
        self, staff, admin, name, ends, email, told
    ):
        state, kind = ends
        writer = make_tried(email=email)

        page = act(staff, name, note="Warm, and it preaches.")

        writer.refresh_from_db()
        decision = AdmissionDecision.objects.get()
        assert (writer.state, decision.decided_by) == (state, admin)
        assert told in page
        assert "Warm, and it preaches." in page
        assert f'value="{name}"' not in page
        assert list(WriterMail.objects.values_list("kind", flat=True)) == [kind] * bool(email)

    def test_waits_until_the_trial_is_done(self, staff):
        writer = make_tried(n_done=1)

        assert "Trial conversations are left to write for." in act(staff, "admit")
        assert state_of(writer) == WriterState.VETTING

    def test_turns_nobody_away_without_a_note(self, staff):
        writer = make_tried()

        refused = staff.post(address("writer-act"), {"act": "refuse", "note": "   "})

        assert refused.status_code == 422
        assert 'id="note-error">Say why' in refused.content.decode()
        assert state_of(writer) == WriterState.VETTING


class TestWithdrawingSomebody:
    @pytest.fixture
    def writer(self):
        return make_sent().lease.writer

    @pytest.fixture
    def withdrawal(self, writer):
        return reverse("console:withdraw_writer", args=[writer.dataset.slug, writer.code])

    def test_says_what_each_choice_means_and_needs_one(self, staff, withdrawal):
        page = staff.get(withdrawal).content.decode()
        unchosen = staff.post(withdrawal)

        assert "Only at this person's own wish." in page.replace("&#x27;", "'")
        assert 'value="keep"' in page
        assert 'value="delete"' in page
        assert unchosen.status_code == 422
        assert "Nothing changed" in unchosen.content.decode()
        assert not Writer.objects.filter(state=WriterState.WITHDRAWN).exists()

    def test_may_keep_first_and_delete_later_and_then_has_nothing_left_to_ask(
        self, staff, admin, withdrawal, writer
    ):
        staff.post(withdrawal, {"texts": "keep"})
        assert Message.objects.get().state == MessageState.WAITING
        assert 'value="keep"' not in staff.get(withdrawal).content.decode()

        page = staff.post(withdrawal, {"texts": "delete"}, follow=True)

        assert "has withdrawn" in page.content.decode()
        assert Message.objects.get().state == MessageState.ERASED
        by = LogEntry.objects.filter(action="writer.withdrew").values_list("by", flat=True)
        assert set(by) == {admin.pk}
        again = staff.get(withdrawal)
        assert again.url == reverse("writing:writer", args=[writer.dataset.slug, writer.code])
        assert withdrawal not in staff.get(again.url).content.decode()
