"""Bring the systems of a catalogue into the table."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet

from completions.choices import SystemKind
from completions.models import System
from completions.systems.catalogue import Entry
from completions.systems.services.syncing import Change, SyncReport, sync

__all__ = ["Change", "SyncReport", "columns_of", "sync_systems"]

KINDS = {"model": SystemKind.MODEL, "original": SystemKind.ORIGINAL}
IDENTITY = ("family", "model_id")
"""What completions say they are from: fixed once there is one."""


def sync_systems(
    *,
    entries: Iterable[Entry],
    now: dt.datetime,
    is_dry_run: bool = False,
    by: User | None = None,
) -> SyncReport:
    """Add and change systems until the table says what the catalogue says; remove nothing.

    A system that the catalogue cannot have is refused with the reason, and the others go on.
    Doing it again changes nothing. A dry run reports and writes nothing.
    """
    return sync(_Systems(), entries, now=now, is_dry_run=is_dry_run, by=by)


def columns_of(entry: Entry) -> dict[str, Any]:
    """Return what an entry puts into the table of systems."""
    return {
        "name": entry.name,
        "kind": str(KINDS[entry.kind]),
        "family": entry.family or "",
        "model_id": entry.model_id or "",
        "api_base": entry.api_base or "",
        "parameters": entry.parameters.as_stored(),
        "facts": {name: fact.model_dump(mode="json") for name, fact in entry.facts.items()},
    }


class _Systems:
    """The table of systems, as a catalogue fills it."""

    of = "system"

    def rows(self) -> QuerySet[System]:
        """Return all systems."""
        return System.objects.all()

    def columns(self, entry: Entry) -> dict[str, Any]:
        """Return what an entry puts into the table."""
        return columns_of(entry)

    def clash(self, entry: Entry, held: System, changed: list[str]) -> str:
        """Say why the row of this slug cannot become what the entry says, or nothing."""
        if held.is_simulated:
            return "the slug belongs to a simulated system"
        if held.kind != KINDS[entry.kind]:
            return f"the slug belongs to a system of another kind ({held.kind.lower()})"
        fixed = [field for field in changed if field in IDENTITY]
        if fixed and _has_been_asked(held):
            named = " and ".join(fixed)
            return f"it has been asked already, so its {named} cannot change: use another slug"
        return ""


def _has_been_asked(system: System) -> bool:
    return system.completions.exists() or system.generation_calls.exists()
