"""Drafts, messages, skips and changes: what is kept, what is sent, what stays in the box."""

import datetime as dt

import pytest
from django.utils import timezone

from completions.choices import LeaseOutcome, MessageState
from completions.models import Context, Dataset, Message, MessageRevision
from completions.writers.services.leasing import release_expired_writing_leases
from tests.completions.writers.desk import (
    MESSAGE,
    TEXT,
    box,
    make_pool,
    shown,
    sign_in,
    take_dialogue,
    url,
)
from tests.helpers.factories import make_completion
from tests.helpers.factories_of_people import make_message_decision
from tests.helpers.visits import HTMX, read_forms

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


@pytest.fixture
def writer():
    return make_pool()


def message_form(page):
    (form,) = [form for form in read_forms(page) if form.id == "message"]
    return form


class TestDraft:
    def test_survives_a_reload_and_follows_the_writer_to_another_device(
        self, client, writer, desk, lease
    ):
        answer = desk.post(url("draft", lease.token), {"text": "Half a sen"}, headers=HTMX)
        reloaded = box(desk.get(url("dialogue", lease.token)))
        client.cookies.clear()
        sign_in(client, writer)

        assert (answer.status_code, answer.content) == (204, b"")
        assert (reloaded, box(client.get(url("next"), follow=True))) == ("Half a sen", "Half a sen")

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "script"])
    def test_that_arrives_after_the_message_changes_nothing_and_is_given_back(
        self, desk, lease, headers
    ):
        desk.post(url("dialogue", lease.token), MESSAGE)

        late = desk.post(
            url("draft", lease.token), {"text": "Late", "version": "0"}, headers=headers
        )

        assert late.status_code == 409
        assert "Late" in shown(late)
        lease.refresh_from_db()
        assert lease.draft == ""

    def test_goes_on_counting_from_the_signals_that_the_page_was_given(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": "Half", "typing_ms": "4200"})

        form = message_form(desk.get(url("dialogue", lease.token)))

        assert (form.fields["typing_ms"], form.fields["pastes"]) == ("4200", "0")

    def test_without_a_text_empties_the_box(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": "Half"})

        answer = desk.post(url("draft", lease.token))

        assert (answer.status_code, answer["Location"]) == (303, url("dialogue", lease.token))
        assert box(desk.get(url("dialogue", lease.token))) == ""


class TestSending:
    def test_twice_stores_the_message_once_and_says_so(self, desk, writer, lease):
        answers = [desk.post(url("dialogue", lease.token), MESSAGE, follow=True) for _ in range(2)]

        for answer in answers:
            assert answer.redirect_chain == [(url("dialogue", lease.token), 303)]
            assert "Sent, thank you" in shown(answer)
            assert TEXT in shown(answer)
            assert url("next") in shown(answer)
        message = Message.objects.get(lease__writer=writer)
        assert (message.state, message.revisions.get().text) == (MessageState.WAITING, TEXT)

    def test_sends_a_script_to_the_page_that_says_so(self, desk, lease):
        answer = desk.post(url("dialogue", lease.token), MESSAGE, headers=HTMX)

        assert answer["HX-Redirect"] == url("dialogue", lease.token)

    @pytest.mark.parametrize(
        ("payload", "message", "controls"),
        [
            ({"text": "word " * 151}, "150 is the most", ["id_text"]),
            ({"is_own_words": ""}, "these are your own words", ["id_is_own_words"]),
            ({"text": " ", "is_own_words": ""}, "at least 3 words", ["id_text", "id_is_own_words"]),
        ],
        ids=["too long", "not declared", "blank"],
    )
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
    def test_what_cannot_be_sent_stays_in_the_box_with_all_that_is_wrong(
        self, desk, lease, payload, message, controls, headers
    ):
        posted = MESSAGE | payload

        page = desk.post(url("dialogue", lease.token), posted, headers=headers)

        assert page.status_code == 422
        assert message in shown(page)
        assert all(f'href="#{control}"' in shown(page) for control in controls)
        assert box(page) == posted["text"]
        assert ("<!doctype html>" in shown(page)) is not bool(headers)
        assert not Message.objects.exists()
        lease.refresh_from_db()
        assert lease.draft == posted["text"]

    def test_shows_the_text_again_when_others_have_filled_the_place(self, desk, lease):
        release_expired_writing_leases(now=timezone.now() + DAY)
        Context.objects.filter(pk=lease.context_id).update(slots_left=0)

        answers = [
            desk.post(url("dialogue", lease.token), MESSAGE),
            desk.get(url("dialogue", lease.token)),
        ]

        assert [answer.status_code for answer in answers] == [409, 409]
        assert all(TEXT in shown(answer) for answer in answers)

    def test_markup_in_a_message_is_shown_as_text(self, desk, lease):
        text = "I hear <b>you</b>, <script>alert(1)</script> truly."

        page = desk.post(url("dialogue", lease.token), MESSAGE | {"text": text}, follow=True)

        assert "<script>alert" not in shown(page)
        assert "&lt;script&gt;" in shown(page)


class TestSkipping:
    def test_gives_the_dialogue_back_with_the_reason_and_goes_on(self, desk, lease):
        answer = desk.post(url("skip", lease.token), {"reason": "close"})

        assert (answer.status_code, answer["Location"]) == (303, url("next"))
        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "close")
        assert take_dialogue(desk).context_id != lease.context_id

    @pytest.mark.parametrize("payload", [{}, {"reason": ""}, {"reason": "no such"}])
    def test_without_a_reason_that_is_offered_stays_at_the_dialogue(self, desk, lease, payload):
        answer = desk.post(url("skip", lease.token), payload)

        assert (answer.status_code, answer["Location"]) == (303, url("dialogue", lease.token))
        lease.refresh_from_db()
        assert lease.closed_at is None


def test_the_whole_way_works_by_the_forms_of_the_pages_alone(desk):
    """From the desk to the next dialogue, posting only what the pages' own forms hold."""
    page = desk.get(url("next"), follow=True)
    address = page.redirect_chain[-1][0]
    form = message_form(page)
    assert form.action == address
    assert f'formaction="{address}draft/"' in shown(page)
    page = desk.post(f"{address}draft/", form.fields | {"text": TEXT}, follow=True)
    form = message_form(page)
    assert form.fields["text"] == TEXT
    page = desk.post(form.action, form.fields | {"is_own_words": "on"}, follow=True)

    assert "Sent, thank you" in shown(page)
    next_page = desk.get(url("next"), follow=True)
    skip = next(form for form in read_forms(next_page) if form.action.endswith("skip/"))
    (name, value) = skip.buttons[0]
    page = desk.post(skip.action, skip.fields | {name: value}, follow=True)
    assert "Nothing is waiting" in shown(page)


PERSONAL = "My name is <b>Ada</b>, I am Ada Lovelace, write to <ada@example.org> now."
SECOND_LOOK = "Please check before you send"

BETTER = "That is a lonely kind of quiet. Who would notice if you called tonight?"


@pytest.fixture
def sent(desk, lease):
    """The address of a dialogue for which a message was sent."""
    desk.post(url("dialogue", lease.token), MESSAGE)
    return url("dialogue", lease.token)


def close_the_collection():
    Dataset.objects.update(frozen_at=timezone.now())


def compare():
    """Let a study compare the text of the one message."""
    lease = Message.objects.get().lease
    text = make_completion(context=lease.context, writer=lease.writer, fixed_at=timezone.now())
    Message.objects.update(completion=text, state=MessageState.ACCEPTED)


def decide(state, note):
    Message.objects.update(state=state)
    make_message_decision(revision=MessageRevision.objects.get(), verdict=state, note=note)


def reject():
    decide(MessageState.REJECTED, "It tells her what to feel.")


class TestASecondLook:
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
    def test_is_asked_for_with_the_words_at_fault_each_time(self, desk, lease, headers):
        assert SECOND_LOOK not in shown(desk.get(url("dialogue", lease.token)))

        for _ in range(2):
            page = desk.post(
                url("dialogue", lease.token), MESSAGE | {"text": PERSONAL}, headers=headers
            )

            assert page.status_code == 422
            assert SECOND_LOOK in shown(page)
            assert ">ada@example.org</q>" in shown(page)
            assert "<b>Ada" not in shown(page)
            assert box(page) == PERSONAL

    def test_can_be_answered_by_sending_it_all_the_same(self, desk, lease):
        page = desk.post(url("dialogue", lease.token), MESSAGE | {"text": PERSONAL})
        form = message_form(page)
        (name, value) = next(button for button in form.buttons if button[0] == "has_looked_again")

        page = desk.post(
            form.action, form.fields | {"is_own_words": "on", name: value}, follow=True
        )

        assert "Sent, thank you" in shown(page)
        assert MessageRevision.objects.get().has_looked_again


class TestChanging:
    def test_begins_with_what_was_sent_and_goes_on_with_what_was_begun(self, desk, lease, sent):
        change = url("change", lease.token)
        assert change in shown(desk.get(sent))
        before = desk.get(change)

        answer = desk.post(url("draft", lease.token), {"text": "Or rather", "version": "1"})

        assert (box(before), box(desk.get(change))) == (TEXT, "Or rather")
        assert "Send the new version" in shown(before)
        assert answer["Location"] == change
        page = shown(desk.get(sent))
        assert "You have started a new version" in page
        assert TEXT in page
        assert "new version begun" in shown(desk.get(url("desk")))

    def test_sent_twice_because_the_answer_was_lost_keeps_two_versions_and_shows_the_new_one(
        self, desk, lease, sent
    ):
        again = MESSAGE | {"text": BETTER, "version": "1"}

        pages = [desk.post(sent, again, follow=True) for _ in range(2)]

        for page in pages:
            assert page.status_code == 200
            assert BETTER in shown(page)
            assert TEXT not in shown(page)
        assert MessageRevision.objects.count() == 2
        draft = desk.post(url("draft", lease.token), {"text": BETTER, "version": "1"})
        assert draft.status_code == 303

    @pytest.mark.parametrize("text", [BETTER, ""])
    def test_from_a_page_that_was_open_before_the_last_version_gives_the_text_back(
        self, desk, sent, text
    ):
        desk.post(sent, MESSAGE | {"text": BETTER.upper(), "version": "1"})

        page = desk.post(sent, MESSAGE | {"text": text, "version": "1"})

        assert page.status_code == 409
        assert "A newer version was sent meanwhile" in shown(page)
        assert text in shown(page)
        assert MessageRevision.objects.count() == 2

    @pytest.mark.parametrize(
        ("settle", "before", "words"),
        [
            (
                reject,
                ["This reply is not used", "It tells her what to feel."],
                "can’t be changed any more",
            ),
            (compare, ["Accepted, thank you"], "can’t be changed any more"),
            (close_the_collection, ["Sent, thank you"], "The collection is closed"),
        ],
        ids=["rejected", "compared", "the messages are final"],
    )
    def test_is_over_and_says_why_once(self, desk, lease, sent, settle, before, words):
        settle()

        page = shown(desk.get(sent))
        refused = desk.post(sent, MESSAGE | {"text": BETTER})

        assert all(said in page for said in before)
        assert url("change", lease.token) not in page
        assert refused.status_code == 409
        assert words in shown(refused)
        assert BETTER in shown(refused)

    @pytest.mark.parametrize(
        "settle", [close_the_collection, compare], ids=["the writing stands still", "compared"]
    )
    def test_of_what_came_back_waits_while_nothing_can_be_done_about_it(self, desk, sent, settle):
        settle()
        Message.objects.update(state=MessageState.RETURNED)

        page = shown(desk.get(sent))

        assert "Writing is paused at the moment, so it can’t be changed." in page
        assert "Somebody reads it" not in page
        assert "Mend this message" not in shown(desk.get(url("desk")))

    def test_is_nothing_before_a_message_was_sent_or_after_it_is_settled(self, desk, lease):
        dialogue, change = url("dialogue", lease.token), url("change", lease.token)
        before = desk.get(change)
        desk.post(dialogue, MESSAGE)
        reject()

        assert (before["Location"], desk.get(change)["Location"]) == (dialogue, dialogue)

    def test_page_costs_few_queries(self, desk, lease, sent, django_assert_num_queries):
        # The writer; the lease with its context and message; the newest version; the last note.
        with django_assert_num_queries(4):
            desk.get(url("change", lease.token))


def test_a_message_that_came_back_shows_the_note_above_the_box_until_it_is_mended(desk, sent):
    decide(MessageState.RETURNED, "Please no advice yet.")

    before = desk.get(sent)
    unchanged = desk.post(sent, MESSAGE)
    mended = desk.post(sent, MESSAGE | {"text": BETTER}, follow=True)

    assert "Please no advice yet." in shown(before)
    assert box(before) == TEXT
    assert unchanged.status_code == 422
    assert "Nothing has changed yet" in shown(unchanged)
    assert "Sent, thank you" in shown(mended)
    assert "Please no advice yet." not in shown(mended)
    assert Message.objects.get().state == MessageState.WAITING
    assert MessageRevision.objects.count() == 2


def test_a_dialogue_without_a_message_says_that_the_messages_are_final(desk, lease):
    desk.post(url("draft", lease.token), {"text": "It took me a night to"})
    close_the_collection()

    page = desk.get(url("dialogue", lease.token))

    assert page.status_code == 409
    assert "It took me a night to" in shown(page)
    assert desk.get(url("next"))["Location"] == url("desk")
