"""Webhooks: where nothing is sent, when again, how it is signed; the console's pages on them."""

import datetime as dt
import re

import pytest
from django.urls import reverse

from access.choices import DeliveryState, HookEvent
from access.models import Hook, HookDelivery, LogEntry
from access.webhooks import outgoing, signing
from access.webhooks import services as hook_services
from access.webhooks.outgoing import AddressError, PostError, Rules
from tests.helpers.factories import HOUR, NOW
from tests.helpers.factories_of_site import SECRET, make_delivery, make_hook, receiving
from tests.helpers.pages import rows_of, text
from tests.helpers.processes import free_port

LOCAL = Rules(allows_http=True, trusted_hosts=("127.0.0.1", "receiver.example"))


class TestAddresses:
    @pytest.mark.parametrize(
        "number",
        [
            *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
            *("100.64.0.1", "255.255.255.255", "224.0.0.1", "240.0.0.1", "192.0.2.1"),
            "0.0.0.0",  # noqa: S104 (refused)
            *("::1", "::", "::7f00:1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1"),
            *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "2002:7f00:1::"),
            "not a number",
        ],
    )
    def test_inner_numbers_are_not_public(self, number):
        assert not outgoing.is_public(number)

    @pytest.mark.parametrize("number", ["9.9.9.9", "2620:fe::fe", "64:ff9b::9.9.9.9"])
    def test_others_are_public(self, number):
        assert outgoing.is_public(number)

    @pytest.mark.parametrize(
        "url",
        [
            *("", "https://", "http://receiver.example/", "ftp://receiver.example/"),
            "file:///etc/passwd",
            *("https://user:word@receiver.example/", "https://receiver.example/#part"),
            *("https://receiver.example/a b", "https://receiver.example/\r\nX: 1"),
            *("https://receiver.example:99999/", "https://[::1/", "https://a]b/", "https://[x]/"),
            *("https://127.0.0.1/", "https://[::1]/", "https://2130706433/", "https://127.1/"),
            "https://169.254.169.254/latest/meta-data/",
            *("https://localhost/", "https://x.localhost./"),
            *("https://bücher.example/", "https://receiver.example/ü"),
            pytest.param("https://receiver.example/" + "a" * 500, id="endless"),
        ],
    )
    @pytest.mark.parametrize("check", [outgoing.read_target, outgoing.check_own])
    def test_these_are_refused_when_typed(self, check, url):
        with pytest.raises(AddressError):
            check(url, Rules())

    def test_an_address_is_taken_apart(self):
        target = outgoing.read_target("https://receiver.example:8443/a/b?c=d", Rules())

        assert (target.host, target.port, target.path) == ("receiver.example", 8443, "/a/b?c=d")
        assert (target.is_tls, target.host_header) == (True, "receiver.example:8443")

    def test_a_number_of_version_six_is_named_in_brackets(self):
        target = outgoing.read_target("https://[2620:fe::fe]", Rules())

        assert (target.host_header, target.path) == ("[2620:fe::fe]", "/")

    def test_a_closed_network_may_allow_http_and_hosts_of_its_own(self):
        rules = Rules(allows_http=True, trusted_hosts=("CI.lab",))

        assert outgoing.read_target("http://ci.LAB/x", rules).port == 80
        assert outgoing.check_ip("ci.lab", ["10.0.0.5"], rules) == "10.0.0.5"

    @pytest.mark.parametrize("found", [["9.9.9.9", "127.0.0.1"], []], ids=["one inner", "none"])
    def test_a_name_is_refused_unless_all_its_numbers_are_public(self, found):
        with pytest.raises(AddressError):
            outgoing.check_ip("receiver.example", found, Rules())


@pytest.fixture
def quick(monkeypatch):
    """Wait for receivers no longer than a test may."""
    for name, seconds in {"CONNECT_S": 1.0, "READ_S": 0.5, "ALL_S": 1.0}.items():
        monkeypatch.setattr(outgoing, name, seconds)


class TestPosting:
    def test_the_number_that_was_checked_is_the_one_connected_to(self):
        """A name server that answers otherwise a moment later is not asked again."""
        asked = []

        def rebinding(host, port):
            asked.append(host)
            return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

        with receiving() as receiver:
            url = f"http://receiver.example:{receiver.port}/heart"
            status = outgoing.post(url, b"{}", {}, rules=LOCAL, resolver=rebinding)

        assert outgoing.is_taken(status)
        assert asked == ["receiver.example"]
        assert receiver.requests[0].headers["Host"] == f"receiver.example:{receiver.port}"

    def test_a_name_of_an_inner_host_is_never_connected_to(self):
        with receiving() as receiver, pytest.raises(AddressError):
            outgoing.post(
                f"http://elsewhere.example:{receiver.port}/",
                b"{}",
                {},
                rules=Rules(allows_http=True),
                resolver=lambda host, port: ["127.0.0.1"],
            )

        assert receiver.requests == []

    def test_a_redirection_is_not_followed(self):
        with (
            receiving() as inner,
            receiving(statuses=[307], headers={"Location": inner.url}) as receiver,
        ):
            status = outgoing.post(receiver.url, b"{}", {}, rules=LOCAL)

        assert (status, outgoing.is_taken(status)) == (307, False)
        assert inner.requests == []

    @pytest.mark.parametrize("slowly", [{"wait_s": 2.0}, {"drips": True}], ids=str)
    @pytest.mark.usefixtures("quick")
    def test_a_receiver_that_does_not_answer_in_time_is_cut_off(self, slowly):
        with receiving(**slowly) as receiver, pytest.raises(PostError):
            outgoing.post(receiver.url, b"{}", {}, rules=LOCAL)

    @pytest.mark.usefixtures("quick")
    def test_a_host_that_nobody_answers_at_is_an_error(self):
        with pytest.raises(PostError):
            outgoing.post(f"http://127.0.0.1:{free_port()}/", b"{}", {}, rules=LOCAL)

    @pytest.mark.usefixtures("quick")
    def test_a_host_without_tls_is_an_error_where_tls_is_asked_for(self):
        with receiving() as receiver:
            url = f"https://127.0.0.1:{receiver.port}/"
            with pytest.raises(PostError):
                outgoing.post(url, b"{}", {}, rules=LOCAL)

        assert receiver.requests == []


class TestPace:
    def test_waits_double_up_to_six_hours_and_end_within_a_day(self):
        now, waits = NOW, []
        for attempts in range(1, 100):
            at = outgoing.next_attempt(attempts=attempts, since=NOW, now=now, key="e")
            if at is None:
                break
            waits.append((at - now).total_seconds())
            now = at

        assert now - NOW <= outgoing.GIVE_UP_AFTER
        assert 10 <= len(waits) <= 14
        for number, wait in enumerate(waits):
            base = min(30 * 2**number, 6 * 3600)
            assert base <= wait <= base * 1.2

    def test_what_failed_together_comes_back_apart_and_each_as_before(self):
        first, again = (
            [outgoing.next_attempt(attempts=5, since=NOW, now=NOW, key=str(n)) for n in range(20)]
            for _time in range(2)
        )

        assert len(set(first)) == 20
        assert first == again

    def test_many_attempts_overflow_nothing(self):
        late = NOW + dt.timedelta(days=2)

        assert outgoing.next_attempt(attempts=30_000, since=NOW, now=late, key="e") is None

    def test_there_is_none_before_the_first(self):
        with pytest.raises(ValueError, match="first"):
            outgoing.next_attempt(attempts=0, since=NOW, now=NOW, key="e")


def test_signing_needs_a_secret_made_of_enough_chance():
    assert signing.secret_of(bytes(32)) != signing.secret_of(bytes(31) + b"1")
    with pytest.raises(ValueError, match="random"):
        signing.secret_of(b"few")
    with pytest.raises(ValueError, match="empty"):
        signing.sign(b"", timestamp=0, secret="")


LIST = "/console/webhooks/"
GOOD = {"url": "https://receiver.example/heart?key=abc", "events": ["study.full", "alert"]}


@pytest.mark.django_db
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


@pytest.mark.django_db
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

    @pytest.mark.parametrize(
        ("path", "told"),
        [
            ("", ""),
            ("/", "/"),
            ("/heart/", "/heart/"),
            ("/heart?key=abc", "/heart?..."),
            ("?key=abc", "?..."),
            ("/services/T0/B0/abc", "/services/..."),
            ("/api/webhooks/12/abc?wait=1", "/api/webhooks/..."),
            ("/0b7f2c4e-abc", "/..."),
            ("/" + "abc" * 7, "/..."),
        ],
    )
    def test_shows_and_keeps_no_longer_than_needed_what_may_be_a_secret_of_the_address(
        self, staff, path, told
    ):
        told = "https://receiver.example" + told.replace("...", "\N{HORIZONTAL ELLIPSIS}")
        staff.post(LIST, GOOD | {"url": f"https://receiver.example{path}"})
        hook = Hook.objects.get()
        pages = ["/admin/access/hook/", f"/admin/access/hook/{hook.pk}/change/", LIST]
        shown = [staff.get(page).content.decode() for page in (*pages, f"{LIST}{hook.pk}/")]
        staff.post(reverse("hooks:delete", args=[hook.pk]))

        assert [page for page in shown if "abc" in page] == []
        assert told in shown[-1]
        logged = dict(LogEntry.objects.values_list("action", "after__url"))
        assert logged == {"hook.added": told, "hook.removed": told}
        hook.refresh_from_db()
        assert hook.url == told

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


@pytest.mark.django_db
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


@pytest.mark.django_db
class TestMessages:
    @pytest.fixture
    def hook(self):
        hook = make_hook()
        make_delivery(hook=hook, event="alert", queued_at=NOW + HOUR)
        make_delivery(
            hook=hook, state="DELIVERED", next_attempt_at=None, delivered_at=NOW, last_status=204
        )
        make_delivery(hook=hook, state="ABANDONED", next_attempt_at=None, error="Answered 500.")
        make_delivery()  # of another
        return hook

    def test_are_filtered_and_sorted_alike_on_the_page_and_in_the_file(
        self, staff, hook, django_assert_max_num_queries
    ):
        def column(name, **query):
            rows = rows_of(staff.get(reverse("hooks:csv", args=[hook.pk]), query))
            return [row[name] for row in rows]

        assert len(column("event")) == 3
        assert column("error", state="ABANDONED") == ["Answered 500."]
        assert column("event", event="alert") == ["alert"]
        assert column("event", sort="-queued")[0] == column("event", sort="queued")[-1] == "alert"
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
