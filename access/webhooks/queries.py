"""Read webhooks and what was sent to them."""

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from django.db.models import Count, Max, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from access.choices import DeliveryState, HookEvent
from access.console.csv_cells import Cell
from access.console.tables import Table
from access.models import Hook, HookDelivery

CSV_COLUMNS = (
    "event_id",
    "event",
    "state",
    "queued_at",
    "attempts",
    "next_attempt_at",
    "last_status",
    "error",
    "delivered_at",
)


DELIVERIES = Table(
    orders={
        "queued": (_("Queued"), ("queued_at",)),
        "attempts": (_("Attempts"), ("attempts",)),
        "next": (_("Next attempt"), ("next_attempt_at",)),
        "delivered": (_("Taken"), ("delivered_at",)),
    },
    usual="-queued",
    choices={
        "state": (dict(DeliveryState.choices), "state"),
        "event": (dict(HookEvent.choices), "event"),
    },
    numbers=("attempts",),
)
"""Messages of a webhook."""


def hooks() -> QuerySet[Hook]:
    """Return the webhooks that were not removed, with how many messages stand where."""
    counts = {
        f"n_{state.lower()}": Count("deliveries", filter=Q(deliveries__state=state))
        for state in DeliveryState
    }
    rows = Hook.objects.filter(removed_at=None).select_related("created_by")
    return rows.annotate(**counts, last=Max("deliveries__delivered_at")).order_by("pk")


def hook_by_key(pk: int) -> Hook | None:
    """Return a webhook that was not removed, with its counts."""
    return hooks().filter(pk=pk).first()


def delivery_of(hook: Hook, pk: int) -> HookDelivery | None:
    """Return one message of a webhook."""
    return hook.deliveries.select_related("hook").filter(pk=pk).first()


def csv_rows(rows: QuerySet[HookDelivery]) -> Iterator[Iterable[Cell]]:
    """Return a header and a row for each message."""
    yield CSV_COLUMNS
    for event_id, *others in rows.values_list(*CSV_COLUMNS).iterator():
        yield str(event_id), *others


def shown_address(url: str) -> str:
    """Return an address as pages and the log tell it: some receivers want a secret in the query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}" + ("?…" if parts.query else "")
