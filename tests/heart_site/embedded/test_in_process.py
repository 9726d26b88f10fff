"""The in-process broker wakes its worker, and lets it sleep while there is nothing."""

import threading
import time

import pytest
from kombu import Connection, Consumer, Queue

from heart_site.embedded import broker as embedded_broker

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
