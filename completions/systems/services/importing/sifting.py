"""Which rows become completions, why others are refused, and the report of both."""

import datetime as dt
import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field

from completions.choices import Review, SystemKind
from completions.dialogues.context_extraction import digest
from completions.dialogues.locking import lock_texts
from completions.files import Reason, Refusals, Refused, batches, refused
from completions.models import Completion, Context, Dataset, GenerationCall, System
from completions.systems.importing import ImportedRow

Place = tuple[int, int]
"""The keys of a context and of a system."""


@dataclass(frozen=True)
class GoodRow:
    """A row that can be used, with what it names."""

    row: ImportedRow
    context: Context
    system: System

    @property
    def place(self) -> Place:
        """Where a system has one completion at most."""
        return self.context.pk, self.system.pk


@dataclass(frozen=True)
class NamedRows:
    """What the rows name, as it is while nobody else changes it.

    ``texts`` has key and hash of the completions that are there; ``asked`` the places about which
    a model is being asked.
    """

    contexts: Mapping[str, Context]
    systems: Mapping[str, System]
    texts: Mapping[Place, tuple[int, str]]
    asked: Collection[Place]


def lock_named_rows(rows: Collection[ImportedRow]) -> NamedRows:
    """Lock the datasets of the rows, in the order of their keys, and read what is there.

    Whoever plans a run, tries one again, plans a study or brings completions in waits meanwhile.
    """
    contexts = _contexts({row.context for row in rows})
    systems = System.objects.in_bulk(sorted({row.system for row in rows}), field_name="slug")
    for pk in sorted({context.dataset_id for context in contexts.values()}):
        lock_texts(pk)
    texts = dict[Place, tuple[int, str]]()
    places = set[Place]()
    of_systems = [system.pk for system in systems.values()]
    for batch in batches(context.pk for context in contexts.values()):
        about = {"context__in": batch, "system__in": of_systems}
        columns = ("context", "system", "pk", "content_hash")
        found = Completion.objects.filter(**about, writer=None).values_list(*columns)
        texts |= {(context, system): (pk, text) for context, system, pk, text in found}
        calls = GenerationCall.objects.filter(**about, ended_at=None)
        places |= set(calls.values_list("context", "system"))
    return NamedRows(contexts, systems, texts, places)


def sift(
    row: ImportedRow, named: NamedRows, *, dataset: Dataset | None, now: dt.datetime
) -> GoodRow | tuple[Refused, ...]:
    """Return the row with what it names, or all that is wrong with it."""
    context, system = named.contexts.get(row.context), named.systems.get(row.system)
    faults = {
        "context": _fault_of_context(context, dataset),
        "system": _fault_of_system(system),
        "produced_at": Reason.FUTURE if row.produced_at and row.produced_at > now else None,
    }
    if context is not None and system is not None and not any(faults.values()):
        good = GoodRow(row, context, system)
        faults[""] = _fault_of_place(good, named)
        if faults[""] is None:
            return good
    return tuple(_told(row, field, reason) for field, reason in faults.items() if reason)


def _contexts(keys: Iterable[str]) -> dict[str, Context]:
    found = dict[str, Context]()
    for batch in batches(sorted(keys)):
        # The dialogues of checks are nobody's to complete: they are not found.
        rows = Context.objects.filter(key__in=batch, dataset__is_for_checks=False)
        rows = rows.select_related("dataset").defer("turns", "provenance")
        found |= {context.key: context for context in rows}
    return found


def _fault_of_context(context: Context | None, dataset: Dataset | None) -> Reason | None:
    if context is None:
        return Reason.UNKNOWN_CONTEXT
    if dataset is not None and context.dataset_id != dataset.pk:
        return Reason.OTHER_DATASET
    return Reason.DROPPED_CONTEXT if context.review == Review.DROPPED else None


def _fault_of_system(system: System | None) -> Reason | None:
    if system is None:
        return Reason.UNKNOWN_SYSTEM
    return None if system.kind == SystemKind.MODEL else Reason.NO_MODEL


def _fault_of_place(good: GoodRow, named: NamedRows) -> Reason | None:
    there = named.texts.get(good.place)
    if there is not None:
        return None if there[1] == digest(good.row.line) else Reason.HAS_COMPLETION
    return Reason.ASKED if good.place in named.asked else None


def _told(row: ImportedRow, field: str, reason: Reason) -> Refused:
    named = {"context": row.context, "system": row.system}.get(field)
    why = f'{reason.value}: "{named}"' if named else reason.value
    return refused(row.position, field, reason, why)


@dataclass(frozen=True)
class Kept:
    """A row and its completion: stored now, or there before with the same text.

    ``held`` has the reasons for which it is kept out of pairs until somebody decides.
    """

    row: ImportedRow
    pk: int
    is_new: bool
    held: tuple[str, ...] = ()


@dataclass
class IntakeReport(Refusals):
    """Every row: kept, or refused; a batch with a refused row stores nothing."""

    n_read: int = 0
    kept: list[Kept] = field(default_factory=list)

    @property
    def n_new(self) -> int:
        """How many completions are added."""
        return sum(one.is_new for one in self.kept)

    @property
    def n_known(self) -> int:
        """How many were there before, with the same text."""
        return len(self.kept) - self.n_new

    @property
    def n_held(self) -> int:
        """How many of the new ones seem to give their source away."""
        return sum(bool(one.held) for one in self.kept)

    @property
    def by_system(self) -> dict[str, int]:
        """How many completions are added, by the slug of their system."""
        return dict(sorted(Counter(one.row.system for one in self.kept if one.is_new).items()))

    @property
    def digest(self) -> str:
        """A hash by which two outcomes are told apart; it knows no key of what is added."""
        kept = [(one.row.position, one.is_new, one.held) for one in self.kept]
        content = json.dumps([kept, [asdict(one) for one in self.refused]], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()
