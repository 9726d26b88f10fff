"""Workers are told of work when it is committed: once, in time, and at nobody's cost."""

import datetime as dt
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from celery import Celery
from django.db import connection, transaction
from django.test import TestCase
from django.utils import timezone

from access import background, nudges
from access.choices import DeliveryState, HookEvent
from access.nudges import AWAY_S, KEPT_S, SOON_S, Sender, Work, nudge
from access.tasks import deliver_hooks
from access.webhooks.services import events, hooks
from annotation.choices import ReportKind, StudyState
from annotation.quality import services as quality_services
from annotation.quality.services.reporting import ReportWords
from annotation.raters import services as rater_services
from annotation.studies import services as study_services
from annotation.tasks import send_report_alerts
from completions.choices import CallState, MailKind, PauseReason, RunState
from completions.generation import services as generation_services
from completions.jobs import services as jobs
from completions.models import GenerationCall
from completions.runs import pulling
from completions.runs import services as run_services
from completions.runs.services import running
from completions.tasks import generate_completions, send_writer_mails
from completions.writers import services as writer_services
from heart_site.middleware.outages import is_outage
from ranking.fits import services as ranking
from tests.helpers.factories import (
    NOW,
    make_dataset,
    make_generation_call,
    make_rater,
    make_study,
    make_writer,
)
from tests.helpers.factories_of_calls import (
    make_generation_run,
    make_judge_run,
    make_labelling_run,
    make_rationale_run,
)
from tests.helpers.factories_of_site import make_delivery, make_hook
from tests.helpers.factories_written_once import make_user
from tests.helpers.judged import lease_next, make_comparisons, make_judged_study, submit
from tests.helpers.observed import nudged


class Clock:
    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sent(monkeypatch) -> list[float]:
    """In how many seconds each nudge begins that was sent."""
    sent: list[float] = []
    monkeypatch.setattr(nudges, "publish", lambda _work, within_s: sent.append(within_s))
    return sent


class TakenBackError(Exception):
    """The transaction is rolled back."""


@contextmanager
def taken_back() -> Iterator[None]:
    """Do the block in a transaction, and roll it back."""
    with suppress(TakenBackError), transaction.atomic():
        yield
        raise TakenBackError


@pytest.mark.django_db
class TestNudge:
    def test_is_sent_once_and_on_commit(self):
        with nudged() as told:
            for _ in range(3):
                nudge(Work.REFIT)
            assert told == []

        assert told == [Work.REFIT]

    def test_is_not_sent_for_what_was_taken_back(self):
        with nudged() as told, taken_back():
            nudge(Work.REFIT)

        assert told == []

    def test_is_sent_for_what_stands_beside_what_was_taken_back(self):
        with nudged() as told:
            with taken_back():
                nudge(Work.REFIT)
                with transaction.atomic():
                    nudge(Work.REFIT)
            with transaction.atomic():
                nudge(Work.REFIT)

        assert told == [Work.REFIT]


@pytest.mark.django_db(transaction=True)
class TestCommit:
    def test_stands_whatever_becomes_of_the_broker(self, monkeypatch, caplog):
        tried: list[Work] = []

        def fail(work: Work, _within_s: float) -> None:
            tried.append(work)
            raise RuntimeError

        monkeypatch.setattr(nudges, "publish", fail)
        with transaction.atomic():
            study = make_study()
            nudge(Work.REFIT)
            assert tried == []

        study.refresh_from_db()
        assert tried == [Work.REFIT]
        assert [record.levelname for record in caplog.records] == ["WARNING"]


class TestSender:
    def test_sends_one_nudge_for_all_that_happens_until_it_begins(self, sent, clock):
        sender = Sender(clock)
        for _ in range(50):
            sender.send(Work.REFIT, 5.0)
            clock.at += 0.09

        assert sent == [5.0]

    def test_sends_another_for_what_happens_when_the_last_has_begun(self, sent, clock):
        sender = Sender(clock)
        sender.send(Work.REFIT, 5.0)
        clock.at += 5.0  # a worker may have looked just before

        sender.send(Work.REFIT, 5.0)

        assert sent == [5.0, 5.0]

    def test_sends_an_earlier_one_beside_a_later(self, sent, clock):
        sender = Sender(clock)
        sender.send(Work.REFIT, 60.0)
        sender.send(Work.REFIT, 5.0)
        sender.send(Work.REFIT, 60.0)

        assert sent == [60.0, 5.0]

    def test_remembers_the_later_one_when_the_earlier_has_begun(self, sent, clock):
        sender = Sender(clock)
        sender.send(Work.REFIT, 60.0)
        sender.send(Work.REFIT, 5.0)
        clock.at += 10.0
        sender.send(Work.REFIT, 50.0)

        assert sent == [60.0, 5.0]

    def test_sends_each_that_is_to_begin_now(self, sent, clock):
        sender = Sender(clock)
        sender.send(Work.GENERATE)
        sender.send(Work.GENERATE)

        assert sent == [0.0, 0.0]

    def test_keeps_apart_what_is_to_be_done(self, sent, clock):
        sender = Sender(clock)
        sender.send(Work.REFIT, 5.0)
        sender.send(Work.DELIVER_HOOKS, 5.0)

        assert sent == [5.0, 5.0]

    def test_leaves_a_broker_alone_that_was_away(self, clock, monkeypatch):
        tried: list[float] = []

        def fail(_work: Work, _within_s: float) -> None:
            tried.append(clock.at)
            raise OSError

        monkeypatch.setattr(nudges, "publish", fail)
        sender = Sender(clock)
        for _ in range(5):
            sender.send(Work.GENERATE)
            clock.at += AWAY_S / 4

        assert tried == [1000.0, 1000.0 + AWAY_S]


class TestMessage:
    def test_expires_a_while_after_it_was_to_begin(self):
        app = Celery(broker="memory://", set_as_current=False)
        with app.connection_for_read() as broker:
            broker.SimpleQueue(app.conf.task_default_queue).close()
            nudges.publish(Work.REFIT, 5.0, app=app)

            with broker.SimpleQueue(app.conf.task_default_queue) as queue:
                headers = queue.get(timeout=1).headers

        eta, expires = (dt.datetime.fromisoformat(headers[name]) for name in ("eta", "expires"))
        assert headers["task"] == "ranking.tasks.refit_changed_studies"
        assert abs((expires - eta).total_seconds() - KEPT_S) < 1

    def test_is_given_up_when_no_broker_is_there(self):
        app = Celery(broker="redis://127.0.0.1:1/0", set_as_current=False)

        with pytest.raises(Exception, match="refused") as caught:
            nudges.publish(Work.REFIT, app=app)
        assert is_outage(caught.value)

    def test_is_given_up_when_the_broker_says_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            broker = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
            app = Celery(broker=broker, set_as_current=False)

            with pytest.raises(Exception, match="Timeout") as caught:
                background.send("ranking.tasks.measure_raters", sender=app)
        assert is_outage(caught.value)


def _judged():
    study = make_study()
    make_comparisons(study, 1)
    lease = lease_next(make_rater(study=study), NOW)
    return lambda: submit(lease)


def _reported():
    study = make_study()
    make_comparisons(study, 1)
    rater = make_rater(study=study)
    lease = lease_next(rater, NOW)
    words = ReportWords(ReportKind.CONTENT, "It names my street.")
    return lambda: quality_services.report_context(
        token=lease.token, rater=rater, words=words, now=NOW
    )


def _excluded():
    rater, by = make_rater(), make_user()
    return lambda: quality_services.exclude_rater(rater=rater, reason="haste", by=by, now=NOW)


def _reinstated():
    rater, by = make_rater(), make_user()
    quality_services.exclude_rater(rater=rater, reason="haste", by=by, now=NOW)
    return lambda: quality_services.reinstate_rater(rater=rater, reason="a mistake", by=by, now=NOW)


def _rater_withdrawn():
    rater = make_rater()
    return lambda: rater_services.withdraw_rater(rater=rater, now=NOW)


def _writer_withdrawn():
    writer = make_writer()
    return lambda: rater_services.withdraw_writer(writer=writer, keep_texts=False, now=NOW)


def _opened():
    study = make_study(state=StudyState.PAUSED)
    return lambda: study_services.open_study(study=study, now=NOW)


def _announced():
    make_hook(events=["alert"])
    return lambda: events.announce(events.Event(HookEvent.ALERT, "k"), now=NOW)


def _job_started():
    dataset, by = make_dataset(), make_user()
    asked = {"n": 3, "seed": 7}
    return lambda: jobs.start_job(dataset=dataset, kind="BUILD", options=asked, by=by, now=NOW)


def _hook_tried():
    hook, by = make_hook(), make_user()
    return lambda: hooks.send_test(hook, by=by, now=NOW)


def _hook_resumed():
    hook, by = make_hook(is_active=False), make_user()
    return lambda: hooks.set_active(hook, is_active=True, by=by, now=NOW)


def _sent_again():
    delivery = make_delivery(state=DeliveryState.ABANDONED, next_attempt_at=None)
    by = make_user()
    return lambda: hooks.resend(delivery, by=by, now=NOW)


def _mail_queued():
    writer = make_writer(email="w@example.org")
    return lambda: writer_services.queue_mail(writer=writer, kind=MailKind.ADMITTED, now=NOW)


def _begun(make_run):
    def prepared():
        run = make_run()
        return lambda: running.begin(run, 1, now=NOW, by=None)

    return prepared


def _resumed():
    run = make_generation_run(state=RunState.PAUSED, pause_reason=PauseReason.ADMIN)
    return lambda: run_services.resume_run(run, now=NOW)


def _tried_again():
    run = make_generation_run()
    make_generation_call(run=run, state=CallState.FAILED, ended_at=NOW, error_kind="x")
    return lambda: run_services.retry_failed(run, now=NOW)


def _labels_ended():
    make_labelling_run()
    return lambda: run_services.finish_all_runs(now=NOW)


def _fitted():
    fits = ranking.claim_changed_fits(study=make_judged_study(), now=NOW + dt.timedelta(hours=1))
    return lambda: ranking.run_fit(fit_id=fits[0], clock=lambda: NOW + dt.timedelta(hours=1))


ACTS = {
    "a judgment": (_judged, Work.REFIT),
    "an exclusion": (_excluded, Work.REFIT),
    "an exclusion taken back": (_reinstated, Work.REFIT),
    "a rater who takes answers along": (_rater_withdrawn, Work.REFIT),
    "a writer who takes texts along": (_writer_withdrawn, Work.REFIT),
    "labels that are all there": (_labels_ended, Work.REFIT),
    "a fit": (_fitted, Work.ANALYSE),
    "a report": (_reported, Work.SEND_REPORT_ALERTS),
    "a study that opens": (_opened, Work.ASK_JUDGES),
    "an event": (_announced, Work.DELIVER_HOOKS),
    "a webhook that is tried": (_hook_tried, Work.DELIVER_HOOKS),
    "a webhook that goes on": (_hook_resumed, Work.DELIVER_HOOKS),
    "a message sent again": (_sent_again, Work.DELIVER_HOOKS),
    "a mail": (_mail_queued, Work.SEND_WRITER_MAILS),
    "a job": (_job_started, Work.DO_JOBS),
    "a run of systems": (_begun(make_generation_run), Work.GENERATE),
    "a run of strategies": (_begun(make_labelling_run), Work.NAME_STRATEGIES),
    "a run of judges": (_begun(make_judge_run), Work.ASK_JUDGES),
    "a run about rationales": (_begun(make_rationale_run), Work.FIND_THEMES),
    "a run that goes on": (_resumed, Work.GENERATE),
    "a run tried again": (_tried_again, Work.GENERATE),
}


@pytest.mark.django_db
class TestActs:
    @pytest.mark.parametrize("act", ACTS)
    def test_tell_a_worker(self, act):
        prepare, work = ACTS[act]
        do = prepare()

        with nudged() as told:
            do()

        assert told.count(work) == 1

    def test_every_work_is_told_of_by_some_act(self):
        assert {work for _prepare, work in ACTS.values()} == set(Work)


@pytest.mark.django_db
class TestComingBack:
    """Work that falls due by itself: who leaves it behind comes back for it."""

    def test_a_pull_comes_back_when_a_call_is_due(self, sent, site_clock):
        make_generation_call(retry_at=site_clock() + dt.timedelta(seconds=40))

        with TestCase.captureOnCommitCallbacks(execute=True):
            assert generate_completions() == 0

        assert sent == [40]

    def test_a_pull_leaves_to_the_sweep_what_is_due_after_it(self, sent):
        make_generation_call(retry_at=timezone.now() + dt.timedelta(seconds=KEPT_S * 2))

        with TestCase.captureOnCommitCallbacks(execute=True):
            generate_completions()

        assert sent == []

    def test_a_pull_that_could_do_nothing_waits_before_the_next(self, sent, monkeypatch):
        make_generation_call()
        monkeypatch.setattr(generation_services, "generate_completions", lambda **_how: 0)

        with TestCase.captureOnCommitCallbacks(execute=True):
            generate_completions()

        assert sent == [SOON_S]

    def test_a_pull_whose_time_is_over_is_followed_by_another(self, sent, monkeypatch):
        make_generation_call()
        monkeypatch.setattr(generation_services, "generate_completions", lambda **_how: 9)

        with TestCase.captureOnCommitCallbacks(execute=True):
            generate_completions()

        assert sent == [0.0]

    def test_a_pull_with_more_than_it_can_hold_calls_others(self, sent, monkeypatch, settings):
        settings.HEART_LLM_CONCURRENCY = 2
        monkeypatch.setattr(
            generation_services,
            "generate_completions",
            lambda **_how: GenerationCall.objects.all().delete()[0],
        )
        for n, calls in ((2, []), (3, [0.0])):
            for _ in range(n):
                make_generation_call()
            connection.run_on_commit.clear()
            with TestCase.captureOnCommitCallbacks(execute=True):
                generate_completions()
            assert sent == calls

    def test_a_process_that_stops_asks_for_nothing_more(self, sent, monkeypatch):
        make_generation_call()
        monkeypatch.setattr(pulling.STOPPING, "is_set", lambda: True)

        with TestCase.captureOnCommitCallbacks(execute=True):
            generate_completions()

        assert sent == []

    def test_hooks_are_tried_again_when_they_are_due(self, sent, site_clock):
        make_delivery(next_attempt_at=site_clock() + dt.timedelta(seconds=30))

        with TestCase.captureOnCommitCallbacks(execute=True):
            assert deliver_hooks() == 0

        assert sent == [30]

    @pytest.mark.parametrize("n", [0, 3])
    def test_mails_to_writers_are_followed_by_another_batch(self, n, sent, monkeypatch):
        monkeypatch.setattr(writer_services, "send_writer_mails", lambda *, now: n)

        with TestCase.captureOnCommitCallbacks(execute=True):
            assert send_writer_mails() == n

        assert sent == [0.0] * bool(n)

    @pytest.mark.parametrize("n", [0, 3])
    def test_alerts_are_followed_by_others_a_minute_later(self, n, sent, monkeypatch):
        monkeypatch.setattr(quality_services, "send_report_alerts", lambda *, now: n)

        with TestCase.captureOnCommitCallbacks(execute=True):
            assert send_report_alerts() == n

        assert sent == [60.0] * bool(n)
