"""The filters of the results page, as they stand in its address."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ranking.choices import ContextSet, EvaluatorPool

Selected = tuple[EvaluatorPool, ContextSet]
Value = TypeVar("Value", EvaluatorPool, ContextSet)
_POOLS = {pool.lower(): pool for pool in EvaluatorPool}
_CONTEXT_SETS = {name.lower(): name for name in ContextSet}


class UnknownFilterError(ValueError):
    """The address names a pool or a set of contexts that does not exist."""


@dataclass(frozen=True)
class Choice:
    """One value of a filter, and where it leads."""

    label: str
    query: str
    is_current: bool
    has_fit: bool


@dataclass(frozen=True)
class Filters:
    """What is shown, and what could be."""

    selected: Selected
    pools: tuple[Choice, ...]
    context_sets: tuple[Choice, ...]
    has_any: bool

    @property
    def query(self) -> str:
        """Return what the address of this selection ends with."""
        return _query(*self.selected)


def read_filters(query: Mapping[str, str], *, fitted: Collection[Selected]) -> Filters:
    """Return the filters that an address asks for.

    What it leaves open is the first of ``fitted`` that has what it does name.

    Raises
    ------
    UnknownFilterError
        If it names a value that does not exist, with those that do.
    """
    asked_pool = _parse(_POOLS, query.get("pool"))
    asked_set = _parse(_CONTEXT_SETS, query.get("contexts"))
    fitting = (
        (pool, context_set)
        for pool, context_set in fitted
        if asked_pool in {None, pool} and asked_set in {None, context_set}
    )
    nothing = (asked_pool or EvaluatorPool.COMBINED, asked_set or ContextSet.ALL)
    selected = next(fitting, nothing)
    return Filters(
        selected,
        tuple(_choice(p.label, (p, selected[1]), selected, fitted) for p in EvaluatorPool),
        tuple(_choice(c.label, (selected[0], c), selected, fitted) for c in ContextSet),
        has_any=bool(fitted),
    )


def _parse(known: Mapping[str, Value], value: str | None) -> Value | None:
    if value is not None and value not in known:
        msg = f"{value} is not one of {', '.join(known)}"
        raise UnknownFilterError(msg)
    return known[value] if value is not None else None


def _choice(label: str, leads_to: Selected, now: Selected, fitted: Collection[Selected]) -> Choice:
    return Choice(label, _query(*leads_to), is_current=leads_to == now, has_fit=leads_to in fitted)


def _query(pool: EvaluatorPool, context_set: ContextSet) -> str:
    return f"?pool={pool.lower()}&contexts={context_set.lower()}"
