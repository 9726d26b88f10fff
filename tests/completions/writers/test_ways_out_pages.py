"""A writer's ways out, by pages: each says what it means before it is done."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from completions.choices import MessageState, WriterState
from completions.models import Message, Writer
from completions.writers import services
from completions.writers.credentials import invitation_link
from tests.completions.writers.desk import shown, sign_in, url
from tests.helpers.factories import NOW, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_sent

pytestmark = pytest.mark.django_db

WITHDRAW = reverse("writers:withdraw")


@pytest.fixture
def writer():
    return make_writer(email="ada@example.org")


@pytest.fixture
def browser(writer):
    browser = Client()
    sign_in(browser, writer)
    return browser


def state(writer):
    return Writer.objects.get(pk=writer.pk).state


def words(page):
    return " ".join(re.sub(r"<[^>]+>", " ", shown(page)).split())


class TestPause:
    def test_is_said_on_the_desk_with_the_way_on(self, browser, writer):
        page = browser.post(url("pause"), follow=True)

        assert state(writer) == WriterState.PAUSED
        assert "You are taking a pause" in shown(page)
        assert f'action="{url("resume")}"' in shown(page)
        assert f'href="{url("leave")}"' in shown(page)
        assert f'href="{WITHDRAW}"' in shown(page)

    def test_ends_when_the_writer_goes_on(self, browser, writer):
        browser.post(url("pause"))

        page = browser.post(url("resume"), follow=True)

        assert state(writer) == WriterState.ACTIVE
        assert page.status_code == 200

    def test_by_an_admin_has_no_way_on(self, browser, writer):
        boss = User.objects.create_user("boss")
        services.pause_writer(writer=writer, now=NOW, by=boss)

        page = browser.get(url("desk"))

        assert "Your writing is on pause" in shown(page)
        assert url("resume") not in shown(page)
        assert browser.post(url("resume")).status_code == 403
        assert state(writer) == WriterState.PAUSED

    def test_needs_a_post(self, browser):
        assert browser.get(url("pause")).status_code == 405
        assert browser.get(url("resume")).status_code == 405


class TestLeave:
    def test_is_explained_first(self, browser, writer):
        page = browser.get(url("leave"))

        assert "What you sent stays and counts" in words(page)
        assert url("pause") in shown(page)
        assert WITHDRAW in shown(page)
        assert state(writer) == WriterState.ACTIVE

    def test_ends_the_part_and_says_so(self, browser, writer):
        make_writing_lease(writer=writer)

        page = browser.post(url("leave"))

        assert page.status_code == 200
        assert "You have left" in shown(page)
        assert state(writer) == WriterState.LEFT

    def test_shuts_the_desk(self, browser):
        browser.post(url("leave"))

        page = browser.get(url("desk"))

        assert page.status_code == 403
        assert "You have left" in shown(page)

    def test_offers_no_pause_to_who_is_on_one(self, browser):
        browser.post(url("pause"))

        assert url("pause") not in shown(browser.get(url("leave")))


class TestWithdraw:
    def test_says_what_each_choice_means(self, browser, writer):
        page = words(browser.get(WITHDRAW))

        assert "Keep my replies" in page
        assert "Every version of every reply is deleted" in page
        assert "This cannot be undone." in page
        assert state(writer) == WriterState.ACTIVE

    def test_without_a_choice_is_asked_again(self, browser, writer):
        page = browser.post(WITHDRAW)

        assert page.status_code == 422
        assert "Please choose what happens to your replies." in shown(page)
        assert state(writer) == WriterState.ACTIVE

    def test_keeps_the_texts_and_says_so(self, browser, writer):
        message = make_sent(lease=make_writing_lease(writer=writer))

        page = browser.post(WITHDRAW, {"texts": "keep"})

        assert (page.status_code, state(writer)) == (200, WriterState.WITHDRAWN)
        assert "They stay under a random code" in words(page)
        assert Message.objects.get(pk=message.pk).state == MessageState.WAITING

    def test_deletes_the_texts_and_says_so(self, browser, writer):
        message = make_sent(lease=make_writing_lease(writer=writer))

        page = browser.post(WITHDRAW, {"texts": "delete"})

        assert "Your replies were deleted" in words(page)
        assert Message.objects.get(pk=message.pk).state == MessageState.ERASED

    def test_may_be_followed_by_deleting(self, browser, writer):
        browser.post(WITHDRAW, {"texts": "keep"})

        page = browser.get(WITHDRAW)
        assert "Keep my replies" not in words(page)
        browser.post(WITHDRAW, {"texts": "delete"})

        assert not Writer.objects.get(pk=writer.pk).texts_kept

    def test_ends_link_and_cookie(self, browser, writer):
        link = invitation_link(writer)
        browser.post(WITHDRAW, {"texts": "delete"})

        for page in (browser.get(url("desk")), browser.get(WITHDRAW), Client().get(link)):
            assert page.status_code == 403
            assert "Your replies were deleted" in words(page)

    @pytest.mark.parametrize("where", [WriterState.LEFT, WriterState.REFUSED])
    def test_is_open_to_who_is_not_writing_any_more(self, browser, writer, where):
        Writer.objects.filter(pk=writer.pk).update(state=where)

        page = browser.get(WITHDRAW)

        assert page.status_code == 200
        assert f'href="{url("desk")}"' not in shown(page)

    def test_asks_a_stranger_for_the_link(self):
        page = Client().post(WITHDRAW, {"texts": "delete"})

        assert page.status_code == 403
        assert "Please open your personal link" in shown(page)

    def test_is_never_cached(self, browser):
        assert "no-store" in browser.get(WITHDRAW)["Cache-Control"]
