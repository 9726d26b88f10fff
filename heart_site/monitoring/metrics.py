"""Metrics in Prometheus' text format: what requests took, and how the work stands in the database.

The first are counted by each process and added up over the web processes of a host where
``PROMETHEUS_MULTIPROC_DIR`` names a folder they share; the second are read when they are asked for.
"""

import datetime as dt
import hmac
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, Manager, Max, Min, Q, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Histogram,
    generate_latest,
    multiprocess,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from annotation.choices import Purpose, StudyState
from annotation.models import (
    Comparison,
    JudgeCall,
    JudgeRun,
    Lease,
    RationaleCall,
    RationaleRun,
    ReportAlert,
)
from annotation.quality.services.reporting import is_mail_set_up
from completions.choices import CallState, JobKind, RunState
from completions.models import (
    FAILED,
    GenerationCall,
    GenerationRun,
    Job,
    LabellingRun,
    RewriteCall,
    ScreeningCall,
    StrategyCall,
    WritingLease,
)
from completions.models.dataset import OPEN
from completions.runs.queries import calls_to_make
from completions.runs.services.calling import of_active_runs
from completions.writers.emails import waiting_mails
from ranking.choices import FitState
from ranking.models import Fit

Sample = tuple[tuple[str, ...], float]

CALLS: dict[str, Manager[Any]] = {
    "completions": GenerationCall.objects,
    "judges": JudgeCall.objects,
    "rationales": RationaleCall.objects,
    "rewrites": RewriteCall.objects,
    "screening": ScreeningCall.objects,
    "strategies": StrategyCall.objects,
}
RUNS: dict[str, Manager[Any]] = {
    "completions": GenerationRun.objects,
    "judges": JudgeRun.objects,
    "rationales": RationaleRun.objects,
    "strategies": LabellingRun.objects,
}
JOBS = {"rewrites": JobKind.REWRITE, "screening": JobKind.SCREEN}
WAITING = (CallState.PENDING, CallState.CLAIMED)
LATELY = dt.timedelta(minutes=15)


@dataclass(frozen=True)
class Gauge:
    """What a number means, what its labels are called, and how it is read as of a time."""

    help_text: str
    labels: tuple[str, ...]
    read: Callable[[dt.datetime], Iterable[Sample]]


def _slots(_now: dt.datetime) -> Iterable[Sample]:
    rows = (
        Comparison.objects.filter(
            study__state=StudyState.OPEN, purpose=Purpose.MAIN, held_at=None, slots_left__gt=0
        )
        .values_list("study__slug")
        .annotate(n=Sum("slots_left"))
    )
    return [((slug,), n) for slug, n in rows]


def _leases(_now: dt.datetime) -> Iterable[Sample]:
    judging = Lease.objects.filter(closed_at=None).values_list("rater__study__slug")
    yield from (((slug, "rater"), n) for slug, n in judging.annotate(n=Count("pk")))
    yield ("", "writer"), WritingLease.objects.filter(closed_at=None).count()


def _waiting(_now: dt.datetime) -> Iterable[Sample]:
    for kind, rows_of in CALLS.items():
        rows = rows_of.filter(state__in=WAITING, ended_at=None).values_list("state")
        found = dict(rows.annotate(n=Count("pk")))
        yield from (((kind, state.lower()), found.get(state, 0)) for state in WAITING)
    yield ("mails", "pending"), len(_mails())


def _ages(now: dt.datetime) -> Iterable[Sample]:
    """Of calls that may be claimed now: waiting for a provider is no delay of ours."""
    for kind in CALLS:
        due = Q(retry_at=None) | Q(retry_at__lte=now)
        ready = _to_make(kind).filter(due, state=CallState.PENDING, ended_at=None)
        oldest = ready.aggregate(at=Min("created_at"))["at"]
        yield (kind,), (now - oldest).total_seconds() if oldest else 0.0
    yield ("mails",), (now - min(_mails(), default=now)).total_seconds()


def _to_make(kind: str) -> QuerySet[Any]:
    """Leave out what nobody wants now: calls of runs that stand still, or of jobs that are over."""
    if kind in RUNS:
        return of_active_runs(calls_to_make(RUNS[kind].model))
    jobs = Job.objects.filter(kind=JOBS[kind], state__in=OPEN)
    return CALLS[kind].filter(Exists(jobs))


def _mails() -> list[dt.datetime]:
    """Return since when each e-mail to a writer or to admins waits.

    Where admins cannot be written to, what raters report waits for no e-mail.
    """
    to_writers = list(waiting_mails().values_list("queued_at", flat=True))
    if not is_mail_set_up():
        return to_writers
    reports = ReportAlert.objects.filter(sent_at=None)
    return [*to_writers, *reports.values_list("created_at", flat=True)]


def _failures(now: dt.datetime) -> Iterable[Sample]:
    for kind, rows_of in CALLS.items():
        rows = (
            rows_of.filter(FAILED, ended_at__gt=now - LATELY)
            .values_list("error_kind")
            .annotate(n=Count("pk"))
        )
        yield from (((kind, error), n) for error, n in rows)


def _runs(_now: dt.datetime) -> Iterable[Sample]:
    for kind, rows_of in RUNS.items():
        rows = rows_of.filter(state__in=[RunState.RUNNING, RunState.PAUSED])
        found = rows.values_list("state", "pause_reason").annotate(n=Count("pk"))
        yield from (((kind, state.lower(), why.lower()), n) for state, why, n in found)


def _money(_now: dt.datetime) -> Iterable[Sample]:
    for kind, rows_of in RUNS.items():
        total = rows_of.aggregate(
            spent=Sum("spent_usd", default=0), reserved=Sum("reserved_usd", default=0)
        )
        yield from (((kind, name), float(total[name])) for name in ("spent", "reserved"))


def _fits(now: dt.datetime) -> Iterable[Sample]:
    rows = (
        Fit.objects.filter(state=FitState.DONE, study__state=StudyState.OPEN)
        .values_list("study__slug")
        .annotate(at=Max("ended_at"))
    )
    return [((slug,), (now - at).total_seconds()) for slug, at in rows]


GAUGES = {
    "open_slots": Gauge(
        "Judgments by people that open studies still hand out.", ("study",), _slots
    ),
    "open_leases": Gauge("Claims that are not closed yet.", ("study", "of"), _leases),
    "waiting_work": Gauge("Rows that wait or are being worked on.", ("kind", "state"), _waiting),
    "oldest_waiting_seconds": Gauge(
        "Age of the oldest row that could be worked on now.", ("kind",), _ages
    ),
    "recent_failures": Gauge(
        "Calls to models that ended without use in the last 15 minutes.",
        ("kind", "error"),
        _failures,
    ),
    "runs": Gauge("Runs under way or paused.", ("kind", "state", "reason"), _runs),
    "spend_usd": Gauge("US dollars spent, and reserved for calls.", ("kind", "of"), _money),
    "newest_fit_age_seconds": Gauge(
        "Age of the newest ratings of each open study.", ("study",), _fits
    ),
}


if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    Path(folder).mkdir(parents=True, exist_ok=True)  # the library expects it there

BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
own = CollectorRegistry()
seconds_of_requests = Histogram(
    "heart_request_seconds",
    "From a request's arrival at the application to its answer.",
    ("page", "method", "status"),
    buckets=BUCKETS_S,
    registry=own,
)


class SiteStatus(Collector):
    """How the work stands, read from database and broker at each scrape."""

    def __init__(self, now: dt.datetime) -> None:
        self.now = now

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield one family for each kind of number."""
        from heart_site.monitoring import heartbeats  # noqa: PLC0415 (loads Redis' client and beat)

        for name, told in (GAUGES | heartbeats.GAUGES).items():
            family = GaugeMetricFamily(f"heart_{name}", told.help_text, labels=told.labels)
            for labels, value in told.read(self.now):
                family.add_metric(labels, value)
            yield family


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer whoever knows the token; without a token set there are no metrics."""
    token = settings.HEART_METRICS_TOKEN
    given = request.headers.get("Authorization", "")
    if not token or not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        raise Http404
    registry = CollectorRegistry()
    registry.register(SiteStatus(timezone.now()))
    return HttpResponse(
        generate_latest(_of_requests()) + generate_latest(registry), CONTENT_TYPE_LATEST
    )


def _of_requests() -> CollectorRegistry:
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return own
    shared = CollectorRegistry()
    collect: Callable[[CollectorRegistry], object] = multiprocess.MultiProcessCollector
    collect(shared)
    return shared
