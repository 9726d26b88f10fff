"""Workers are told of work when it is committed: once, in time, and at nobody's cost."""

import datetime as dt
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

import pytest
from celery import Celery
from django.db import connection, transaction
from django.test import TestCase

from access import background, nudges
from access.choices import DeliveryState, HookEvent
from access.nudges import AWAY_S, KEPT_S, SOON_S, Sender, Work, nudge
from access.tasks import deliver_hooks
from access.webhooks import services as hook_services
from annotation import audits
from annotation.choices import StudyState
from annotation.quality.services import excluding, reporting
from annotation.raters.services import withdrawing
from annotation.studies.services import states
from annotation.tasks import send_report_alerts
from completions.choices import CallState, JobState, MailKind, PauseReason, RunState
from completions.generation import services as generation_services
from completions.jobs import services as jobs
from completions.models import GenerationCall
from completions.runs import pulling
from completions.runs.services import calling, running
from completions.tasks import generate_completions, send_writer_mails
from completions.writers.services import emailing
from heart_site.middleware import is_outage
from ranking.fits import services as ranking
from ranking.releases import services as release_services
from ranking.report import services as report_services
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
from tests.helpers.factories_of_people import make_alert, make_audit, make_mail
from tests.helpers.factories_of_site import make_delivery, make_hook, make_job
from tests.helpers.factories_written_once import make_analysis, make_fit, make_release, make_user
from tests.helpers.judged import make_judged_study, make_open_lease, report, submit
from tests.helpers.observed import nudged


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

    @pytest.mark.parametrize("is_kept", [False, True])
    def test_is_sent_for_what_stands_and_not_for_what_was_taken_back(self, is_kept):
        with nudged() as told:
            with taken_back():
                nudge(Work.REFIT)
                with transaction.atomic():
                    nudge(Work.REFIT)
            if is_kept:
                with transaction.atomic():
                    nudge(Work.REFIT)

        assert told == [Work.REFIT] * is_kept


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
    @pytest.mark.parametrize(
        ("asked", "wanted"),
        [
            pytest.param(
                [(0.09 * n, 5.0) for n in range(50)], [5.0], id="one for all until it begins"
            ),
            pytest.param(  # a worker may have looked just before
                [(0.0, 5.0), (5.0, 5.0)], [5.0, 5.0], id="another once the last has begun"
            ),
            pytest.param(
                [(0.0, 60.0), (0.0, 5.0), (0.0, 60.0)], [60.0, 5.0], id="an earlier beside a later"
            ),
            pytest.param(
                [(0.0, 60.0), (0.0, 5.0), (10.0, 50.0)], [60.0, 5.0], id="the later is remembered"
            ),
            pytest.param([(0.0, 0.0), (0.0, 0.0)], [0.0, 0.0], id="each that is to begin now"),
        ],
    )
    def test_sends_as_few_nudges_as_are_needed(self, sent, asked, wanted):
        """Each is asked for at a time, in seconds, and is to begin within so many more."""
        times = iter([at for at, _within_s in asked])
        sender = Sender(lambda: 1000.0 + next(times))

        for _at, within_s in asked:
            sender.send(Work.REFIT, within_s)

        assert sent == wanted

    def test_keeps_apart_what_is_to_be_done(self, sent):
        sender = Sender(lambda: 1000.0)
        sender.send(Work.REFIT, 5.0)
        sender.send(Work.DELIVER_HOOKS, 5.0)

        assert sent == [5.0, 5.0]

    def test_leaves_a_broker_alone_that_was_away(self, monkeypatch):
        now, tried = [1000.0], list[float]()

        def fail(_work: Work, _within_s: float) -> None:
            tried.append(now[0])
            raise OSError

        monkeypatch.setattr(nudges, "publish", fail)
        sender = Sender(lambda: now[0])
        for _ in range(5):
            sender.send(Work.GENERATE)
            now[0] += AWAY_S / 4

        assert tried == [1000.0, 1000.0 + AWAY_S]


class TestMessage:
    def test_expires_a_while_after_it_was_to_begin(self):
        app = Celery(broker="memory://", set_as_current=False)
        with app.connection_for_read() as broker:
            broker.SimpleQueue(app.conf.task_default_queue).close()
            nudges.publish(Work.REFIT, 5.0, app=app)

            with broker.SimpleQueue(app.conf.task_default_queue) as queue:
                headers = queue.get_nowait().headers

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
    return partial(submit, make_open_lease())


def _reported():
    return partial(report, make_open_lease(), text="It names my street.")


def _reinstated():
    rater, by = make_rater(), make_user()
    excluding.exclude_rater(rater=rater, reason="haste", by=by, now=NOW)
    return partial(excluding.reinstate_rater, rater=rater, reason="a mistake", by=by, now=NOW)


def _announced():
    make_hook(events=["alert"])
    return partial(hook_services.announce, hook_services.Event(HookEvent.ALERT, "k"), now=NOW)


def _sent_again():
    delivery = make_delivery(state=DeliveryState.ABANDONED, next_attempt_at=None)
    return partial(hook_services.resend, delivery, by=make_user(), now=NOW)


def _begun(make_run):
    return lambda: partial(running.begin, make_run(), 1, now=NOW, by=None)


def _resumed():
    run = make_generation_run(state=RunState.PAUSED, pause_reason=PauseReason.ADMIN)
    return partial(running.resume_run, run, now=NOW)


def _tried_again():
    run = make_generation_run()
    make_generation_call(run=run, state=CallState.FAILED, ended_at=NOW, error_kind="x")
    return partial(running.retry_failed, run, now=NOW)


def _labels_ended():
    make_labelling_run()
    return partial(running.finish_all_runs, now=NOW)


def _fitted():
    later = NOW + dt.timedelta(hours=1)
    fits = ranking.claim_changed_fits(study=make_judged_study(), now=later)
    return partial(ranking.run_fit, fit_id=fits[0], clock=lambda: later)


def given(act, /, **make):
    """Return what prepares an act that is done at `NOW` with what the builders make."""
    return lambda: partial(act, **{name: build() for name, build in make.items()}, now=NOW)


excluded = partial(excluding.exclude_rater, reason="haste")
withdrawn = partial(withdrawing.withdraw_writer, keep_texts=False)
started = partial(jobs.start_job, kind="BUILD", options={"n": 3, "seed": 7})
queued = partial(emailing.queue_mail, kind=MailKind.ADMITTED)
with_address = partial(make_writer, email="w@example.org")
paused = partial(make_study, state=StudyState.PAUSED)
resumed = partial(hook_services.set_active, is_active=True)
ACTS = {
    "a judgment": (_judged, Work.REFIT),
    "an exclusion": (given(excluded, rater=make_rater, by=make_user), Work.REFIT),
    "an exclusion taken back": (_reinstated, Work.REFIT),
    "a rater who takes answers along": (
        given(withdrawing.withdraw_rater, rater=make_rater),
        Work.REFIT,
    ),
    "a writer who takes texts along": (given(withdrawn, writer=make_writer), Work.REFIT),
    "labels that are all there": (_labels_ended, Work.REFIT),
    "a fit": (_fitted, Work.ANALYSE),
    "a report": (_reported, Work.SEND_REPORT_ALERTS),
    "a study that opens": (given(states.open_study, study=paused), Work.ASK_JUDGES),
    "an event": (_announced, Work.DELIVER_HOOKS),
    "a webhook that is tried": (
        given(hook_services.send_test, hook=make_hook, by=make_user),
        Work.DELIVER_HOOKS,
    ),
    "a webhook that goes on": (
        given(resumed, hook=partial(make_hook, is_active=False), by=make_user),
        Work.DELIVER_HOOKS,
    ),
    "a message sent again": (_sent_again, Work.DELIVER_HOOKS),
    "a mail": (given(queued, writer=with_address), Work.SEND_WRITER_MAILS),
    "a job": (given(started, dataset=make_dataset, by=make_user), Work.DO_JOBS),
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


def done(task):
    with TestCase.captureOnCommitCallbacks(execute=True):
        return task()


@pytest.mark.django_db
class TestComingBack:
    """Work that falls due by itself: who leaves it behind comes back for it."""

    @pytest.mark.parametrize(
        ("in_s", "wanted"), [(40, [40]), (KEPT_S * 2, [])], ids=["soon", "after the sweep"]
    )
    def test_a_pull_comes_back_when_a_call_is_due_before_the_sweep(
        self, sent, site_clock, in_s, wanted
    ):
        make_generation_call(retry_at=site_clock() + dt.timedelta(seconds=in_s))

        assert done(generate_completions) == 0
        assert sent == wanted

    @pytest.mark.parametrize(
        ("task", "services", "n", "wanted"),
        [
            pytest.param(generate_completions, generation_services, 0, [SOON_S], id="idle pull"),
            pytest.param(generate_completions, generation_services, 9, [0.0], id="ended pull"),
            pytest.param(send_writer_mails, emailing, 0, [], id="no mails"),
            pytest.param(send_writer_mails, emailing, 3, [0.0], id="some mails"),
            pytest.param(send_report_alerts, reporting, 0, [], id="no alerts"),
            pytest.param(send_report_alerts, reporting, 3, [60.0], id="some alerts"),
        ],
    )
    def test_what_did_something_is_followed_by_another(
        self, task, services, n, wanted, sent, monkeypatch
    ):
        make_generation_call()
        monkeypatch.setattr(services, task.__name__, lambda **_how: n)

        assert done(task) == n
        assert sent == wanted

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
            done(generate_completions)
            assert sent == calls

    def test_a_process_that_stops_asks_for_nothing_more(self, sent, monkeypatch):
        make_generation_call()
        monkeypatch.setattr(pulling.STOPPING, "is_set", lambda: True)

        done(generate_completions)

        assert sent == []

    def test_hooks_are_tried_again_when_they_are_due(self, sent, site_clock):
        make_delivery(next_attempt_at=site_clock() + dt.timedelta(seconds=30))

        assert done(deliver_hooks) == 0
        assert sent == [30]


AHEAD = NOW + dt.timedelta(days=1)
CLAIMED = {"claimed_at": AHEAD}


@pytest.mark.parametrize(
    ("make", "claim"),
    [
        (partial(make_fit, **CLAIMED), ranking.reclaim_lost_fits),
        (partial(make_analysis, **CLAIMED), report_services.reclaim_lost_analyses),
        (partial(make_release, **CLAIMED), release_services.reclaim_lost_releases),
        (partial(make_audit, **CLAIMED), audits.reclaim_lost_audits),
        (partial(make_delivery, **CLAIMED), lambda *, now: hook_services._claim(now)),
        (partial(make_mail, **CLAIMED), lambda *, now: emailing._claim(now)),
        (partial(make_alert, **CLAIMED), lambda *, now: reporting._claim(now)),
        (
            partial(make_job, state=JobState.RUNNING, seen_at=AHEAD),
            lambda *, now: jobs._claimable(now),
        ),
        (
            partial(make_generation_call, state=CallState.CLAIMED, **CLAIMED),
            lambda *, now: GenerationCall.objects.filter(calling.lost(now)),
        ),
    ],
    ids=["fit", "analysis", "release", "audit", "webhook", "mail", "alert", "job", "call"],
)
@pytest.mark.django_db
def test_work_that_was_claimed_before_the_clock_was_set_back_is_claimed_again(make, claim):
    make()

    assert len(claim(now=NOW)) == 1
