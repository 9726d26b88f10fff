"""Store judgments made elsewhere, apart from the study's own, and leave batches out.

A lab sends rows by the API, or somebody brings them in from a file of any tool, which is looked at
first; a batch is stored as a whole or not at all.
"""

import datetime as dt
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from annotation.external.queries import batches_of, named_pairs, pairs_by_key
from annotation.external.rules import (
    ExternalRow,
    FileRows,
    ReadRow,
    RowProblem,
    read_rows,
    rows_of,
)
from annotation.models import ExternalBatch, ExternalDecision, ExternalJudgment, Study
from annotation.quality.services.reporting import ReasonMissingError
from annotation.studies.queries import dimension_keys
from annotation.studies.verdicts import LIKERT
from annotation.tool_files.layouts import LAYOUTS, OF_TEXTS
from annotation.tool_files.reading import JudgmentFileError, ToolFile, read_tool_file
from completions.files.refusals import counted
from completions.files.rows import OutcomeChangedError

MOST_ROWS = 5_000
"""Of a file."""
DEMANDED = ("comparison", "rater_id", "winner")
Provenance: TypeAlias = Mapping[str, Any]
"""Where judgments made elsewhere come from: the columns of `ExternalBatch` that a lab tells."""


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
    rows: Sequence[ExternalRow],
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
    source, reference = provenance["source"], provenance["reference"]
    if stored := batches_of(study).filter(source=source, reference=reference).first():
        if stored.content_digest != digest:
            msg = f"{reference!r} of {source!r} is stored with other content"
            raise ExternalConflictError(msg)
        return stored, False
    read = _checked(study, rows, places)
    batch = ExternalBatch.objects.create(
        study=study,
        **provenance,
        content_digest=digest,
        protocol_hash=study.protocol_hash,
        received_at=now,
        received_by=by,
    )
    _store(batch, read)
    told = {"source": batch.source, "reference": batch.reference, "judgments": len(rows)}
    _log("external.received", batch, told, by=by, now=now)
    return batches_of(study).get(pk=batch.pk), True


def _checked(study: Study, sent: Sequence[ExternalRow], places: Sequence[int]) -> list[ReadRow]:
    pairs = pairs_by_key(study, [row.comparison for row in sent])
    read, problems = read_rows(
        sent,
        pairs,
        protocol=study.protocol,
        dimensions=dimension_keys(study),
        places=places,
    )
    if problems:
        raise ExternalRowsError(problems)
    return read


def _store(batch: ExternalBatch, rows: Iterable[ReadRow]) -> None:
    ExternalJudgment.objects.bulk_create(
        ExternalJudgment(
            batch=batch,
            comparison_id=one.comparison,
            rater=one.rater,
            verdict=one.verdict,
            marks=one.marks,
            judged_at=one.judged_at,
        )
        for one in rows
    )


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


def _digest(provenance: Provenance, rows: Sequence[ExternalRow]) -> str:
    """Return the SHA-256 of what was sent, whatever the order of its keys."""
    content = {"provenance": provenance, "rows": [asdict(row) for row in rows]}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _log(
    action: str, batch: ExternalBatch, after: Mapping[str, object], *, by: User, now: dt.datetime
) -> None:
    subject = f"external batch {batch.pk} of study {batch.study.slug}"
    record(action=action, subject=subject, now=now, by=by, after=after)


@dataclass(frozen=True)
class ExternalFile:
    """A file, where its judgments come from, and what it does not say itself.

    ``columns`` says which of its columns stand for which of ours, and ``strength`` how strong a
    preference is of which the file does not say so.
    """

    content: bytes
    provenance: Provenance
    columns: Mapping[str, str]
    strength: int


@dataclass(frozen=True)
class ExternalFileReport:
    """What became, or would become, of a file; ``told`` says how it was read."""

    n_rows: int
    n_raters: int
    n_comparisons: int
    is_new: bool
    told: tuple[str, ...]
    problems: tuple[RowProblem, ...]

    @property
    def digest(self) -> str:
        """A hash by which two outcomes are told apart."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()


def try_external_file(
    *, study: Study, file: ExternalFile, by: User, now: dt.datetime
) -> ExternalFileReport:
    """Return the report that ``store_external_file`` would give, and store nothing.

    Raises
    ------
    JudgmentFileError
        If the file as a whole cannot be read as judgments of the study's pairs.
    ExternalConflictError
        As `store_external`.
    """
    with transaction.atomic():
        report = _import(study, file, by=by, now=now)
        transaction.set_rollback(True)
    return report


def store_external_file(
    *,
    study: Study,
    file: ExternalFile,
    by: User,
    now: dt.datetime,
    as_shown: str,
) -> ExternalFileReport:
    """Store all judgments of a file whose report was shown, or none.

    Raises
    ------
    OutcomeChangedError
        If the report is not the one with this digest, or names problems.
    JudgmentFileError, ExternalConflictError
        As `try_external_file`.
    """
    with transaction.atomic():
        report = _import(study, file, by=by, now=now)
        if report.problems or report.digest != as_shown:
            raise OutcomeChangedError
    return report


def _import(study: Study, file: ExternalFile, *, by: User, now: dt.datetime) -> ExternalFileReport:
    if study.protocol == LIKERT:
        msg = "The study rates messages alone. Send points of its dimensions by the API."
        raise JudgmentFileError(msg)
    found = read_tool_file(
        io.BytesIO(file.content), file.columns, demanded=DEMANDED, layouts=(*LAYOUTS, *OF_TEXTS)
    )
    if len(found.rows) > MOST_ROWS:
        msg = f"The file has over {MOST_ROWS:,} judgments; split it into several batches."
        raise JudgmentFileError(msg)
    read = rows_of(found, named_pairs(study), strength=file.strength)
    if not read.rows and not read.problems:
        msg = "The file has no judgments."
        raise JudgmentFileError(msg)
    problems, is_new = read.problems, True
    if not problems:
        try:
            _, is_new = store_external(
                study=study,
                provenance=file.provenance,
                rows=read.rows,
                by=by,
                now=now,
                places=read.lines,
            )
        except ExternalRowsError as error:
            problems = list(error.problems)
    return ExternalFileReport(
        n_rows=len(read.rows),
        n_raters=len({row.rater for row in read.rows}),
        n_comparisons=len({row.comparison for row in read.rows}),
        is_new=is_new,
        told=tuple(_told(found, read, file.strength)),
        problems=tuple(sorted(problems, key=lambda one: one.position)),
    )


def _told(found: ToolFile, read: FileRows, strength: int) -> Iterator[str]:
    yield from found.told
    if read.n_without_winner:
        yield f"Left out: {counted(read.n_without_winner, 'row')} without a winner."
    if read.n_without_strength:
        yield (
            f"{read.n_without_strength:,} preferences say nothing of their strength: "
            f"each counts as {strength}."
        )
