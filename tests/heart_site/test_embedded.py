"""The site in one process: its address, its broker, and what dead workers held."""

import threading
import time

import pytest
from kombu import Connection, Consumer, Queue

from annotation.models import JudgeCall, RationaleCall
from completions.choices import CallState
from completions.models import GenerationCall, StrategyCall
from completions.runs.services import running as run_services
from heart_site.embedded import broker as embedded_broker
from heart_site.embedded import process
from ranking.choices import FitState
from ranking.fits import services as ranking
from ranking.models import Fit
from tests.helpers.factories import NOW, make_generation_call, make_judge_call
from tests.helpers.factories_of_calls import make_rationale_call, make_strategy_call
from tests.helpers.factories_written_once import make_fit

LONG_S = 30.0


@pytest.fixture
def heard():
    """A consumer on a connection of its own, and what it hears."""
    queue, taken = Queue("in-process-test"), []
    with Connection("memory://", transport="heart_site.embedded.broker:Transport") as broker:

        def take(body, message):
            message.ack()
            taken.append(body)

        with Consumer(broker, [queue], callbacks=[take]):
            yield broker, taken
        queue.bind(broker.default_channel).delete()


def publish(body):
    with Connection("memory://", transport="heart_site.embedded.broker:Transport") as broker:
        broker.Producer().publish(body, routing_key="in-process-test")


def test_what_came_before_is_heard_at_once(heard):
    broker, taken = heard
    publish(1)

    broker.drain_events(timeout=LONG_S)

    assert taken == [1]


def test_a_sleeping_consumer_is_woken(heard):
    broker, taken = heard
    threading.Timer(0.05, publish, [2]).start()
    began = time.monotonic()

    while not taken:
        try:
            broker.drain_events(timeout=LONG_S)
        except TimeoutError:
            continue

    assert taken == [2]
    assert time.monotonic() - began < LONG_S


def test_a_consumer_without_messages_sleeps_and_says_so(heard, monkeypatch):
    broker, taken = heard
    slept: list[float | None] = []
    monkeypatch.setattr(embedded_broker.WOKEN, "wait", slept.append)

    with pytest.raises(TimeoutError):
        broker.drain_events(timeout=LONG_S)

    assert slept == [LONG_S]
    assert taken == []


def test_the_site_is_where_its_web_server_is(settings):
    settings.HEART_SITE_URL = process.USUAL_ADDRESS

    with process.web(port=0) as (address, _serve):
        assert address == settings.HEART_SITE_URL


def test_a_site_that_says_where_it_is_is_believed(settings):
    settings.HEART_SITE_URL = "https://heart.example.org"

    with process.web(port=0):
        assert settings.HEART_SITE_URL == "https://heart.example.org"


def test_the_usual_address_is_the_default_of_the_settings(settings):
    assert settings.HEART_SITE_URL == process.USUAL_ADDRESS


CLAIMED = {"state": CallState.CLAIMED, "claimed_at": NOW, "attempts": 1}
FAILED = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "permanent"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("model", "make"),
    [
        (GenerationCall, make_generation_call),
        (StrategyCall, make_strategy_call),
        (JudgeCall, make_judge_call),
        (RationaleCall, make_rationale_call),
    ],
)
def test_claimed_calls_wait_again_and_ended_ones_do_not(model, make):
    claimed, failed = make(**CLAIMED), make(**FAILED)

    assert run_services.forget_claims() == 1

    states = dict(model.objects.values_list("pk", "state"))
    assert states == {claimed.pk: CallState.PENDING, failed.pk: CallState.FAILED}


@pytest.mark.django_db
def test_a_fit_that_was_begun_is_dropped_and_a_done_one_kept():
    make_fit(claimed_at=NOW)
    done = make_fit(claimed_at=NOW, state=FitState.DONE, ended_at=NOW)

    assert ranking.forget_fit_claims() == 1
    assert Fit.objects.get() == done
