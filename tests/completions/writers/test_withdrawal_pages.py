"""The console's page by which an admin withdraws somebody at their own wish."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from access.models import LogEntry
from completions.choices import MessageState, WriterState
from completions.models import Message, Writer
from tests.helpers.factories import make_writer
from tests.helpers.factories_of_people import make_sent
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import assert_turned_away

pytestmark = pytest.mark.django_db


@pytest.fixture
def message():
    return make_sent()


@pytest.fixture
def address(message):
    writer = message.lease.writer
    return reverse("console:withdraw_writer", args=[writer.dataset.slug, writer.code])


@pytest.fixture
def staff(client):
    client.force_login(make_member("ada"))
    return client


class TestWithdrawingSomebody:
    def test_says_what_each_choice_means(self, staff, address):
        page = staff.get(address).content.decode()

        assert "Only at this person's own wish." in page.replace("&#x27;", "'")
        assert 'value="keep"' in page
        assert 'value="delete"' in page

    def test_deletes_what_is_asked_for_and_logs_who_did_it(self, staff, address):
        page = staff.post(address, {"texts": "delete"}, follow=True)

        assert "has withdrawn" in page.content.decode()
        assert Message.objects.get().state == MessageState.ERASED
        assert LogEntry.objects.get(action="writer.withdrew").by == User.objects.get()

    def test_may_keep_first_and_delete_later(self, staff, address, message):
        staff.post(address, {"texts": "keep"})
        assert Message.objects.get().state == MessageState.WAITING

        assert 'value="keep"' not in staff.get(address).content.decode()
        staff.post(address, {"texts": "delete"})

        assert Message.objects.get().state == MessageState.ERASED

    def test_needs_a_choice(self, staff, address):
        page = staff.post(address)

        assert page.status_code == 422
        assert "Nothing changed" in page.content.decode()
        assert not Writer.objects.filter(state=WriterState.WITHDRAWN).exists()

    def test_has_nothing_left_to_ask_afterwards(self, staff, address, message):
        staff.post(address, {"texts": "delete"})

        page = staff.get(address)

        assert page.status_code == 302
        writer = message.lease.writer
        assert address not in staff.get(page.url).content.decode()
        assert page.url == reverse("writing:writer", args=[writer.dataset.slug, writer.code])

    def test_is_for_members_and_the_writers_of_the_dataset(self, client, staff, address, message):
        stranger = make_writer()
        other = reverse(
            "console:withdraw_writer", args=[message.lease.writer.dataset.slug, stranger.code]
        )

        assert staff.get(other).status_code == 404
        client.logout()
        assert_turned_away(client.post(address, {"texts": "delete"}))
        assert Message.objects.get().state == MessageState.WAITING
