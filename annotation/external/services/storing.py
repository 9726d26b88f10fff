"""Store judgments made elsewhere, apart from the study's own, and leave batches out."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from annotation.external.queries import batches_of, pairs_by_key
from annotation.external.rules import ExternalRow, ReadRow, RowProblem, Terms, digest_of, read_rows
from annotation.models import ExternalBatch, ExternalDecision, ExternalJudgment, Study
from annotation.quality.services.reporting import ReasonMissingError
from annotation.studies.selectors import dimension_keys

Dated: TypeAlias = tuple[ExternalRow, dt.datetime | None]
"""A row, and when the verdict was given, if the lab says."""


@dataclass(frozen=True)
class Provenance:
    """Where judgments made elsewhere come from."""

    source: str
    reference: str
    url: str
    licence: str
    recruitment: str
    consent: str
    collected_from: dt.date
    collected_until: dt.date
    is_simulated: bool


@dataclass(frozen=True)
class _Receipt:
    digest: str
    by: User
    now: dt.datetime


class ExternalConflictError(Exception):
    """What was sent does not fit what is there; the message says why."""


class ExternalRowsError(ValueError):
    """Some rows cannot be taken, and so none was."""

    def __init__(self, problems: Sequence[RowProblem]) -> None:
        super().__init__(f"{len(problems)} rows cannot be taken")
        self.problems = tuple(problems)


@transaction.atomic
def store_external(
    *,
    study: Study,
    provenance: Provenance,
    rows: Sequence[Dated],
    by: User,
    now: dt.datetime,
    places: Sequence[int] = (),
) -> tuple[ExternalBatch, bool]:
    """Store a batch, all of it or nothing; return it, and whether it is new.

    ``places`` has the line of each row in its file; without, problems name its index.
    The same reference with the same content is the batch that is stored.

    Raises
    ------
    ExternalConflictError
        If the study is not locked, or the reference stands for other content.
    ExternalRowsError
        If rows do not fit the study; it names each.
    """
    # One at a time: the second of two that come together finds what the first stored.
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if study.locked_at is None:
        msg = "the study is a draft, whose comparisons may still change: lock it first"
        raise ExternalConflictError(msg)
    digest = _digest(provenance, rows)
    known = batches_of(study).filter(source=provenance.source, reference=provenance.reference)
    if stored := known.first():
        if stored.content_digest != digest:
            msg = f"{provenance.reference!r} of {provenance.source!r} is stored with other content"
            raise ExternalConflictError(msg)
        return stored, False
    read = _checked(study, [row for row, _ in rows], places)
    batch = _store(study, provenance, zip(read, rows, strict=True), _Receipt(digest, by, now))
    return batches_of(study).get(pk=batch.pk), True


def _checked(study: Study, sent: Sequence[ExternalRow], places: Sequence[int]) -> list[ReadRow]:
    pairs = pairs_by_key(study, [row.comparison for row in sent])
    read, problems = read_rows(sent, Terms(study.protocol, dimension_keys(study), pairs), places)
    if problems:
        raise ExternalRowsError(problems)
    return read


def _store(
    study: Study,
    provenance: Provenance,
    rows: Iterable[tuple[ReadRow, Dated]],
    receipt: _Receipt,
) -> ExternalBatch:
    batch = ExternalBatch.objects.create(
        study=study,
        **asdict(provenance),
        content_digest=receipt.digest,
        protocol_hash=study.protocol_hash,
        received_at=receipt.now,
        received_by=receipt.by,
    )
    stored = ExternalJudgment.objects.bulk_create(
        ExternalJudgment(
            batch=batch,
            comparison_id=one.comparison,
            rater=one.rater,
            verdict=one.verdict,
            marks=dict(one.marks),
            judged_at=judged_at,
        )
        for one, (_, judged_at) in rows
    )
    told = {"source": batch.source, "reference": batch.reference, "judgments": len(stored)}
    _log("external.received", batch, told, by=receipt.by, now=receipt.now)
    return batch


@transaction.atomic
def decide_external(
    *, batch: ExternalBatch, is_excluded: bool, reason: str, by: User, now: dt.datetime
) -> ExternalDecision:
    """Leave a batch out of what the study passes on, or take it back; the newest word holds.

    Raises
    ------
    ReasonMissingError
        If there is no reason.
    """
    if not reason.strip():
        msg = "a decision about a batch needs a reason"
        raise ReasonMissingError(msg)
    decision = ExternalDecision.objects.create(
        batch=batch,
        is_excluded=is_excluded,
        reason=reason.strip(),
        decided_at=now,
        decided_by=by,
    )
    action = "external.excluded" if is_excluded else "external.reinstated"
    _log(action, batch, {"reason": decision.reason}, by=by, now=now)
    return decision


def _digest(provenance: Provenance, rows: Sequence[Dated]) -> str:
    sent = [asdict(row) | {"judged_at": judged_at} for row, judged_at in rows]
    return digest_of({"provenance": asdict(provenance), "rows": sent})


def _log(
    action: str, batch: ExternalBatch, after: Mapping[str, object], *, by: User, now: dt.datetime
) -> None:
    subject = f"external batch {batch.pk} of study {batch.study.slug}"
    record(action=action, subject=subject, now=now, by=by, after=after)
