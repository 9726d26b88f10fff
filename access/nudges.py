"""Tell workers that there is work, once what left it is committed (ADR-0004).

The rows are the queue: a nudge that is lost costs time and no work, since a sweep finds the rows.
So whoever leaves work never fails for the broker's sake, and hardly waits for it.
"""

import datetime as dt
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.db.models import Q

if TYPE_CHECKING:
    from celery import Celery

AWAY_S = 10.0
"""How long a process asks nothing of a broker that was not there."""
KEPT_S = 60.0
"""How long a nudge waits for a worker; by then the sweep has sent another."""
SOON_S = 1.0
"""For what may come by the hundred and need not be done this instant."""

logger = logging.getLogger(__name__)


class Work(StrEnum):
    """What workers may be nudged to do, by the names of the tasks; each looks what there is."""

    DELIVER_HOOKS = "access.tasks.deliver_hooks"
    SEND_WRITER_MAILS = "completions.tasks.send_writer_mails"
    DO_JOBS = "completions.tasks.do_jobs"
    GENERATE = "completions.tasks.generate_completions"
    NAME_STRATEGIES = "completions.tasks.name_strategies"
    ASK_JUDGES = "annotation.tasks.ask_judges"
    FIND_THEMES = "annotation.tasks.find_themes"
    SEND_REPORT_ALERTS = "annotation.tasks.send_report_alerts"
    REFIT = "ranking.tasks.refit_changed_studies"
    ANALYSE = "ranking.tasks.claim_due_analyses"


@dataclass(frozen=True)
class _Nudge:
    """What happens on commit; equal ones are one."""

    work: Work
    within_s: float

    def __call__(self) -> None:
        sender.send(self.work, self.within_s)


def nudge(work: Work, *, within_s: float = 0.0) -> None:
    """Have a worker look for such work, once the present transaction is committed.

    With ``within_s`` it looks at the end of that time, and once for all that this process was
    told until then: so an act that happens all the time costs no message each. Several nudges
    within one transaction are one.
    """
    wanted, here = _Nudge(work, within_s), set(connection.savepoint_ids)
    # One that a savepoint around this place does not cover may yet be taken back without this.
    if any(one[0] <= here and one[1] == wanted for one in connection.run_on_commit):
        return
    transaction.on_commit(wanted, robust=True)


def is_lost(*, now: dt.datetime, after: dt.timedelta) -> Q:
    """Return whether a claim is older than the work takes.

    So is one from the future: its clock was set back since, and nobody is to wait for that time.
    """
    return Q(claimed_at__lte=now - after) | Q(claimed_at__gt=now + after)


class Sender:
    """Sends the nudges of one process, and remembers which are under way."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._due: dict[Work, set[float]] = {}
        self._away_until = 0.0

    def send(self, work: Work, within_s: float = 0.0) -> None:
        """Send a nudge, unless one is under way that begins after now and in time."""
        with self._lock:
            now = self._clock()
            ahead = {at for at in self._due.get(work, ()) if at > now}
            if now < self._away_until or any(at <= now + within_s for at in ahead):
                return
            self._due[work] = ahead | {now + within_s}
        try:
            publish(work, within_s)
        except Exception as error:
            self._away_until = self._clock() + AWAY_S
            logger.warning("no nudge for %s: %s", work, type(error).__name__)


def publish(work: Work, within_s: float = 0.0, *, app: "Celery | None" = None) -> None:
    """Send one message by the name of the task, without waiting for a broker that is away."""
    # Imported here, so that commands which only know of the work do not load Celery.
    from access import background  # noqa: PLC0415

    times = {"countdown": within_s or None, "expires": within_s + KEPT_S}
    background.send(work.value, sender=app, **times)


sender = Sender()
