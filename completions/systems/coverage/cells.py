"""The cells of the coverage matrix, and one cell in full: its texts and its call."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext_lazy as _

from completions.choices import CallState, HoldState
from completions.models import (
    BroughtCompletion,
    Completion,
    Context,
    Dataset,
    GenerationCall,
    Hold,
    System,
)

THERE, HELD, RUNNING, FAILED, MISSING = "there", "held", "running", "failed", "missing"
STATES: Mapping[str, object] = {
    THERE: _("there"),
    HELD: _("held back"),
    RUNNING: _("under way"),
    FAILED: _("failed"),
    MISSING: _("missing"),
}
WITHHELD = (HoldState.HELD, HoldState.DROPPED)
BAD = (CallState.FAILED, CallState.INVALID)
OPEN = (CallState.PENDING, CallState.CLAIMED)


@dataclass(frozen=True)
class Cell:
    """What there is of one system in one context; ``n`` counts completions that may be paired."""

    system: str
    state: str
    n: int = 0

    @property
    def label(self) -> object:
        """The state in words."""
        return STATES[self.state]


@dataclass(frozen=True)
class CoverageRow:
    """A context, and its cells in the order of the systems."""

    key: str
    n_there: int
    cells: tuple[Cell, ...]


@dataclass
class _Found:
    """What was found of one system in one context."""

    n: int = 0
    n_held: int = 0
    call: str = ""

    @property
    def state(self) -> str:
        if self.n:
            return THERE
        if self.n_held:
            return HELD
        if self.call in OPEN:
            return RUNNING
        return FAILED if self.call in BAD else MISSING


def rows_of(contexts: Sequence[Context], systems: Sequence[System]) -> Iterator[CoverageRow]:
    """Yield the rows of contexts, in two queries."""
    grid = _grid([one.pk for one in contexts], [one.pk for one in systems])
    for context in contexts:
        cells = tuple(
            Cell(system.slug, (one := grid[context.pk, system.pk]).state, one.n)
            for system in systems
        )
        n_there = sum(cell.state == THERE for cell in cells)
        yield CoverageRow(context.key, n_there, cells)


def _grid(contexts: Sequence[int], systems: Sequence[int]) -> dict[tuple[int, int], _Found]:
    """Return what was found in each context of each system, by both keys."""
    grid = defaultdict[tuple[int, int], _Found](_Found)
    of_both = {"context__in": contexts, "system__in": systems}
    texts = Completion.objects.filter(erased_at=None, **of_both)
    for *place, hold in texts.values_list("context", "system", "hold__state"):
        found = grid[place[0], place[1]]
        if hold in WITHHELD:
            found.n_held += 1
        else:
            found.n += 1
    calls = GenerationCall.objects.filter(**of_both)
    for *place, state in calls.values_list("context", "system", "state"):
        grid[place[0], place[1]].call = state
    return grid


@dataclass(frozen=True)
class CellText:
    """One completion of a cell; ``brought`` says what is known of one that was made elsewhere."""

    text: str
    is_erased: bool
    made_at: dt.datetime
    hold_state: str
    reasons: tuple[str, ...]
    hold_pk: int | None
    is_imported: bool = False
    brought: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellCall:
    """The call by which a model was to complete a context."""

    run: int | None
    state: str
    state_label: str
    attempts: int
    error_kind: str
    error_detail: str
    raw_answer: str
    finish_reason: str
    cost_usd: Decimal | None
    ended_at: dt.datetime | None
    retry_at: dt.datetime | None

    @property
    def can_be_retried(self) -> bool:
        """Whether it failed in a run that can ask again."""
        return self.state in BAD and self.run is not None


@dataclass(frozen=True)
class CellDetails:
    """What there is of one system in one context, in full."""

    cell: Cell
    context: str
    system_name: str
    texts: tuple[CellText, ...]
    call: CellCall | None


def cell_details(dataset: Dataset, *, context: str, system: str) -> CellDetails | None:
    """Return one cell in full, or None if there is no such context or system."""
    place = Context.objects.filter(dataset=dataset, key=context).first()
    chosen = System.objects.filter(slug=system).first()
    if place is None or chosen is None:
        return None
    texts = Completion.objects.filter(context=place, system=chosen).select_related(
        "hold", "brought"
    )
    call = GenerationCall.objects.filter(context=place, system=chosen).first()
    (row,) = rows_of([place], [chosen])
    return CellDetails(
        cell=row.cells[0],
        context=place.key,
        system_name=chosen.name,
        texts=tuple(_text(one) for one in texts.order_by("pk")),
        call=_call(call) if call else None,
    )


def _text(one: Completion) -> CellText:
    hold: Hold | None = getattr(one, "hold", None)
    brought: BroughtCompletion | None = getattr(one, "brought", None)
    known = (brought.model_version, brought.source) if brought else ()
    return CellText(
        text=one.text,
        is_erased=one.erased_at is not None,
        made_at=one.created_at,
        hold_state=hold.state if hold else "",
        reasons=tuple(reason["reason"] for reason in hold.reasons) if hold else (),
        hold_pk=hold.pk if hold else None,
        is_imported=brought is not None,
        brought=tuple(filter(None, known)),
    )


def _call(call: GenerationCall) -> CellCall:
    return CellCall(
        run=call.run_id,
        state=call.state,
        state_label=CallState(call.state).label,
        attempts=call.attempts,
        error_kind=call.error_kind,
        error_detail=call.error_detail,
        raw_answer=call.raw_answer if call.state != CallState.DONE else "",
        finish_reason=call.finish_reason,
        cost_usd=call.cost_usd,
        ended_at=call.ended_at,
        retry_at=call.retry_at,
    )
