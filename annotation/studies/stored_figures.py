"""Figures that take longer than a page may: a worker works them out, pages show what was kept.

They are kept in the cache that all processes share; what is lost there is worked out anew
(ADR-0068).
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core.cache import cache
from django.utils.module_loading import import_string

from annotation.models import Study

FORM = 6
"""To be raised when the shape of figures changes: those of an older form are not read."""
OLDEST = dt.timedelta(minutes=10)
"""Figures that are older are worked out anew when a page is asked for, whatever changed."""
FIGURES = {
    "counts": "annotation.studies.counts.COUNTS",
    "judges": "annotation.judges.console.JUDGES",
    "plan": "annotation.planning.queries.PLAN",
    "texts": "annotation.rationales.queries.TEXTS",
}
"""Where each kind is; apps above this one add theirs. Workers import them, others need not."""
KEPT_S = 30 * 24 * 3600
ASKED_S = 20
RUNNING_S = 600

Figures = TypeVar("Figures")


@dataclass(frozen=True)
class FiguresKind(Generic[Figures]):
    """How one kind of figures of a study is made.

    ``is_small`` says whether a page may work them out itself. ``basis`` is what they rest on, in
    short, and told in few milliseconds: as long as it is the same, so are they. They are worked
    out as of a time, which only what is told of the last hour or day asks for.
    """

    name: str
    is_small: Callable[[Study], bool]
    basis: Callable[[Study], object]
    work_out: Callable[[Study, dt.datetime], Figures]


@dataclass(frozen=True)
class StoredFigures(Generic[Figures]):
    """Figures for a page; None while a worker has to work them out first.

    ``as_of`` is None where the page did it itself; ``is_current`` is false if what they rest on
    has changed since.
    """

    figures: Figures | None
    as_of: dt.datetime | None = None
    is_current: bool = True


def shown(kind: FiguresKind[Figures], study: Study, *, now: dt.datetime) -> StoredFigures[Figures]:
    """Return the figures of a small study as they are now, of another as they were kept."""
    if kind.is_small(study):
        return StoredFigures(kind.work_out(study, now))
    return read(kind, study, basis=kind.basis(study), now=now)


def read(
    kind: FiguresKind[Figures], study: Study, *, basis: object, now: dt.datetime
) -> StoredFigures[Figures]:
    """Return what was kept of a study, given what the figures rest on now; no query."""
    kept: tuple[Figures, dt.datetime, object] | None = cache.get(_key(kind, study))
    if kept is None:
        return StoredFigures(None, is_current=False)
    figures, as_of, basis_then = kept
    return StoredFigures(figures, as_of, now - as_of < OLDEST and basis_then == basis)


def is_to_ask(kind: FiguresKind[Figures], study: Study) -> bool:
    """Say whether a worker is to be asked now; the next askers within some seconds need not."""
    return bool(cache.add(f"{_key(kind, study)}:asked", True, ASKED_S))  # noqa: FBT003 (a value)


def keep(kind: FiguresKind[Figures], study: Study, *, now: dt.datetime) -> bool:
    """Work the figures out and keep them; leave it to another worker who is about it."""
    key = _key(kind, study)
    if not cache.add(f"{key}:running", True, RUNNING_S):  # noqa: FBT003 (a value)
        return False
    try:
        basis = kind.basis(study)  # before: what comes meanwhile makes them old
        cache.set(key, (kind.work_out(study, now), now, basis), KEPT_S)
    finally:
        cache.delete(f"{key}:running")
    return True


def keep_figures(*, kind: str, study_id: int, now: dt.datetime) -> bool:
    """Work out one kind of figures of the study of that key; say whether it was done here."""
    found: FiguresKind[Any] = import_string(FIGURES[kind])
    return keep(found, Study.objects.get(pk=study_id), now=now)


def _key(kind: FiguresKind[Figures], study: Study) -> str:
    return f"kept:{FORM}:{kind.name}:{study.pk}"
