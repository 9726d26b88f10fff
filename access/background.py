"""The Celery application; whoever defines a task or sends one takes it from here.

Its queues and its schedule are in heart_site.schedule, what a worker does besides in
heart_site.celery: a process that needs no task, such as `manage.py rank`, does not load Celery.
"""

from typing import Any

from celery import Celery
from celery.exceptions import SoftTimeLimitExceeded

PATIENCE_S = 1.0
"""How long the broker may take to be reached, and to answer."""

TOO_LONG = "It took longer than the nine minutes of a worker. The command has as long as it needs."

app = Celery("heart")
app.config_from_object("django.conf:settings", namespace="CELERY")


def why_ended(error: Exception, otherwise: str) -> str:
    """Say what ended some work: the time limit of its worker, or something else."""
    return TOO_LONG if isinstance(error, SoftTimeLimitExceeded) else otherwise


def hand_over(task: str, **arguments: object) -> None:
    """Hand a task to the workers by its name: a web process knows none of them.

    It expires as every task does that names no time of its own; each page offers to ask again.

    Raises
    ------
    Exception
        Of whatever kind, if the broker is away; it is waited for as long as `send` does.
    """
    send(task, kwargs=arguments, expires=app.conf.task_annotations["*"]["expires"])


def send(task: str, *, sender: Celery | None = None, **options: Any) -> None:  # noqa: ANN401 (as Celery has them)
    """Send one message by the name of the task, without waiting for a broker that is away."""
    from kombu import pools  # noqa: PLC0415 (only where something is sent)

    sender = sender or app
    bounded = {
        "max_retries": 0,
        "socket_connect_timeout": PATIENCE_S,
        "socket_timeout": PATIENCE_S,
    }
    broker = sender.connection_for_write(transport_options=bounded)
    with pools.producers[broker].acquire(block=True, timeout=PATIENCE_S) as producer:
        sender.send_task(task, producer=producer, retry=False, ignore_result=True, **options)
