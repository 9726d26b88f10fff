"""Messages that are looked at again before they go out, and changed afterwards."""

import pytest
from django.utils import timezone

from completions.choices import MessageState, MessageVerdict, WriterState
from completions.models import Completion, Dataset, Message, MessageRevision
from tests.completions.writers.desk import (
    HTMX,
    MESSAGE,
    TEXT,
    box,
    make_pool,
    shown,
    sign_in,
    url,
)
from tests.helpers.factories import make_completion
from tests.helpers.factories_of_people import make_accepted, make_message_decision
from tests.helpers.visits import read_forms
from tests.helpers.written import set_state

pytestmark = pytest.mark.django_db

REACH = "Do write to me at ada@example.org whenever it gets dark."


SECOND_LOOK = "Please check before you send"

BETTER = "That is a lonely kind of quiet. Who would notice if you called tonight?"


@pytest.fixture
def writer():
    return make_pool()


@pytest.fixture
def sent(desk, lease):
    """The address of a dialogue for which a message was sent."""
    desk.post(url("dialogue", lease.token), MESSAGE)
    return url("dialogue", lease.token)


def decide(verdict, note="", **fields):
    Message.objects.update(**fields)
    make_message_decision(revision=MessageRevision.objects.get(), verdict=verdict, note=note)


class TestASecondLook:
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
    def test_is_asked_for_with_the_words_at_fault_each_time(self, desk, lease, headers):
        assert SECOND_LOOK not in shown(desk.get(url("dialogue", lease.token)))

        for _ in range(2):
            page = desk.post(
                url("dialogue", lease.token), MESSAGE | {"text": REACH}, headers=headers
            )

            assert page.status_code == 422
            assert SECOND_LOOK in shown(page)
            assert ">ada@example.org</q>" in shown(page)
            assert box(page) == REACH
        assert not Message.objects.exists()
        lease.refresh_from_db()
        assert lease.draft == REACH

    def test_can_be_answered_by_sending_it_all_the_same(self, desk, lease):
        page = desk.post(url("dialogue", lease.token), MESSAGE | {"text": REACH})
        (form,) = [form for form in read_forms(page) if form.id == "message"]
        (name, value) = next(button for button in form.buttons if button[0] == "has_looked_again")

        page = desk.post(
            form.action, form.fields | {"is_own_words": "on", name: value}, follow=True
        )

        assert "Sent, thank you" in shown(page)
        assert MessageRevision.objects.get().has_looked_again

    def test_shows_the_words_as_text(self, desk, lease):
        text = "My name is <b>Ada</b>, I am Ada Lovelace, write to <ada@example.org> now."

        page = shown(desk.post(url("dialogue", lease.token), MESSAGE | {"text": text}))

        assert SECOND_LOOK in page
        assert "<b>Ada" not in page


class TestChanging:
    def test_begins_with_what_was_sent_and_goes_on_with_what_was_begun(self, desk, lease, sent):
        change = url("change", lease.token)
        assert change in shown(desk.get(sent))
        assert box(desk.get(change)) == TEXT
        assert "Send the new version" in shown(desk.get(change))

        answer = desk.post(url("draft", lease.token), {"text": "Or rather", "version": "1"})

        assert answer["Location"] == change
        assert box(desk.get(change)) == "Or rather"
        assert "You have started a new version" in shown(desk.get(sent))
        assert TEXT in shown(desk.get(sent))
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

    @pytest.mark.parametrize("text", ["", "word " * 151])
    def test_keeps_what_cannot_be_sent_in_the_box(self, desk, sent, text):
        page = desk.post(sent, MESSAGE | {"text": text})

        assert page.status_code == 422
        assert box(page) == text
        assert MessageRevision.objects.get().text == TEXT

    @pytest.mark.parametrize(
        ("settle", "words"),
        [
            (lambda: Message.objects.update(state="REJECTED"), "can’t be changed any more"),
            (lambda: Message.objects.update(state="LAPSED"), "can’t be changed any more"),
            (lambda: Dataset.objects.update(frozen_at=timezone.now()), "The collection is closed"),
        ],
        ids=["rejected", "lapsed", "the messages are final"],
    )
    def test_is_over_once(self, desk, lease, sent, settle, words):
        settle()

        assert url("change", lease.token) not in shown(desk.get(sent))
        refused = desk.post(sent, MESSAGE | {"text": BETTER})
        assert refused.status_code == 409
        assert words in shown(refused)
        assert BETTER in shown(refused)
        lease.refresh_from_db()
        assert lease.draft == BETTER

    def test_is_over_once_a_study_compares_it(self, desk, writer):
        message = make_accepted()
        message.lease.writer = writer
        message.lease.save()
        Completion.objects.update(fixed_at=timezone.now(), writer=writer)
        sent = url("dialogue", message.lease.token)

        assert "Accepted, thank you" in shown(desk.get(sent))
        assert url("change", message.lease.token) not in shown(desk.get(sent))
        assert desk.post(sent, MESSAGE | {"text": BETTER}).status_code == 409

    def test_of_what_came_back_waits_while_the_writing_stands_still(self, desk, writer, sent):
        Message.objects.update(state=MessageState.RETURNED)
        Dataset.objects.filter(pk=writer.dataset_id).update(frozen_at=timezone.now())

        page = shown(desk.get(sent))

        assert "Writing is paused at the moment, so it can’t be changed." in page
        assert "Somebody reads it" not in page
        assert "Mend this message" not in shown(desk.get(url("desk")))

    def test_of_what_a_study_compares_is_not_asked_for(self, desk, sent):
        message = Message.objects.get()
        message.completion = make_completion(
            context=message.lease.context, writer=message.lease.writer, fixed_at=timezone.now()
        )
        message.state = MessageState.RETURNED
        message.save()

        assert "Mend this message" not in shown(desk.get(url("desk")))

    def test_is_nothing_before_a_message_was_sent_or_after_it_is_settled(self, desk, lease):
        dialogue, change = url("dialogue", lease.token), url("change", lease.token)
        before = desk.get(change)
        desk.post(dialogue, MESSAGE)
        Message.objects.update(state=MessageState.REJECTED)

        assert (before["Location"], desk.get(change)["Location"]) == (dialogue, dialogue)

    def test_is_nobody_elses(self, client, lease, sent):
        sign_in(client, make_pool())

        assert client.get(url("change", lease.token)).status_code == 404
        assert client.post(sent, MESSAGE | {"text": BETTER}).status_code == 404
        assert MessageRevision.objects.get().text == TEXT

    def test_waits_while_the_writer_is_on_pause(self, desk, writer, lease, sent):
        set_state(writer, WriterState.PAUSED)

        assert desk.get(url("change", lease.token)).status_code == 403
        assert desk.post(sent, MESSAGE | {"text": BETTER}).status_code == 403
        lease.refresh_from_db()
        assert lease.draft == BETTER

    def test_page_costs_few_queries(self, desk, lease, sent, django_assert_num_queries):
        # The writer; the lease with its context and message; the newest version; the last note.
        with django_assert_num_queries(4):
            desk.get(url("change", lease.token))


class TestAMessageThatCameBack:
    @pytest.fixture(autouse=True)
    def returned(self, sent):
        decide(MessageVerdict.RETURNED, "Please no advice yet.", state=MessageState.RETURNED)

    def test_shows_the_note_above_the_box_until_it_is_mended(self, desk, sent):
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


def test_a_message_that_is_not_used_says_so_with_its_note(desk, sent):
    decide(MessageVerdict.REJECTED, "It tells her what to feel.", state=MessageState.REJECTED)

    page = shown(desk.get(sent))

    assert "This reply is not used" in page
    assert "It tells her what to feel." in page


def test_a_dialogue_without_a_message_says_that_the_messages_are_final(desk, writer, lease):
    desk.post(url("draft", lease.token), {"text": "It took me a night to"})
    Dataset.objects.filter(pk=writer.dataset_id).update(frozen_at=timezone.now())

    page = desk.get(url("dialogue", lease.token))

    assert page.status_code == 409
    assert "It took me a night to" in shown(page)
    assert desk.get(url("next"))["Location"] == url("desk")
