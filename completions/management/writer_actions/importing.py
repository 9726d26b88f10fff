"""``writers import``: bring messages in that were written elsewhere, or only try it."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from django.utils import timezone

from access.console.csv_cells import csv_lines
from completions.dialogues import queries
from completions.files import InputFileError
from completions.management.acting import Action
from completions.management.progress import Progress
from completions.writers import services
from completions.writers.importing import written_file


class ImportRefusedError(ValueError):
    """A file cannot be brought in at all; nothing was stored, and the message says why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Path, help="Context, text, author and more of each.")
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    parser.add_argument("--apply", action="store_true", help="Store it; without, only tell.")
    parser.add_argument(
        "--accepted",
        action="store_true",
        help="People read and accepted the messages elsewhere: review only what is flagged.",
    )
    parser.add_argument("--report", type=Path, help="Write the refused rows to this file, as CSV.")


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Check the file, store what is good if that is asked for, and tell of every refused row."""
    dataset = queries.dataset_named(options.dataset)
    act = services.import_messages if options.apply else services.try_messages
    with _opened(options.file) as file, _report_file(options) as table:
        found = written_file(file)
        try:
            report = act(
                dataset=dataset,
                rows=progress.over(found, of="rows checked"),
                now=timezone.now(),
                are_accepted=options.accepted,
            )
        except InputFileError as error:
            raise _bad(options.file, str(error)) from error
        except services.DatasetFrozenError as error:
            raise _bad(options.dataset, "is frozen: no message is added to it any more") from error
        if table is not None:
            table.writelines(csv_lines(report.rows()))
    for note in found.notes:
        progress.say(note)
    return "\n".join(_lines(options, report))


def _lines(options: argparse.Namespace, report: services.MessageImportReport) -> Iterator[str]:
    """Yield the report, refused rows included."""
    if not options.apply:
        yield "Dry run: nothing was stored. With --apply it would be:"
    yield (
        f"{options.dataset}: {report.n_read:,} rows, {report.n_stored:,} messages stored "
        f"({report.n_waiting:,} wait for review, {report.n_accepted:,} accepted, "
        f"{report.n_flagged:,} flagged), {report.n_known:,} stored before, "
        f"{report.n_refused:,} refused; {report.n_new_authors:,} new authors"
    )
    for reason, n in report.by_reason.items():
        yield f"{n:>7,} refused: {reason}"
    yield from map(str, report.refused)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise _bad(path, f"cannot be read: {error.strerror}") from error
    with file:
        yield file


@contextmanager
def _report_file(options: argparse.Namespace) -> Iterator[TextIO | None]:
    """Open the report before anything is stored, so that no report is lost to a bad path."""
    if options.report is None:
        yield None
        return
    if options.report.resolve() == options.file.resolve():
        raise _bad(options.report, "is the file that is imported; choose another for the report")
    try:
        file = options.report.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise _bad(options.report, f"cannot be written: {error.strerror}") from error
    with file:
        yield file


def _bad(what: Path | str, reason: str) -> ImportRefusedError:
    return ImportRefusedError(f"{what}: {reason}")


ACTION = Action("import", "Bring messages in that people wrote elsewhere.", add_arguments, run)
