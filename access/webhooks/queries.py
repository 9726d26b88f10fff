"""Read webhooks and what was sent to them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, QuerySet

from access.choices import DeliveryState, HookEvent
from access.console.csv_cells import Cell
from access.console.table_query import read_query, write_query
from access.models import Hook, HookDelivery

PER_PAGE = 50
ORDERS = {
    "queued": "queued_at",
    "attempts": "attempts",
    "next": "next_attempt_at",
    "delivered": "delivered_at",
}
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


class UnknownDeliveryFilterError(ValueError):
    """The address asks for a state, an event or an order that does not exist."""


@dataclass(frozen=True)
class DeliveryFilter:
    """Which messages of a webhook are meant, and in which order; an empty field means all."""

    state: str = ""
    event: str = ""
    sort: str = "-queued"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "DeliveryFilter":
        """Read an address.

        Raises
        ------
        UnknownFilterError
            If it names a state, an event or an order that does not exist.
        """
        found = read_query(cls, query)
        is_known = found.state in {"", *DeliveryState.values} and found.event in {
            "",
            *HookEvent.values,
        }
        if not is_known or found.sort.removeprefix("-") not in ORDERS:
            raise UnknownDeliveryFilterError(found)
        return found

    @property
    def query(self) -> str:
        """The address' query that means this, without its question mark."""
        return write_query(asdict(self))


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


def deliveries(hook: Hook, filters: DeliveryFilter) -> QuerySet[HookDelivery]:
    """Return the messages of a webhook that are meant, in the order meant."""
    rows = hook.deliveries.all()
    if filters.state:
        rows = rows.filter(state=filters.state)
    if filters.event:
        rows = rows.filter(event=filters.event)
    sign = "-" if filters.sort.startswith("-") else ""
    return rows.order_by(f"{sign}{ORDERS[filters.sort.removeprefix('-')]}", f"{sign}pk")


def page_of(rows: QuerySet[HookDelivery], number: str) -> Page[HookDelivery]:
    """Return one page of messages; a number that is none leads to the nearest."""
    return Paginator(rows, PER_PAGE).get_page(number)


def csv_rows(rows: QuerySet[HookDelivery]) -> Iterator[Iterable[Cell]]:
    """Return a header and a row for each message."""
    yield CSV_COLUMNS
    for event_id, *others in rows.values_list(*CSV_COLUMNS).iterator():
        yield str(event_id), *others


def shown_address(url: str) -> str:
    """Return an address without its query, where some receivers want a secret of theirs."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}" + ("?…" if parts.query else "")
