"""A worker that dies loses no message, and none hoards what others could do."""

from heart_site import schedule
from heart_site.celery import app


def test_a_message_is_acknowledged_when_its_task_has_ended():
    assert app.conf.task_acks_late


def test_a_message_comes_back_when_its_worker_is_lost():
    assert app.conf.task_reject_on_worker_lost


def test_a_worker_takes_no_message_ahead():
    assert app.conf.worker_prefetch_multiplier == 1


def test_the_queues_are_those_of_the_workers_and_no_other_comes_about_by_itself():
    assert set(app.amqp.queues) == {"llm", "analysis", "maintenance", "outgoing"}
    assert not app.conf.task_create_missing_queues


def test_what_names_no_queue_does_not_wait_behind_calls_or_estimation():
    assert app.conf.task_default_queue == schedule.MAINTENANCE
