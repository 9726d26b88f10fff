"""The cells of the map: what there is of a system in a context."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from completions.choices import CallState, HoldState
from completions.models import Completion, Context, GenerationCall, System

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
class ContextRow:
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


def rows_of(contexts: Sequence[Context], systems: Sequence[System]) -> Iterator[ContextRow]:
    """Yield the rows of contexts, in two queries."""
    grid = _grid([one.pk for one in contexts], [one.pk for one in systems])
    for context in contexts:
        cells = tuple(
            Cell(system.slug, (one := grid[context.pk, system.pk]).state, one.n)
            for system in systems
        )
        n_there = sum(cell.state == THERE for cell in cells)
        yield ContextRow(context.key, n_there, cells)


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
