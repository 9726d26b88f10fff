"""Bring a catalogue into its table, that of systems for one, and say what that changed."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model, QuerySet

from access.log import record
from completions.choices import SystemKind
from completions.models import System
from completions.systems.catalogue import CatalogueEntry, SystemEntry

Said = TypeVar("Said", bound=CatalogueEntry)
Said_contra = TypeVar("Said_contra", bound=CatalogueEntry, contravariant=True)
Held = TypeVar("Held", bound=Model)


Changes: TypeAlias = Mapping[str, tuple[Any, Any]]
"""What a field was before and is after, by its name."""


@dataclass(frozen=True)
class SyncReport:
    """What became of every entry of a catalogue, by slug."""

    added: list[str] = field(default_factory=list)
    changed: dict[str, Changes] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


class Table(Protocol[Said_contra, Held]):
    """A table that a catalogue fills; its rows have a unique slug and a unique name."""

    @property
    def of(self) -> str:
        """What a row is, in one word."""

    def rows(self) -> QuerySet[Held]:
        """Return all rows."""

    def columns(self, entry: Said_contra) -> dict[str, Any]:
        """Return what an entry puts into the table, ready to compare with what is there."""

    def clash(self, entry: Said_contra, held: Held, changed: list[str]) -> str:
        """Say why the row of this slug cannot become what the entry says, or nothing."""


@transaction.atomic
def sync(
    table: Table[Said, Held],
    entries: Iterable[Said],
    *,
    now: dt.datetime,
    is_dry_run: bool,
    by: User | None = None,
) -> SyncReport:
    """Add and change rows until the table says what the catalogue says; remove nothing.

    An entry that the table cannot hold is refused with the reason, and the others go on. Doing
    it again changes nothing. A dry run reports and writes nothing.
    """
    report = SyncReport()
    for entry in entries:
        held = table.rows().select_for_update().filter(slug=entry.slug).first()
        changes = {} if held is None else _changes(table, entry, held)
        if reason := _refusal(table, entry, held, changes):
            report.refused[entry.slug] = reason
        elif held is None:
            report.added.append(entry.slug)
            _add(table, entry, now, by)
        elif changes:
            report.changed[entry.slug] = changes
            _change(table.of, held, changes, now, by)
        else:
            report.unchanged.append(entry.slug)
    transaction.set_rollback(is_dry_run)
    return report


def _refusal(table: Table[Said, Held], entry: Said, held: Held | None, changes: Changes) -> str:
    """Say why the table cannot hold this entry, or nothing if it can."""
    others = table.rows().filter(name=entry.name).exclude(slug=entry.slug)
    other = others.values_list("slug", flat=True).first()
    if other is not None:
        return f'the name "{entry.name}" belongs to the {table.of} {other}'
    if held is None:
        return ""
    return table.clash(entry, held, list(changes))


def _changes(table: Table[Said, Held], entry: Said, held: Held) -> Changes:
    """Return what the entry says otherwise than the row.

    Where the catalogue leaves the address to others, one that was set in the table stays.
    """
    columns = table.columns(entry)
    if entry.parameters.api_base_env is not None:
        del columns["api_base"]
    pairs = {name: (getattr(held, name), after) for name, after in columns.items()}
    return {name: (before, after) for name, (before, after) in pairs.items() if before != after}


def _add(table: Table[Said, Held], entry: Said, now: dt.datetime, by: User | None) -> None:
    columns = table.columns(entry)
    table.rows().create(slug=entry.slug, **columns)
    subject = f"{table.of} {entry.slug}"
    record(action=f"{table.of}.added", subject=subject, now=now, by=by, after=columns)


def _change(of: str, held: Model, changes: Changes, now: dt.datetime, by: User | None) -> None:
    before = {name: was for name, (was, _is) in changes.items()}
    after = {name: is_now for name, (_was, is_now) in changes.items()}
    for name, value in after.items():
        setattr(held, name, value)
    held.save(update_fields=list(after))
    subject = f"{of} {held}"
    record(action=f"{of}.changed", subject=subject, now=now, by=by, before=before, after=after)


KINDS = {"model": SystemKind.MODEL, "original": SystemKind.ORIGINAL}
IDENTITY = ("family", "model_id")
"""What completions say they are from: fixed once there is one."""


def sync_systems(
    *,
    entries: Iterable[SystemEntry],
    now: dt.datetime,
    is_dry_run: bool = False,
    by: User | None = None,
) -> SyncReport:
    """Add and change systems until the table says what the catalogue says; remove nothing.

    A system that the catalogue cannot have is refused with the reason, and the others go on.
    Doing it again changes nothing. A dry run reports and writes nothing.
    """
    return sync(_Systems(), entries, now=now, is_dry_run=is_dry_run, by=by)


def columns_of(entry: SystemEntry) -> dict[str, Any]:
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

    def columns(self, entry: SystemEntry) -> dict[str, Any]:
        """Return what an entry puts into the table."""
        return columns_of(entry)

    def clash(self, entry: SystemEntry, held: System, changed: list[str]) -> str:
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
