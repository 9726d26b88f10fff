"""What a writer is shown: the desk, the dialogue, the help page, and the ways out."""

import datetime as dt

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from completions.choices import LeaseOutcome, MessageState, MessageVerdict, WriterState
from completions.models import Context, Dataset, Message, MessageRevision, Writer, WritingLease
from completions.writers import blinded
from completions.writers.blinded import ON_DESK
from completions.writers.credentials import invitation_link
from completions.writers.guidelines import FIVE_LINES
from completions.writers.services.leasing import release_expired_writing_leases
from completions.writers.services.leaving import pause_writer
from tests.completions.writers.desk import (
    MESSAGE,
    SENT,
    make_newcomer,
    make_pool,
    shown,
    sign_in,
    take_dialogue,
    url,
)
from tests.helpers.factories import NOW, make_completion, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_admission, make_message_decision, make_sent
from tests.helpers.pages import text
from tests.helpers.written import make_open_context, set_state

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


def write_many(writer, n):
    for _ in range(n):
        context = make_open_context(writer.dataset)
        make_sent(lease=make_writing_lease(writer=writer, context=context, **SENT))


@pytest.fixture
def writer():
    return make_pool()


class TestDesk:
    def test_says_what_waits_and_what_to_do(self, desk):
        page = shown(desk.get(url("desk")))

        assert "2 conversations need a reply" in page
        assert "Write the first one" in page
        assert all(line in page for line in FIVE_LINES)
        assert "Your replies appear here" in page

    def test_leads_back_to_a_draft_also_when_its_place_was_given_free(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": "It took me a night to"})
        held = shown(desk.get(url("desk")))
        release_expired_writing_leases(now=timezone.now() + DAY)

        page = shown(desk.get(url("desk")))

        assert "Continue your draft" in held
        assert "Not sent yet" in page
        assert "It took me a night to" in page
        assert url("dialogue", lease.token) in page

    def test_shows_what_was_sent_but_for_what_was_deleted(self, desk, lease):
        desk.post(url("dialogue", lease.token), MESSAGE)
        page = shown(desk.get(url("desk")))
        Message.objects.update(state=MessageState.ERASED)

        assert "1 reply so far" in page
        assert url("dialogue", lease.token) in page
        assert "1 conversation needs a reply" in page
        assert url("dialogue", lease.token) not in shown(desk.get(url("desk")))

    def test_explains_that_nothing_is_left(self, client):
        sign_in(client, make_writer())

        page, following = shown(client.get(url("desk"))), client.get(url("next"))

        assert "There is nothing to reply to" in page
        assert url("next") not in page
        assert following.status_code == 200
        assert "Nothing is waiting" in shown(following)

    def test_puts_what_came_back_first_with_its_note(self, desk, lease):
        desk.post(url("dialogue", lease.token), MESSAGE)
        Message.objects.update(state=MessageState.RETURNED)
        make_message_decision(
            revision=MessageRevision.objects.get(), verdict=MessageVerdict.RETURNED, note="Shorter."
        )

        page = shown(desk.get(url("desk")))

        assert page.index("Came back with a note") < page.index("Your replies")
        assert "Shorter." in page

    @pytest.mark.parametrize(
        ("state", "standing"),
        [
            (MessageState.WAITING, "waits for review"),
            (MessageState.REJECTED, "not used"),
            (MessageState.LAPSED, "not used: you left"),
        ],
    )
    def test_says_where_each_message_stands(self, desk, lease, state, standing):
        desk.post(url("dialogue", lease.token), MESSAGE)
        Message.objects.update(state=state)

        assert standing in shown(desk.get(url("desk")))

    def test_leads_to_all_messages_when_it_shows_a_few(self, desk, writer):
        write_many(writer, ON_DESK + 1)

        page = desk.get(url("desk"))

        assert shown(page).count('class="quiet standing') == ON_DESK
        assert f'href="{url("sent")}"' in shown(page)

    @pytest.mark.parametrize(
        ("n_dialogues", "said", "goes_on"),
        [
            (3, ("1 of 3 trial replies done", 'value="1" max="3"'), True),
            (1, ("A reviewer reads them now",), False),
        ],
        ids=["some are left", "it is being read"],
    )
    def test_shows_how_far_the_trial_is(self, client, n_dialogues, said, goes_on):
        sign_in(client, make_newcomer(n_dialogues))
        client.post(url("dialogue", take_dialogue(client).token), MESSAGE)

        page = shown(client.get(url("desk")))

        assert all(words in page for words in said)
        assert (f'href="{url("next")}"' in page) == goes_on

    def test_shows_the_note_of_the_admission_until_a_message_was_sent(self, desk, writer):
        make_admission(writer=writer, note="Warm, and a little long.")

        assert "Warm, and a little long." in shown(desk.get(url("desk")))
        write_many(writer, 1)
        assert "Warm, and a little long." not in shown(desk.get(url("desk")))

    def test_shows_no_trial_dialogue_again_once_the_trial_is_over(self, client, writer):
        closed = {"closed_at": timezone.now(), "outcome": LeaseOutcome.RELEASED}
        lease = make_writing_lease(writer=writer, is_trial=True, draft="I hear", **closed)
        sign_in(client, writer)

        page = client.get(url("dialogue", lease.token))

        assert page.status_code == 409
        assert "Your trial is over" in shown(page)
        assert "I hear" in shown(page)

    def test_says_that_the_messages_are_final(self, desk, writer):
        Dataset.objects.filter(pk=writer.dataset_id).update(frozen_at=timezone.now())

        page = shown(desk.get(url("desk")))

        assert "all replies are final" in page
        assert f'href="{url("next")}"' not in page

    @pytest.mark.parametrize("n_sent", [1, 4])
    def test_costs_few_queries_however_much_was_sent(
        self, desk, writer, n_sent, django_assert_max_num_queries
    ):
        write_many(writer, n_sent)

        # The writer; what was sent and what is open; the held lease; what came back; the newest
        # messages; stranded drafts.
        with django_assert_max_num_queries(8):
            desk.get(url("desk"))


class TestAllSent:
    @pytest.mark.parametrize(
        ("page", "n_messages", "other"),
        [("1", 2, "2"), ("x", 2, "2"), ("2", 1, "1"), ("0", 1, "1"), ("99", 1, "1")],
    )
    def test_has_pages_and_shows_one_of_them_instead_of_one_that_is_none(
        self, desk, writer, monkeypatch, page, n_messages, other
    ):
        monkeypatch.setattr(blinded, "ON_PAGE", 2)
        write_many(writer, 3)

        answer = shown(desk.get(url("sent"), {"page": page}))

        assert answer.count('class="quiet standing') == n_messages
        assert f"?page={other}" in answer

    def test_says_that_nothing_was_sent(self, desk):
        assert "once you have sent the first one" in shown(desk.get(url("sent")))

    @pytest.mark.parametrize("n_sent", [1, 4])
    def test_costs_few_queries_however_much_was_sent(
        self, desk, writer, n_sent, django_assert_num_queries
    ):
        write_many(writer, n_sent)

        with django_assert_num_queries(3):  # the writer; the number of messages; the messages
            desk.get(url("sent"))


def test_the_next_dialogue_is_at_its_own_address_and_the_same_until_it_is_done(desk):
    answers = [desk.get(url("next")) for _ in range(2)]

    token = WritingLease.objects.get().token
    for answer in answers:
        assert (answer.status_code, answer["Location"]) == (303, url("dialogue", token))


class TestDialogue:
    def test_shows_the_dialogue_as_raters_see_it_and_nothing_else_of_the_context(self, desk, lease):
        make_completion(context=lease.context, text="What another has written already")

        page = shown(desk.get(url("dialogue", lease.token)))

        for turn in lease.context.turns:
            assert turn["text"] in page
        assert page.count('class="turn supporter"') == 1
        assert page.count('class="turn latest"') == 1
        assert lease.context.key not in page
        assert "What another has written already" not in page

    def test_says_so_when_the_seeker_is_simulated(self, desk, lease):
        said = "Test data: this person’s messages were written by a program"
        assert said not in shown(desk.get(url("dialogue", lease.token)))

        Context.objects.filter(pk=lease.context_id).update(is_simulated=True)

        assert said in shown(desk.get(url("dialogue", lease.token)))

    def test_shows_the_counts_of_the_draft(self, desk, lease):
        desk.post(url("draft", lease.token), {"text": "You lost her. What now?"})

        page = shown(desk.get(url("dialogue", lease.token)))

        assert "data-words>5</output>" in page
        assert "data-sentences>2</output>" in page

    @pytest.mark.parametrize(("n_words", "is_long"), [(60, False), (61, True)])
    def test_says_when_a_message_gets_long_and_lets_it_be_sent(self, desk, lease, n_words, is_long):
        typed = MESSAGE | {"text": "word " * n_words}
        desk.post(url("draft", lease.token), typed)

        assert ('class="counter long"' in shown(desk.get(url("dialogue", lease.token)))) is is_long
        assert desk.post(url("dialogue", lease.token), typed).status_code == 303

    def test_costs_two_queries(self, desk, lease, django_assert_num_queries):
        with django_assert_num_queries(2):  # the writer; the lease with its context
            desk.get(url("dialogue", lease.token))


class TestHelp:
    def test_is_open_to_everyone_and_leads_a_writer_back(self, client, writer):
        page = client.get(url("help"))
        sign_in(client, writer)

        assert page.status_code == 200
        assert "findahelpline.com" in shown(page)
        assert f'href="{url("desk")}"' not in shown(page)
        assert f'href="{url("desk")}"' in shown(client.get(url("help")))

    def test_is_one_click_away_on_every_page(self, desk, lease):
        for address in (url("desk"), url("dialogue", lease.token), url("help")):
            assert f'href="{url("help")}"' in shown(desk.get(address))


WITHDRAW = reverse("writers:withdraw")


def state(writer):
    return Writer.objects.get(pk=writer.pk).state


class TestPause:
    def test_is_said_on_the_desk_with_the_ways_on_until_the_writer_goes_on(self, desk, writer):
        page = desk.post(url("pause"), follow=True)
        paused = state(writer)
        explained = desk.get(url("leave"))
        resumed = desk.post(url("resume"), follow=True)

        assert (paused, state(writer)) == (WriterState.PAUSED, WriterState.ACTIVE)
        assert "You are taking a pause" in shown(page)
        assert f'action="{url("resume")}"' in shown(page)
        assert f'href="{url("leave")}"' in shown(page)
        assert f'href="{WITHDRAW}"' in shown(page)
        assert url("pause") not in shown(explained)
        assert resumed.status_code == 200

    def test_by_an_admin_has_no_way_on(self, desk, writer, admin):
        pause_writer(writer=writer, now=NOW, by=admin)

        page = desk.get(url("desk"))

        assert "Your writing is on pause" in shown(page)
        assert url("resume") not in shown(page)
        assert desk.post(url("resume")).status_code == 403
        assert state(writer) == WriterState.PAUSED


class TestLeave:
    def test_is_explained_first(self, desk, writer):
        page = desk.get(url("leave"))

        assert "What you sent stays and counts" in text(page)
        assert url("pause") in shown(page)
        assert WITHDRAW in shown(page)
        assert state(writer) == WriterState.ACTIVE

    def test_ends_the_part_says_so_and_shuts_the_desk(self, desk, writer):
        make_writing_lease(writer=writer)

        page, after = desk.post(url("leave")), desk.get(url("desk"))

        assert (page.status_code, after.status_code) == (200, 403)
        assert "You have left" in shown(page)
        assert "You have left" in shown(after)
        assert state(writer) == WriterState.LEFT


class TestWithdraw:
    def test_says_what_each_choice_means_and_asks_again_without_one(self, desk, writer):
        asked, unchosen = desk.get(WITHDRAW), desk.post(WITHDRAW)

        assert "Keep my replies" in text(asked)
        assert "Every version of every reply is deleted" in text(asked)
        assert "This cannot be undone." in text(asked)
        assert "no-store" in asked["Cache-Control"]
        assert unchosen.status_code == 422
        assert "Please choose what happens to your replies." in shown(unchosen)
        assert state(writer) == WriterState.ACTIVE

    def test_keeps_the_texts_and_may_be_followed_by_deleting_them(self, desk, writer):
        message = make_sent(lease=make_writing_lease(writer=writer))

        kept = desk.post(WITHDRAW, {"texts": "keep"})
        state_of_kept = Message.objects.get().state
        asked_again = desk.get(WITHDRAW)
        deleted = desk.post(WITHDRAW, {"texts": "delete"})

        assert (kept.status_code, state(writer)) == (200, WriterState.WITHDRAWN)
        assert "They stay under a random code" in text(kept)
        assert "Keep my replies" not in text(asked_again)
        assert "Your replies were deleted" in text(deleted)
        message.refresh_from_db()
        assert (state_of_kept, message.state) == (MessageState.WAITING, MessageState.ERASED)

    def test_ends_link_and_cookie(self, desk, writer):
        link = invitation_link(writer)
        desk.post(WITHDRAW, {"texts": "delete"})

        for page in (desk.get(url("desk")), desk.get(WITHDRAW), Client().get(link)):
            assert page.status_code == 403
            assert "Your replies were deleted" in text(page)

    @pytest.mark.parametrize("where", [WriterState.LEFT, WriterState.REFUSED])
    def test_is_open_to_who_is_not_writing_any_more(self, desk, writer, where):
        set_state(writer, where)

        page = desk.get(WITHDRAW)

        assert page.status_code == 200
        assert f'href="{url("desk")}"' not in shown(page)
