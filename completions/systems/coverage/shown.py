"""One cell of the map in full: its texts, and the call by which a model was to complete it."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from completions.choices import CallState
from completions.models import (
    BroughtCompletion,
    Completion,
    Context,
    Dataset,
    GenerationCall,
    Hold,
    System,
)
from completions.systems.coverage.cells import BAD, Cell, rows_of


@dataclass(frozen=True)
class TextShown:
    """One completion of a cell; ``brought`` says what is known of one that was made elsewhere."""

    text: str
    is_erased: bool
    made_at: dt.datetime
    hold_state: str
    reasons: tuple[str, ...]
    hold_pk: int | None
    is_brought: bool = False
    brought: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallShown:
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
class CellShown:
    """What there is of one system in one context, in full."""

    cell: Cell
    context: str
    system_name: str
    texts: tuple[TextShown, ...]
    call: CallShown | None


def cell_shown(dataset: Dataset, *, context: str, system: str) -> CellShown | None:
    """Return one cell in full, or None if there is no such context or system."""
    place = Context.objects.filter(dataset=dataset, key=context).first()
    asked = System.objects.filter(slug=system).first()
    if place is None or asked is None:
        return None
    texts = Completion.objects.filter(context=place, system=asked).select_related("hold", "brought")
    call = GenerationCall.objects.filter(context=place, system=asked).first()
    (row,) = rows_of([place], [asked])
    return CellShown(
        cell=row.cells[0],
        context=place.key,
        system_name=asked.name,
        texts=tuple(_text(one) for one in texts.order_by("pk")),
        call=_call(call) if call else None,
    )


def _text(one: Completion) -> TextShown:
    hold: Hold | None = getattr(one, "hold", None)
    brought: BroughtCompletion | None = getattr(one, "brought", None)
    known = (brought.model_version, brought.source) if brought else ()
    return TextShown(
        text=one.text,
        is_erased=one.erased_at is not None,
        made_at=one.created_at,
        hold_state=hold.state if hold else "",
        reasons=tuple(reason["reason"] for reason in hold.reasons) if hold else (),
        hold_pk=hold.pk if hold else None,
        is_brought=brought is not None,
        brought=tuple(filter(None, known)),
    )


def _call(call: GenerationCall) -> CallShown:
    return CallShown(
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
