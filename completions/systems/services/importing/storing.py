"""Bring a batch of completions in: every row is good, or nothing is stored."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from completions.choices import Way
from completions.dialogues.context_extraction import digest
from completions.files import BATCH, OutcomeChangedError, Refused, once
from completions.leaks import rules
from completions.leaks.rules import Leak
from completions.leaks.services import hold_leaks
from completions.models import BroughtCompletion, Completion, Dataset
from completions.systems.importing import ImportedRow
from completions.systems.services.importing.sifting import (
    GoodRow,
    IntakeReport,
    Kept,
    NamedRows,
    lock_named_rows,
    sift,
)

Rows = Iterable[ImportedRow | Refused]


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
    completions.files.InputFileError
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
    """Return the report that ``bring_completions`` would give or refuse by, and store nothing.

    Everything is stored, by the rules of the database too, and rolled back.

    Raises
    ------
    completions.files.InputFileError
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
    BroughtCompletion.objects.bulk_create(
        (
            _origin(good, completion, way=way, by=by, now=now)
            for good, completion in zip(goods, stored, strict=True)
        ),
        batch_size=BATCH,
    )
    found = {
        completion.pk: rules.find_leaks(good.row.text)
        for good, completion in zip(goods, stored, strict=True)
    }
    report.kept += [
        Kept(good.row, completion.pk, is_new=True, held=_reasons(found[completion.pk]))
        for good, completion in zip(goods, stored, strict=True)
    ]
    by_dataset = {good.context.dataset_id: good.context.dataset for good in goods}
    for pk, dataset in sorted(by_dataset.items()):
        here = [
            (good, completion.pk)
            for good, completion in zip(goods, stored, strict=True)
            if good.context.dataset_id == pk
        ]
        leaked = {key: found[key] for _good, key in here if found[key]}
        hold_leaks(dataset=dataset, found=leaked, now=now, by=by)
        record(
            action="completions.brought_in",
            subject=f"dataset {dataset.slug}",
            now=now,
            by=by,
            after={"way": way, **Counter(good.system.slug for good, _key in here)},
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
    good: GoodRow, completion: Completion, *, way: Way, by: User | None, now: dt.datetime
) -> BroughtCompletion:
    row = good.row
    return BroughtCompletion(
        completion=completion,
        way=way,
        brought_at=now,
        brought_by=by,
        raw_text=row.text,
        model_version=row.model_version,
        source=row.source,
        produced_at=row.produced_at,
    )
