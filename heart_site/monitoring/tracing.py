"""Spans for OpenTelemetry, if a deployment names a collector: one a request, one a task.

A span has a name of the code, numbers and ids that say nothing about anybody; no address, text or
parameter, see ADR-0064. Until a collector is named nothing of the libraries is imported here.
"""

import importlib
import os
import time
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING

from celery import signals
from django.conf import settings

from heart_site.monitoring.logs import current_id

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
begun_ns: ContextVar[int] = ContextVar("begun_ns")
"""When the task that is being worked on began, in nanoseconds of the epoch."""


def of_request(page: str, method: str, status: int, *, seconds: float) -> None:
    """Make the span of a request that has just been answered."""
    if settings.HEART_TRACES_URL:
        facts: dict[str, str | int] = {
            "http.request.method": method,
            "http.response.status_code": status,
        }
        begun = time.time_ns() - round(seconds * 1e9)
        _record(page, facts, begun=begun, is_failed=status >= 500, is_request=True)  # noqa: PLR2004


@signals.task_prerun.connect
def _begin(**_others: object) -> None:
    begun_ns.set(time.time_ns())


@signals.task_postrun.connect
def _of_task(task: object, task_id: str, state: str, retval: object, **_others: object) -> None:
    """Make the span of a task that has just ended; of an error it has the kind alone."""
    if settings.HEART_TRACES_URL:
        facts: dict[str, str | int] = {"celery.state": str(state)}
        if isinstance(retval, BaseException):
            facts["error.type"] = type(retval).__name__
        name = str(getattr(task, "name", "-"))
        is_failed = state == "FAILURE"
        _record(name, facts, begun=begun_ns.get(), is_failed=is_failed, work_id=task_id)


@signals.worker_process_shutdown.connect
def _send_the_rest(**_others: object) -> None:
    """Send what is left: processes of a worker end without what Python does at its end."""
    if settings.HEART_TRACES_URL:
        provider_of(os.getpid()).shutdown()


@cache
def provider_of(_process: int) -> "TracerProvider":
    """Return what collects the spans of this process; its thread would not outlive a fork.

    It is not made the global one, so that no library adds spans of its own.
    """
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    address = f"{settings.HEART_TRACES_URL.rstrip('/')}/v1/traces"
    exporter = importlib.import_module(EXPORTER).OTLPSpanExporter(endpoint=address)
    provider = TracerProvider(
        resource=Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME") or "heart"})
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _record(
    name: str,
    facts: dict[str, str | int],
    *,
    begun: int,
    is_failed: bool,
    is_request: bool = False,
    work_id: str = "",
) -> None:
    from opentelemetry.context import Context  # noqa: PLC0415
    from opentelemetry.trace import SpanKind, StatusCode  # noqa: PLC0415

    span = (
        provider_of(os.getpid())
        .get_tracer("heart")
        .start_span(
            name,
            context=Context(),  # nobody's child: a client's own trace is not believed
            kind=SpanKind.SERVER if is_request else SpanKind.CONSUMER,
            attributes=facts | {"heart.id": work_id or current_id.get()},
            start_time=begun,
        )
    )
    if is_failed:
        span.set_status(StatusCode.ERROR)
    span.end()
