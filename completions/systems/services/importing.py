"""Bring in completions of models that were made elsewhere: all of a batch, or none (ADR-0012)."""

import datetime as dt
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from completions.choices import Review, SystemKind, Way
from completions.dialogues.context_extraction import digest
from completions.dialogues.locking import lock_texts
from completions.files.refusals import Reason, Refusals, Refused, refused
from completions.files.rows import BATCH, OutcomeChangedError, batches, once
from completions.leaks import rules
from completions.leaks.rules import Leak
from completions.leaks.services import hold_leaks
from completions.models import (
    BroughtCompletion,
    Completion,
    Context,
    Dataset,
    GenerationCall,
    System,
)
from completions.systems.importing import ImportedRow

Rows = Iterable[ImportedRow | Refused]
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
        return digest(content)


class RowsRefusedError(ValueError):
    """Some rows of a batch cannot be used, so that nothing of it is stored."""

    def __init__(self, refused: Sequence[Refused]) -> None:
        super().__init__(f"{len(refused)} faults")
        self.refused = refused


def import_completions(
    *,
    rows: Rows,
    way: Way,
    by: User | None,
    now: dt.datetime,
    dataset: Dataset | None = None,
    as_shown: str = "",
) -> IntakeReport:
    """Store the completions of a batch, with their provenance, in one transaction.

    A completion that is there with the same text stays and is counted; one with another text is
    never replaced. What seems to give its source away is held at once. No study changes: its
    next plan pairs what came. ``dataset`` is the one that all contexts have to be of, if any;
    ``as_shown`` is the digest of the report that somebody confirmed.

    Raises
    ------
    RowsRefusedError
        If a row cannot be used; nothing is stored then.
    OutcomeChangedError
        If the report is not the one that was confirmed; nothing is stored then.
    completions.files.refusals.InputFileError
        If ``rows`` raises it; nothing is stored then.
    """
    given = list(once(rows))
    with transaction.atomic():
        report = _import(given, way=way, by=by, now=now, dataset=dataset)
        if as_shown not in {"", report.digest}:
            raise OutcomeChangedError
        if report.refused:
            raise RowsRefusedError(report.refused)
    return report


def try_completions(*, rows: Rows, way: Way, by: User, now: dt.datetime) -> IntakeReport:
    """Return the report that ``import_completions`` would give or refuse by, and store nothing.

    Everything is stored, by the rules of the database too, and rolled back.

    Raises
    ------
    completions.files.refusals.InputFileError
        If ``rows`` raises it.
    """
    given = list(once(rows))
    with transaction.atomic():
        report = _import(given, way=way, by=by, now=now, dataset=None)
        transaction.set_rollback(True)
    return report


def _import(
    given: Sequence[ImportedRow | Refused],
    *,
    way: Way,
    by: User | None,
    now: dt.datetime,
    dataset: Dataset | None,
) -> IntakeReport:
    rows = [one for one in given if isinstance(one, ImportedRow)]
    named, goods = lock_named_rows(rows), list[GoodRow]()
    report = IntakeReport(n_read=len({one.position for one in given}))
    for one in given:
        found = (one,) if isinstance(one, Refused) else sift(one, named, dataset=dataset, now=now)
        if isinstance(found, GoodRow):
            goods.append(found)
        else:
            report.refused.extend(found)
    if fresh := [good for good in goods if good.place not in named.texts]:
        _store(fresh, report, way=way, by=by, now=now)
    report.kept += _known(goods, named)
    report.kept.sort(key=lambda one: one.row.position)
    return report


def _store(
    goods: Sequence[GoodRow], report: IntakeReport, *, way: Way, by: User | None, now: dt.datetime
) -> None:
    """Add completions, say where they are from, hold what leaks, and log it for each dataset."""
    stored = Completion.objects.bulk_create(
        (_completion(good, now) for good in goods), batch_size=BATCH
    )
    keys = {completion.pk: good for good, completion in zip(goods, stored, strict=True)}
    BroughtCompletion.objects.bulk_create(
        (_origin(good, key, way=way, by=by, now=now) for key, good in keys.items()),
        batch_size=BATCH,
    )
    found = {key: rules.find_leaks(good.row.text) for key, good in keys.items()}
    report.kept += [
        Kept(good.row, key, is_new=True, held=_reasons(found[key])) for key, good in keys.items()
    ]
    by_dataset = {good.context.dataset_id: good.context.dataset for good in goods}
    for pk, dataset in sorted(by_dataset.items()):
        here = {key: good for key, good in keys.items() if good.context.dataset_id == pk}
        leaked = {key: found[key] for key in here if found[key]}
        hold_leaks(dataset=dataset, found=leaked, now=now, by=by)
        record(
            action="completions.brought_in",
            subject=f"dataset {dataset.slug}",
            now=now,
            by=by,
            after={"way": way, **Counter(good.system.slug for good in here.values())},
        )


def _known(goods: Iterable[GoodRow], named: NamedRows) -> list[Kept]:
    return [
        Kept(good.row, named.texts[good.place][0], is_new=False)
        for good in goods
        if good.place in named.texts
    ]


def _reasons(found: Iterable[Leak]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.reason for one in found))


def _completion(good: GoodRow, now: dt.datetime) -> Completion:
    text = good.row.line
    return Completion(
        context=good.context,
        system=good.system,
        text=text,
        content_hash=digest(text),
        created_at=now,
    )


def _origin(
    good: GoodRow, completion: int, *, way: Way, by: User | None, now: dt.datetime
) -> BroughtCompletion:
    row = good.row
    return BroughtCompletion(
        completion_id=completion,
        way=way,
        brought_at=now,
        brought_by=by,
        raw_text=row.text,
        model_version=row.model_version,
        source=row.source,
        produced_at=row.produced_at,
    )


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
