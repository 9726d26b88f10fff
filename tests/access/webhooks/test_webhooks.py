"""Webhooks: what happens is queued once, and what is queued arrives at least once."""

import datetime as dt
import json
import re
from functools import partial
from pathlib import Path
from socketserver import StreamRequestHandler
from typing import Any

import pytest
from django.db import transaction

from access.choices import DeliveryState, HookEvent
from access.models import HookDelivery, LogEntry
from access.webhooks import outgoing
from access.webhooks import services as hook_services
from access.webhooks.services import Event, announce
from annotation.choices import StudyState
from annotation.models import Comparison
from annotation.studies.services.states import announce_full_studies
from completions.choices import PauseReason, RunState
from completions.runs.services import states
from ranking.choices import FitState
from ranking.fits.services.running import refit_study
from tests.helpers.factories import NOW, make_comparison, make_judgment, make_rater, make_study
from tests.helpers.factories_of_calls import make_generation_run
from tests.helpers.factories_of_site import SECRET, make_delivery, make_hook, receiving
from tests.helpers.factories_written_once import make_user
from tests.helpers.judged import lease_next, report, submit
from tests.helpers.threads import served, together

pytestmark = pytest.mark.django_db

LOCAL = outgoing.Rules(allows_http=True, trusted_hosts=("127.0.0.1",))
MINUTE = dt.timedelta(minutes=1)
PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"


def deliver(now=NOW, **options):
    return hook_services.deliver(clock=lambda: now, rules=LOCAL, **options)


def events():
    return list(HookDelivery.objects.order_by("pk").values_list("event", "payload__data"))


class TestAnnouncing:
    def test_reaches_each_hook_that_listens(self):
        listening = make_hook(events=["alert"])
        make_hook(events=["run.finished"])
        make_hook(events=["alert"], is_active=False)

        n = announce(Event(HookEvent.ALERT, "k", {"a": 1}), now=NOW)

        row = HookDelivery.objects.get()
        assert (n, row.hook) == (1, listening)
        assert row.payload == {
            "id": str(row.event_id),
            "event": "alert",
            "at": NOW.isoformat(),
            "data": {"a": 1},
        }

    def test_of_the_same_event_twice_is_one(self):
        first, second = make_hook(), make_hook()
        happening = Event(HookEvent.ALERT, "k")

        assert [announce(happening, now=NOW) for _ in range(2)] == [2, 0]
        ids = {hook.deliveries.get().event_id for hook in (first, second)}
        assert ids == {happening.event_id}

    def test_goes_with_the_transaction_of_what_happened(self):
        make_hook()

        with transaction.atomic():
            announce(Event(HookEvent.ALERT, "k"), now=NOW)
            transaction.set_rollback(True)

        assert not HookDelivery.objects.exists()


class TestEvents:
    def test_a_run_that_ends_or_is_cancelled_is_over(self):
        make_hook()
        for state in (RunState.ENDED, RunState.CANCELLED):
            states.change(make_generation_run(), state, now=NOW)

        found = [(event, data["kind"], data["state"]) for event, data in events()]
        assert found == [
            ("run.finished", "generationrun", "ENDED"),
            ("run.finished", "generationrun", "CANCELLED"),
        ]

    @pytest.mark.parametrize(
        ("reason", "is_told"),
        [(PauseReason.BUDGET, True), (PauseReason.REFUSED, True), (PauseReason.ADMIN, False)],
    )
    def test_a_run_that_stops_by_itself_is_an_alert_without_the_providers_words(
        self, reason, is_told
    ):
        make_hook()
        run = make_generation_run()

        states.pause_if_running(run, reason, "words of the provider", now=NOW)

        told = [(event, data["alert"], data["reason"], data["dataset"]) for event, data in events()]
        assert told == [("alert", "run.paused", reason, run.dataset.slug)] * is_told
        assert "words" not in json.dumps(events())

    def test_a_report_is_an_alert_that_names_neither_rater_nor_words(self):
        make_hook()
        study = make_study(state=StudyState.OPEN)
        make_comparison(study=study)
        lease = lease_next(make_rater(study=study))

        for _ in range(2):
            report(lease, text="It says where I live.")

        told = {"study": study.slug, "context": lease.comparison.context.key}
        assert events() == [("alert", {"alert": "report.filed"} | told)]

    def test_a_refused_fit_is_told_once_for_its_reason(self):
        make_hook()
        study = make_study()
        for _ in range(2):  # two pairs without a common system: the ratings are not determined
            make_judgment(comparison=make_comparison(study=study))

        fits = refit_study(study=study, clock=lambda: NOW + MINUTE)

        refused = [fit for fit in fits if fit.state == FitState.REFUSED]
        assert refused
        told = [(data["alert"], data["study"]) for _, data in events()]
        assert told == [("fit.refused", study.slug)] * len(refused)

    def test_a_study_is_full_when_the_last_slot_is_judged(self):
        make_hook()
        study = make_study(state=StudyState.OPEN)
        make_comparison(study=study, slots_left=2)
        first, second = (lease_next(make_rater(study=study)) for _ in range(2))
        submit(first)
        # nothing is left to hand out, and one is not judged yet
        assert announce_full_studies(now=NOW) == 0
        submit(second)

        assert [announce_full_studies(now=NOW) for _ in range(2)] == [1, 0]
        assert events() == [("study.full", {"study": study.slug, "judged_slots": 2})]

    def test_a_study_that_is_extended_is_full_again(self):
        make_hook()
        study = make_study(state=StudyState.OPEN)
        comparison = make_comparison(study=study, slots_left=1)
        submit(lease_next(make_rater(study=study)))
        announce_full_studies(now=NOW)
        Comparison.objects.filter(pk=comparison.pk).update(slots_left=1)
        assert announce_full_studies(now=NOW) == 0
        submit(lease_next(make_rater(study=study)))

        assert announce_full_studies(now=NOW) == 1

    def test_an_empty_study_is_not_full_and_nobody_is_asked_when_nobody_listens(
        self, django_assert_num_queries
    ):
        make_study(state=StudyState.OPEN)
        with django_assert_num_queries(1):
            assert announce_full_studies(now=NOW) == 0

        make_hook()
        assert announce_full_studies(now=NOW) == 0


class TestDelivering:
    def test_a_message_arrives_and_the_documented_receiver_takes_it_alone(self):
        [example] = re.findall(r"```python\n(.+?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        documented: dict[str, Any] = {}
        exec(example, documented)  # noqa: S102 (our own page)
        is_ours = documented["is_ours"]
        with receiving() as receiver:
            row = make_delivery(hook=make_hook(url=receiver.url))
            assert deliver() == 1
        [request] = receiver.requests
        row.refresh_from_db()

        assert (row.state, row.delivered_at, row.last_status) == ("DELIVERED", NOW, 204)
        assert request.headers["HEART-Event"] == row.event
        assert request.headers["HEART-Event-Id"] == str(row.event_id)
        assert json.loads(request.body) == row.payload
        at = NOW.timestamp()
        assert is_ours(request.headers, request.body, SECRET, now=at)
        assert not is_ours(request.headers, request.body, "another", now=at)
        assert not is_ours(request.headers, request.body + b" ", SECRET, now=at)
        assert not is_ours(request.headers, request.body, SECRET, now=at + 301)
        assert not is_ours({}, request.body, SECRET, now=at)

    def test_a_receiver_that_fails_twice_gets_it_the_third_time(self):
        with receiving(statuses=[500, 503]) as receiver:
            row = make_delivery(hook=make_hook(url=receiver.url))
            now, taken = NOW, []
            for _ in range(3):
                taken.append(deliver(now))
                row.refresh_from_db()
                assert deliver(now) == 0  # not before its time
                now = row.next_attempt_at or now

        assert taken == [0, 0, 1]
        assert (row.state, row.attempts, row.error) == ("DELIVERED", 3, "")
        assert len({request.headers["HEART-Event-Id"] for request in receiver.requests}) == 1

    @pytest.mark.parametrize(
        ("status", "state"),
        [(418, "PENDING"), (410, "ABANDONED")],
        ids=["a fault is tried again", "a receiver that is gone is not asked again"],
    )
    def test_a_refusal_is_kept_with_what_was_answered(self, status, state):
        with receiving(statuses=[status]) as receiver:
            row = make_delivery(hook=make_hook(url=receiver.url))
            deliver()

        row.refresh_from_db()
        assert (row.state, row.last_status, row.error) == (state, status, f"Answered {status}.")
        assert row.claimed_at is None
        assert (row.next_attempt_at is not None) == (state == "PENDING")

    def test_a_day_of_failures_is_given_up_and_can_be_sent_again(self):
        with receiving(statuses=[500]) as receiver:
            hook = make_hook(url=receiver.url)
            row = make_delivery(hook=hook, wanted_since=NOW - dt.timedelta(hours=24), attempts=12)
            deliver()
            row.refresh_from_db()
            assert row.state == DeliveryState.ABANDONED

            hook_services.resend(row, by=make_user(), now=NOW + MINUTE)
            assert deliver(NOW + MINUTE) == 1

        row.refresh_from_db()
        assert (row.state, row.attempts) == ("DELIVERED", 1)

    def test_a_kill_between_sending_and_storing_sends_it_once_more(self, monkeypatch):
        def killed(*_args, **_options):
            raise SystemExit

        with receiving() as receiver:
            row = make_delivery(hook=make_hook(url=receiver.url))
            with monkeypatch.context() as patched:
                patched.setattr(hook_services, "_store", killed)
                with pytest.raises(SystemExit):
                    deliver()
            assert deliver(NOW + MINUTE) == 0  # the claim may still be somebody's
            assert deliver(NOW + 3 * MINUTE) == 1

        row.refresh_from_db()
        assert (row.state, row.attempts, len(receiver.requests)) == ("DELIVERED", 2, 2)
        first, second = (request.headers["HEART-Event-Id"] for request in receiver.requests)
        assert first == second

    def test_a_slow_sender_does_not_overwrite_who_took_over(self, monkeypatch):
        row = make_delivery()

        def slow(_sent):
            """While this one waits, its claim ages and another takes the message."""
            HookDelivery.objects.filter(pk=row.pk).update(claimed_at=NOW + 5 * MINUTE)
            return 500

        monkeypatch.setattr(hook_services, "_outcome", slow)
        deliver(post=lambda *_args, **_options: 500)

        row.refresh_from_db()
        assert (row.error, row.claimed_at) == ("", NOW + 5 * MINUTE)

    def test_one_that_does_not_answer_leaves_room_for_the_others(self):
        slow = make_hook()
        for _ in range(30):
            make_delivery(hook=slow)
        quick = make_delivery()
        sent = []

        def post(url, *_args, **_options):
            sent.append(url)
            if url == slow.url:
                raise outgoing.PostError
            return 200

        assert deliver(post=post) == 1
        assert sent.count(slow.url) == hook_services.PER_HOOK
        quick.refresh_from_db()
        assert quick.state == DeliveryState.DELIVERED

    def test_nothing_is_sent_to_an_inner_host_whatever_was_stored(self):
        with receiving() as receiver:
            row = make_delivery(hook=make_hook(url=receiver.url))
            hook_services.deliver(clock=lambda: NOW, rules=outgoing.Rules(allows_http=True))

        row.refresh_from_db()
        assert receiver.requests == []
        assert "not a public one" in row.error

    def test_a_paused_webhook_keeps_what_is_queued(self):
        with receiving() as receiver:
            hook = make_hook(url=receiver.url)
            make_delivery(hook=hook)
            owner = make_user()
            hook_services.set_active(hook, is_active=False, by=owner, now=NOW)
            assert deliver() == 0
            hook_services.set_active(hook, is_active=True, by=owner, now=NOW)
            assert deliver() == 1


class TestActs:
    def test_a_removed_webhook_forgets_its_secret_and_what_waits(self):
        hook = make_hook()
        row = make_delivery(hook=hook)

        hook_services.remove_hook(hook, by=make_user(), now=NOW)

        hook.refresh_from_db()
        row.refresh_from_db()
        assert (hook.secret, hook.is_active, hook.removed_at) == ("", False, NOW)
        assert row.state == DeliveryState.ABANDONED
        assert SECRET not in str(list(LogEntry.objects.values()))

    @pytest.mark.parametrize(
        "act",
        [
            lambda hook, by: hook_services.remove_hook(hook, by=by, now=NOW),
            lambda hook, by: hook_services.send_test(hook, by=by, now=NOW),
            lambda hook, by: hook_services.set_active(hook, is_active=True, by=by, now=NOW),
            lambda hook, by: hook_services.resend(hook.deliveries.get(), by=by, now=NOW),
        ],
    )
    def test_nothing_is_done_with_one_that_was_removed(self, act):
        hook, by = make_hook(), make_user()
        make_delivery(hook=hook)
        hook_services.remove_hook(hook, by=by, now=NOW)

        with pytest.raises(hook_services.HookStateError):
            act(hook, by)

    def test_what_waits_is_not_queued_again(self):
        with pytest.raises(hook_services.HookStateError):
            hook_services.resend(make_delivery(), by=make_user(), now=NOW)


@pytest.mark.postgres
def test_a_receiver_that_repeats_the_address_has_no_secret_of_it_written_down():
    class Rude(StreamRequestHandler):
        def handle(self):
            self.request.sendall(self.request.recv(65536).split(b"\r\n")[0] + b"\r\n")

    with served(Rude) as port:
        row = make_delivery(hook=make_hook(url=f"http://127.0.0.1:{port}/heart?key=abc"))
        deliver()

    row.refresh_from_db()
    assert row.error.startswith("BadStatusLine: POST \N{HORIZONTAL ELLIPSIS} HTTP/1.1")


@pytest.mark.postgres
def test_a_receiver_whose_words_no_database_takes_holds_up_no_other():
    class Rude(StreamRequestHandler):
        def handle(self):
            self.request.recv(65536)
            self.request.sendall(b"\x00\x1b[31mnonsense\r\n")

    with served(Rude) as port, receiving() as receiver:
        row = make_delivery(hook=make_hook(url=f"http://127.0.0.1:{port}/"))
        make_delivery(hook=make_hook(url=receiver.url))

        assert deliver() == 1

    row.refresh_from_db()
    assert row.error == "BadStatusLine: \ufffd\ufffd[31mnonsense\ufffd\ufffd"


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
def test_senders_at_once_send_each_message_once():
    ids = sorted(str(make_delivery().event_id) for _ in range(8))
    sent = []

    def post(_url, _body, headers, **_options):
        sent.append(headers["HEART-Event-Id"])
        return 204

    send = partial(hook_services.deliver, clock=lambda: NOW, rules=outgoing.Rules(), post=post)
    assert sum(together([send] * 3)) == 8

    assert sorted(sent) == ids
    assert set(HookDelivery.objects.values_list("attempts", "delivered_at")) == {(1, NOW)}
