"""Bring judgments made elsewhere in from a file of any tool: looked at first, then all or none."""

import datetime as dt
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from django.contrib.auth.models import User
from django.db import transaction

from annotation.external.files import FileRows, rows_of
from annotation.external.queries import named_pairs
from annotation.external.rules import RowProblem
from annotation.external.services.storing import ExternalRowsError, Provenance, store_external
from annotation.models import Study
from annotation.studies.verdicts import LIKERT
from annotation.tool_files import LAYOUTS, OF_TEXTS, JudgmentFileError, ToolFile, read_tool_file
from completions.files import OutcomeChangedError

MOST_ROWS = 5_000
DEMANDED = ("comparison", "rater_id", "winner")


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
        n_raters=len({row.rater for row, _ in read.rows}),
        n_comparisons=len({row.comparison for row, _ in read.rows}),
        is_new=is_new,
        told=tuple(_told(found, read, file.strength)),
        problems=tuple(sorted(problems, key=lambda one: one.position)),
    )


def _told(found: ToolFile, read: FileRows, strength: int) -> Iterator[str]:
    yield from found.told
    if read.n_without_winner:
        yield f"{read.n_without_winner:,} rows without a winner were left out."
    if read.n_without_strength:
        yield (
            f"{read.n_without_strength:,} preferences say nothing of their strength: "
            f"each counts as {strength}."
        )
