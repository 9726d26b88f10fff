"""What reviewers post about messages: decisions, who wrote one, freezing and thawing."""

import re

import pytest
from django.urls import reverse

from access.models import LogEntry
from completions.choices import Background, MessageState, MessageVerdict, WriterState
from completions.models import Dataset, Message, MessageDecision
from tests.helpers import written
from tests.helpers.factories import make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_revision
from tests.helpers.pages import text
from tests.helpers.written import NOTE, fix, freeze, make_read, revised, set_state

pytestmark = pytest.mark.django_db

QUEUE = "/console/writing/talks/messages/"


def decide(staff, message, verdict, *, note="", query="", follow=False, **posted):
    seen = {"version": 1, "decisions": 0}
    address = reverse("writing:decide", args=["talks", message.pk]) + query
    return staff.post(address, {"verdict": verdict, "note": note, **seen, **posted}, follow=follow)


def state_of(message):
    return Message.objects.get(pk=message.pk).state


def ticks(page):
    """Return what the boxes of the queue post."""
    return re.findall(r'name="messages" value="([^"]+)"', page.content.decode())


class TestADecision:
    @pytest.mark.parametrize(
        ("verdict", "said"),
        [("ACCEPTED", "Accepted"), ("RETURNED", "Sent back with a note"), ("REJECTED", "Rejected")],
    )
    def test_is_stored_and_leads_to_the_next_that_waits(self, staff, admin, dataset, verdict, said):
        message, following = make_read(dataset), make_read(dataset)

        answer = decide(staff, message, verdict, note=NOTE, follow=True)

        assert answer.redirect_chain == [(f"{QUEUE}{following.pk}/", 302)]
        assert f"{said}: message {message.pk}" in text(answer)
        assert state_of(message) == verdict
        decision = MessageDecision.objects.get()
        assert (decision.note, decision.decided_by) == (NOTE, admin)

    def test_keeps_the_filter_on_the_way_and_says_at_its_end_that_nothing_waits(
        self, staff, dataset
    ):
        message, _other, following = (make_read(dataset, pastes=pastes) for pastes in (1, 0, 1))

        first = decide(staff, message, "ACCEPTED", query="?signal=pasted")
        last = decide(staff, following, "ACCEPTED", query="?signal=pasted", follow=True)

        assert first["Location"] == f"{QUEUE}{following.pk}/?signal=pasted"
        assert last.redirect_chain == [(f"{QUEUE}?signal=pasted", 302)]
        assert "Nothing else waits here." in text(last)

    def test_that_takes_another_back_is_offered_and_stays_on_the_message(self, staff, dataset):
        message = make_read(dataset)
        make_read(dataset)
        decide(staff, message, "ACCEPTED")
        offer = staff.get(f"{QUEUE}{message.pk}/")

        answer = decide(staff, message, "RETURNED", note=NOTE, decisions=1, query="?state=ACCEPTED")

        assert verdicts_of(offer) == {"RETURNED", "REJECTED"}
        assert "takes the acceptance back" in text(offer)
        assert answer["Location"] == f"{QUEUE}{message.pk}/?state=ACCEPTED"
        assert state_of(message) == MessageState.RETURNED

    @pytest.mark.parametrize(
        ("posted", "said"),
        [
            ({"verdict": "RETURNED", "note": " "}, ["Say why: the writer reads this note."]),
            ({"verdict": "REJECTED", "note": ""}, ["Say why: the writer reads this note."]),
            ({"verdict": "REJECTED", "note": "x" * 2001}, ['id="note-error"']),
            ({"verdict": "", "note": NOTE}, ['role="alert"', NOTE]),
            ({"verdict": "SOLD", "note": NOTE}, ['role="alert"', NOTE]),
            ({"verdict": "ACCEPTED", "version": ""}, []),
            ({"verdict": "ACCEPTED", "decisions": "many"}, []),
        ],
        ids=["blank", "no note", "too long", "no verdict", "unknown", "no version", "no number"],
    )
    def test_that_lacks_something_changes_nothing_and_says_what(self, staff, dataset, posted, said):
        message = make_read(dataset)

        answer = decide(staff, message, **posted)

        assert answer.status_code == 422
        assert all(words in answer.content.decode() for words in said)
        assert state_of(message) == MessageState.WAITING


class TestSeveralAtOnce:
    def accept(self, staff, *ticked):
        address = reverse("writing:accept_many", args=["talks"])
        return staff.post(address, {"messages": ticked}, follow=True)

    def test_are_accepted_as_they_were_on_the_page(self, staff, dataset):
        messages = [make_read(dataset) for _ in range(3)]
        ticked = ticks(staff.get(QUEUE))

        answer = self.accept(staff, *ticked[:2], ticked[0])

        assert ticked == [f"{one.pk}-1-0" for one in messages]
        assert "2 messages accepted." in text(answer)
        assert "not accepted" not in text(answer)
        assert [state_of(one) for one in messages] == ["ACCEPTED", "ACCEPTED", "WAITING"]

    def test_what_was_decided_or_sent_again_meanwhile_is_left_to_be_read(self, staff, dataset):
        decided, sent_again, untouched = (make_read(dataset) for _ in range(3))
        page = staff.get(QUEUE)
        decide(written.staff()[0], decided, "RETURNED", note=NOTE)
        make_revision(message=sent_again)

        answer = self.accept(staff, *ticks(page))

        assert "1 message accepted." in text(answer)
        assert "2 not accepted" in text(answer)
        states = [state_of(one) for one in (decided, sent_again, untouched)]
        assert states == ["RETURNED", "WAITING", "ACCEPTED"]

    def test_one_that_was_revised_after_a_decision_is_accepted_as_it_is_now(self, staff, dataset):
        message = make_read(dataset)
        decide(staff, message, "RETURNED", note=NOTE)
        revised(message)

        (ticked,) = ticks(staff.get(QUEUE))
        answer = self.accept(staff, ticked)

        assert (ticked, state_of(message)) == (f"{message.pk}-2-1", "ACCEPTED")
        assert "1 message accepted." in text(answer)

    @pytest.mark.parametrize(
        "ticked",
        ["", "x-1-0", "9", "9-1", "999999-1-0", pytest.param("9" * 5000 + "-1-0", id="too long")],
    )
    def test_what_is_no_message_is_passed_over(self, staff, dataset, ticked):
        assert "0 not accepted" in text(self.accept(staff, ticked))


def test_a_page_that_is_out_of_date_shows_what_there_is_now_and_keeps_the_note(staff, dataset):
    message = make_read(dataset)
    make_revision(message=message, text="Another version came just now.")

    answer = decide(staff, message, "RETURNED", note=NOTE)

    assert answer.status_code == 409
    page = text(answer)
    assert "somebody else decided on this message, or its writer sent another" in page
    assert "Another version came just now." in page
    assert NOTE in page
    assert 'name="version" value="2"' in answer.content.decode()
    assert state_of(message) == MessageState.WAITING


def compare(message):
    written.decide(message, written.ACCEPT)
    fix(message)


def leave(message):
    set_state(message.lease.writer, WriterState.LEFT)


def let_lapse(message):
    Message.objects.filter(pk=message.pk).update(state=MessageState.LAPSED)


FIXED = "The accepted text is compared or labelled, so it stays as it is."
FROZEN = "The texts of this dataset are frozen"
GONE = "nobody is there any more who would receive it"
CLOSED = "There is nothing to decide about a message in this state."


@pytest.mark.parametrize(
    ("settle", "verdict", "said", "offered"),
    [
        (compare, "REJECTED", FIXED, set()),
        (freeze, "RETURNED", FROZEN, {"ACCEPTED", "REJECTED"}),
        (leave, "RETURNED", GONE, {"ACCEPTED", "REJECTED"}),
        (let_lapse, "ACCEPTED", CLOSED, set()),
    ],
    ids=["compared", "frozen", "the writer is gone", "closed"],
)
def test_a_refused_decision_is_answered_with_why_and_what_is_left_as_the_page_says_before(
    staff, dataset, settle, verdict, said, offered
):
    message = make_read(dataset)
    settle(message)
    n_decisions = MessageDecision.objects.count()

    page = staff.get(f"{QUEUE}{message.pk}/")
    answer = decide(staff, message, verdict, note=NOTE, decisions=n_decisions)

    assert (page.status_code, answer.status_code) == (200, 409)
    for one in (page, answer):
        assert said in text(one)
        assert verdicts_of(one) == offered
        assert ("<button" in form_of(one)) == bool(offered)
        assert message.lease.writer.code not in one.content.decode()
    assert MessageDecision.objects.count() == n_decisions


def form_of(answer):
    return answer.content.decode().split('<form id="decide"')[1].split("</form>")[0]


def verdicts_of(answer):
    return {one for one in MessageVerdict.values if f'value="{one}"' in form_of(answer)}


def test_every_button_and_the_way_on_has_a_key(staff, dataset):
    _before, message, _after = (make_read(dataset) for _ in range(3))

    html = staff.get(f"{QUEUE}{message.pk}/").content.decode()

    assert re.findall(r'data-key="([^"]+)"', html) == ["k p", "j n", "a", "s", "r"]


def test_asking_who_wrote_it_shows_it_on_that_page_alone_and_logs_it(staff, admin, dataset):
    writer = make_writer(
        dataset=dataset, code="W7777", background=Background.CLINICIAN, is_simulated=True
    )
    message = make_read(dataset, writer=writer)
    decide(staff, make_read(dataset, writer=writer), "ACCEPTED")

    told = staff.post(reverse("writing:author", args=["talks", message.pk]))
    after = staff.get(f"{QUEUE}{message.pk}/")

    assert "Pseudonym W7777" in text(told)
    assert "simulated" in text(told)
    assert "Background Clinician" in text(told)
    assert "Sent 2 Accepted 1 Sent back 0 Rejected 0" in text(told)
    assert verdicts_of(told) == set(MessageVerdict.values)
    assert "W7777" not in after.content.decode()
    assert "simulated" not in text(after)
    assert "no-store" in told["Cache-Control"]
    entry = LogEntry.objects.get(action="message.author_shown")
    assert (entry.by, entry.subject) == (admin, f"message {message.pk}")


class TestFreezing:
    @pytest.fixture
    def post(self, staff, dataset):
        address = reverse("writing:freeze", args=["talks"])
        return lambda **posted: staff.post(address, posted, follow=True)

    def test_tells_what_it_comes_to_then_what_it_ended_and_is_taken_back_by_thawing(
        self, staff, post, dataset
    ):
        make_read(dataset)
        make_read(dataset, state=MessageState.RETURNED)
        make_writing_lease(writer=make_writer(dataset=dataset))

        before = text(staff.get(QUEUE))
        frozen = text(post(act="freeze", is_sure="on"))
        thawed = text(post(act="thaw", is_sure="on"))

        assert "1 person is writing now" in before
        assert "1 message waits: it can still be accepted" in before
        assert "1 message was sent back: its writer cannot send it again." in before
        assert "Frozen. 1 open claim was given back, and its draft is kept." in frozen
        assert "Frozen since" in frozen
        assert "Thawed: people can write and revise again." in thawed
        assert "Frozen since" not in thawed

    @pytest.mark.parametrize("posted", [{"act": "freeze"}, {"is_sure": "on"}, {"act": "melt"}])
    def test_does_nothing_that_is_not_meant(self, post, posted):
        answer = post(**posted)

        assert "Nothing was changed: tick the box if you mean it." in text(answer)
        assert not Dataset.objects.exclude(frozen_at=None).exists()
        assert not LogEntry.objects.exists()
