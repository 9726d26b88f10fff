"""What `celery -A heart_site` runs: the application with all tasks, and what workers do besides."""

import os
import signal
import threading
from collections.abc import Collection

from billiard import active_children
from celery import signals

from access import nudges
from access.background import app
from completions.runs import pulling
from heart_site import schedule
from heart_site.monitoring.logs import NO_ID, current_id

__all__ = ["app", "heed_shutdown", "nudge_for"]

# The system checks load every page, some 50 MB in each worker; migrating runs them as well.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")
app.autodiscover_tasks()
app.steps["worker"].add("heart_site.monitoring.heartbeats:Heart")


def nudge_for(queues: Collection[str]) -> None:
    """Look at once for all that may have waited on these queues while no worker was there."""
    for work in nudges.Work:
        if schedule.ROUTES[work]["queue"] in queues:
            nudges.sender.send(work)


@signals.worker_ready.connect
def _start(**_others: object) -> None:
    nudge_for(app.amqp.queues.consume_from)


@signals.worker_init.connect
def heed_shutdown(**_others: object) -> None:
    """Let children be told, from their first moment, that pulls and jobs are to end.

    That is noted in a thread, since whoever is interrupted may hold the event's lock.
    """
    stop = pulling.STOPPING.set
    signal.signal(signal.SIGUSR2, lambda *_of_it: threading.Thread(target=stop).start())


@signals.worker_shutting_down.connect
def _tell_children(**_others: object) -> None:
    """Pass on that the worker shuts down: Celery itself lets each task go on to its end."""
    for pid in filter(None, (child.pid for child in active_children())):
        os.kill(pid, signal.SIGUSR2)


@signals.task_prerun.connect
def _begin(task_id: str, **_others: object) -> None:
    """Have what a task logs carry its id."""
    current_id.set(task_id)


@signals.task_postrun.connect
def _end(**_others: object) -> None:
    current_id.set(NO_ID)
