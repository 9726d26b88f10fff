"""Metrics in Prometheus' text format: what requests took, and how the work stands in the database.

The first are counted by each process and added up over the web processes of a host where
``PROMETHEUS_MULTIPROC_DIR`` names a folder they share; the second are read when they are asked for.
"""

import datetime as dt
import hmac
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from django.conf import settings
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

from heart_site.monitoring import work_counts

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
        from heart_site.monitoring import liveness  # noqa: PLC0415 (loads Redis' client and beat)

        for name, told in (work_counts.GAUGES | liveness.GAUGES).items():
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
