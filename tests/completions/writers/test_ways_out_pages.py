"""A writer's ways out, by pages: each says what it means before it is done."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from completions.choices import MessageState, WriterState
from completions.models import Writer
from completions.writers.credentials import invitation_link
from completions.writers.services.leaving import pause_writer
from tests.completions.writers.desk import shown, url
from tests.helpers.factories import NOW, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_sent

pytestmark = pytest.mark.django_db

WITHDRAW = reverse("writers:withdraw")


@pytest.fixture
def writer():
    return make_writer(email="ada@example.org")


def state(writer):
    return Writer.objects.get(pk=writer.pk).state


def words(page):
    return " ".join(re.sub(r"<[^>]+>", " ", shown(page)).split())


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

        assert "What you sent stays and counts" in words(page)
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

        assert "Keep my replies" in words(asked)
        assert "Every version of every reply is deleted" in words(asked)
        assert "This cannot be undone." in words(asked)
        assert "no-store" in asked["Cache-Control"]
        assert unchosen.status_code == 422
        assert "Please choose what happens to your replies." in shown(unchosen)
        assert state(writer) == WriterState.ACTIVE

    def test_keeps_the_texts_and_may_be_followed_by_deleting_them(self, desk, writer):
        message = make_sent(lease=make_writing_lease(writer=writer))

        kept = desk.post(WITHDRAW, {"texts": "keep"})
        message.refresh_from_db()
        state_of_kept = message.state
        asked_again = desk.get(WITHDRAW)
        deleted = desk.post(WITHDRAW, {"texts": "delete"})

        assert (kept.status_code, state(writer)) == (200, WriterState.WITHDRAWN)
        assert "They stay under a random code" in words(kept)
        assert "Keep my replies" not in words(asked_again)
        assert "Your replies were deleted" in words(deleted)
        message.refresh_from_db()
        assert (state_of_kept, message.state) == (MessageState.WAITING, MessageState.ERASED)
        assert not Writer.objects.get(pk=writer.pk).texts_kept

    def test_ends_link_and_cookie(self, desk, writer):
        link = invitation_link(writer)
        desk.post(WITHDRAW, {"texts": "delete"})

        for page in (desk.get(url("desk")), desk.get(WITHDRAW), Client().get(link)):
            assert page.status_code == 403
            assert "Your replies were deleted" in words(page)

    @pytest.mark.parametrize("where", [WriterState.LEFT, WriterState.REFUSED])
    def test_is_open_to_who_is_not_writing_any_more(self, desk, writer, where):
        Writer.objects.filter(pk=writer.pk).update(state=where)

        page = desk.get(WITHDRAW)

        assert page.status_code == 200
        assert f'href="{url("desk")}"' not in shown(page)

    def test_asks_a_stranger_for_the_link(self, client):
        page = client.post(WITHDRAW, {"texts": "delete"})

        assert page.status_code == 403
        assert "Please open your personal link" in shown(page)
