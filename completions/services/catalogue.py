"""Bring the systems of a catalogue into the table, and say what that changed."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from completions.catalogue import Entry
from completions.choices import SystemKind
from completions.models import System
from completions.services.log import record

KINDS = {"model": SystemKind.MODEL, "original": SystemKind.ORIGINAL}
IDENTITY = ("family", "model_id")
"""What completions say they are from: fixed once there is one."""


@dataclass(frozen=True)
class Change:
    """One field of a system, before and after."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class SyncReport:
    """What became of every system of a catalogue, by slug."""

    added: list[str] = field(default_factory=list)
    changed: dict[str, list[Change]] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


@transaction.atomic
def sync_systems(
    *, entries: Iterable[Entry], now: dt.datetime, is_dry_run: bool = False
) -> SyncReport:
    """Add and change systems until the table says what the catalogue says; remove nothing.

    A system that the catalogue cannot have is refused with the reason, and the others go on.
    Doing it again changes nothing. A dry run reports and writes nothing.
    """
    report = SyncReport()
    for entry in entries:
        held = System.objects.select_for_update().filter(slug=entry.slug).first()
        if reason := _refusal(entry, held):
            report.refused[entry.slug] = reason
        elif held is None:
            report.added.append(entry.slug)
            _add(entry, now)
        elif changes := _changes(entry, held):
            report.changed[entry.slug] = changes
            _change(held, changes, now)
        else:
            report.unchanged.append(entry.slug)
    transaction.set_rollback(is_dry_run)
    return report


def _refusal(entry: Entry, held: System | None) -> str:
    """Say why the table cannot hold this entry, or nothing if it can."""
    twin = System.objects.filter(name=entry.name).exclude(slug=entry.slug).first()
    if twin is not None:
        return f'the name "{entry.name}" belongs to the system {twin.slug}'
    return "" if held is None else _clash(entry, held)


def _clash(entry: Entry, held: System) -> str:
    """Say why the row of this slug cannot become what the entry says, or nothing if it can."""
    if held.is_simulated:
        return "the slug belongs to a simulated system"
    if held.kind != KINDS[entry.kind]:
        return f"the slug belongs to a system of another kind ({held.kind.lower()})"
    fixed = [one.field for one in _changes(entry, held) if one.field in IDENTITY]
    if fixed and _has_been_asked(held):
        named = " and ".join(fixed)
        return f"it has been asked already, so its {named} cannot change: use another slug"
    return ""


def _has_been_asked(system: System) -> bool:
    return system.completions.exists() or system.generation_calls.exists()


def _columns(entry: Entry) -> dict[str, Any]:
    """Return what an entry puts into the table, ready to compare with what is there."""
    return {
        "name": entry.name,
        "kind": str(KINDS[entry.kind]),
        "family": entry.family or "",
        "model_id": entry.model_id or "",
        "api_base": entry.api_base or "",
        "parameters": entry.parameters.as_stored(),
        "facts": {name: fact.model_dump(mode="json") for name, fact in entry.facts.items()},
    }


def _changes(entry: Entry, held: System) -> list[Change]:
    """Return what the entry says otherwise than the row.

    Where the catalogue leaves the address to others, one that was set in the table stays.
    """
    wanted = _columns(entry)
    if entry.parameters.api_base_env is not None:
        del wanted["api_base"]
    return [
        Change(name, before, after)
        for name, after in wanted.items()
        if (before := getattr(held, name)) != after
    ]


def _add(entry: Entry, now: dt.datetime) -> None:
    columns = _columns(entry)
    System.objects.create(slug=entry.slug, **columns)
    record(action="system.added", subject=f"system {entry.slug}", now=now, after=columns)


def _change(held: System, changes: Iterable[Change], now: dt.datetime) -> None:
    before: Mapping[str, Any] = {one.field: one.before for one in changes}
    after: Mapping[str, Any] = {one.field: one.after for one in changes}
    for name, value in after.items():
        setattr(held, name, value)
    held.save(update_fields=list(after))
    record(
        action="system.changed",
        subject=f"system {held.slug}",
        now=now,
        before=before,
        after=after,
    )
