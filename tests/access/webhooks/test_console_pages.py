"""The console's pages on webhooks."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.urls import reverse

from access.choices import DeliveryState, HookEvent
from access.models import Hook, HookDelivery, LogEntry
from access.webhooks import services as hook_services
from tests.helpers.factories import NOW
from tests.helpers.factories_of_site import SECRET, make_delivery, make_hook
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

LIST = "/console/webhooks/"
GOOD = {"url": "https://receiver.example/heart?key=abc", "events": ["study.full", "alert"]}


class TestTheList:
    def test_counts_what_stands_where_and_leads_there(self, staff, django_assert_max_num_queries):
        hook = make_hook(url="https://receiver.example/heart?key=abc")
        make_hook(is_active=False)
        make_delivery(hook=hook)
        make_delivery(hook=hook, state="ABANDONED", next_attempt_at=None)

        with django_assert_max_num_queries(8):
            answer = staff.get(LIST)

        page = answer.content.decode()
        assert answer.status_code == 200
        assert SECRET not in page
        assert "key=abc" not in page
        for state in ("DELIVERED", "PENDING", "ABANDONED"):
            assert f"{LIST}{hook.pk}/?state={state}" in page

    def test_says_what_to_do_while_there_is_none(self, staff):
        assert "Nobody is told of anything yet" in text(staff.get(LIST))


class TestAdding:
    def test_shows_the_secret_this_once_and_logs_who_did(self, staff):
        answer = staff.post(LIST, GOOD)

        hook = Hook.objects.get()
        assert (hook.url, hook.events) == (GOOD["url"], GOOD["events"])
        assert re.fullmatch(r"hook_[\w-]{43}", hook.secret)
        assert hook.secret in answer.content.decode()
        assert answer["Cache-Control"].count("no-store") == 1
        assert hook.secret not in staff.get(LIST).content.decode()
        entry = LogEntry.objects.get(action="hook.added")
        assert hook.secret not in str(entry.after)

    def test_logs_no_secret_that_stands_in_the_address(self, staff):
        staff.post(LIST, GOOD)
        staff.post(reverse("hooks:delete", args=[Hook.objects.get().pk]))

        logged = dict(LogEntry.objects.values_list("action", "after__url"))
        told = "https://receiver.example/heart?\N{HORIZONTAL ELLIPSIS}"
        assert logged == {"hook.added": told, "hook.removed": told}

    @pytest.mark.parametrize(
        "changed", [{"url": "https://127.0.0.1/"}, {"events": []}, {"events": ["test"]}]
    )
    def test_refuses_and_says_why(self, staff, changed):
        answer = staff.post(LIST, GOOD | changed)

        assert answer.status_code == 422
        assert "Nothing was added" in text(answer)
        assert not Hook.objects.exists()

    def test_ends_at_as_many_as_there_may_be(self, staff, monkeypatch):
        monkeypatch.setattr(hook_services, "MOST_HOOKS", 1)
        staff.post(LIST, GOOD)

        assert staff.post(LIST, GOOD).status_code == 422
        assert Hook.objects.count() == 1


class TestActs:
    def test_pause_and_resume(self, staff):
        hook = make_hook()
        for name, is_active in (("pause", False), ("resume", True)):
            assert staff.post(reverse(f"hooks:{name}", args=[hook.pk])).status_code == 302
            hook.refresh_from_db()
            assert hook.is_active is is_active
        assert LogEntry.objects.filter(action__startswith="hook.").count() == 2

    def test_a_test_is_queued(self, staff):
        hook = make_hook(events=["alert"])
        staff.post(reverse("hooks:test", args=[hook.pk]))

        row = HookDelivery.objects.get()
        assert (row.event, row.hook, row.payload["data"]) == (HookEvent.TEST, hook, {})

    def test_a_deleted_one_is_gone_from_the_pages(self, staff):
        hook = make_hook()
        staff.post(reverse("hooks:delete", args=[hook.pk]))

        assert staff.get(f"{LIST}{hook.pk}/").status_code == 404
        assert staff.post(reverse("hooks:test", args=[hook.pk])).status_code == 404


class TestMessages:
    @pytest.fixture
    def hook(self):
        hook = make_hook()
        late = NOW + timedelta(hours=1)
        make_delivery(hook=hook, event="alert", queued_at=late)
        make_delivery(
            hook=hook, state="DELIVERED", next_attempt_at=None, delivered_at=NOW, last_status=204
        )
        make_delivery(hook=hook, state="ABANDONED", next_attempt_at=None, error="Answered 500.")
        make_delivery()  # of another
        return hook

    def rows(self, client, hook, **query):
        answer = client.get(reverse("hooks:csv", args=[hook.pk]), query)
        return list(csv.DictReader(io.StringIO(answer.getvalue().decode())))

    def test_are_filtered_and_sorted_alike_on_the_page_and_in_the_file(
        self, staff, hook, django_assert_max_num_queries
    ):
        assert len(self.rows(staff, hook)) == 3
        assert [row["error"] for row in self.rows(staff, hook, state="ABANDONED")] == [
            "Answered 500."
        ]
        assert [row["event"] for row in self.rows(staff, hook, event="alert")] == ["alert"]
        assert self.rows(staff, hook, sort="-queued")[0]["event"] == "alert"
        assert self.rows(staff, hook, sort="queued")[-1]["event"] == "alert"
        with django_assert_max_num_queries(8):
            page = text(staff.get(f"{LIST}{hook.pk}/?state=ABANDONED"))
        assert "1 message" in page
        assert "Answered 500." in page

    def test_an_address_that_asks_for_what_is_not_there_is_404(self, staff, hook):
        assert staff.get(f"{LIST}{hook.pk}/?state=NONE").status_code == 404

    def test_more_than_a_page_has_further_pages(self, staff):
        hook = make_hook()
        for _ in range(51):
            make_delivery(hook=hook)

        assert "Page 2 of 2" in text(staff.get(f"{LIST}{hook.pk}/?page=2"))

    def test_one_that_was_given_up_is_sent_again(self, staff, hook):
        row = hook.deliveries.get(state="ABANDONED")
        address = reverse("hooks:resend", args=[hook.pk, row.pk])

        staff.post(address)

        row.refresh_from_db()
        assert row.state == DeliveryState.PENDING
        assert "waits to be sent already" in text(staff.post(address, follow=True))

    def test_one_of_another_webhook_is_not_found_here(self, staff, hook):
        other = make_delivery(state="ABANDONED", next_attempt_at=None)

        address = reverse("hooks:resend", args=[hook.pk, other.pk])
        assert staff.post(address).status_code == 404
