"""Make a study of a file of texts, and open it: `manage.py study quick FILE`."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from annotation.quick import services
from annotation.quick.layout import QuickFile, read_quick
from annotation.quick.services import QuickReport, QuickWish
from completions.files import InputFileError, Refused
from completions.management.acting import Action, RefusedError
from completions.management.progress import Progress
from completions.systems.services.importing import RowsRefusedError

MOST_TOLD = 10


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a table, JSON or Parquet of texts by systems")
    parser.add_argument("--name", help="of the study; by default that of the file")
    parser.add_argument("--question", help="what raters are asked")
    parser.add_argument("--judgments", type=int, help="how many people judge each pair")
    parser.add_argument("--raters", choices=sorted(services.PLATFORMS), help="who rates")
    parser.add_argument("--dry-run", action="store_true", help="only say what the file holds")


def _quick(options: argparse.Namespace, _progress: Progress) -> Iterator[str]:
    path: Path = options.file
    file = _read(path)
    yield from found_lines(file)
    if options.dry_run:
        yield "Dry run: nothing was written."
        return
    raters = _asked(options.raters, f"Who rates ({', '.join(services.PLATFORMS)})?", "link")
    if raters not in services.PLATFORMS:
        msg = f'"{raters}" is none of {", ".join(services.PLATFORMS)}'
        raise RefusedError(msg)
    usual = services.usual()
    n_usual = str(usual.judgments_per_pair)
    wish = QuickWish(
        name=options.name or path.stem,
        question=_asked(options.question, "What are raters asked?", usual.question),
        judgments=_number(_asked(options.judgments, "Judgments per pair?", n_usual)),
        platform=services.PLATFORMS[raters],
    )
    try:
        report = services.make_quick_study(file=file, wish=wish, now=timezone.now())
    except RowsRefusedError as error:
        msg = f"{path}: nothing was written\n{_told(error.refused)}"
        raise RefusedError(msg) from error
    yield from made_lines(report, raters)


def _read(path: Path) -> QuickFile:
    """Return what the file holds, or refuse it with its first faults."""
    try:
        file = read_quick(path)
    except (InputFileError, OSError) as error:
        msg = f"{path}: {error}"
        raise RefusedError(msg) from error
    if file.faults:
        n = _counted(len(file.faults), "fault")
        msg = f"{path}: {n}, nothing was written\n{_told(file.faults)}"
        raise RefusedError(msg)
    return file


def _told(faults: Sequence[Refused]) -> str:
    return "\n".join(f"line {one.position:,}: {one.why}" for one in faults[:MOST_TOLD])


def found_lines(file: QuickFile) -> Iterator[str]:
    """Yield what was found in the file."""
    layout = "one column for each system" if file.is_wide else "a row for each text"
    n_items, n_texts = len(file.items), len(file.texts)
    yield f"{_counted(n_items, 'item')}, {_counted(n_texts, 'text')} ({layout})"
    yield f"{len(file.systems):,} systems: {', '.join(file.systems)}"
    if file.n_gaps:
        yield f"{_counted(file.n_gaps, 'text')} missing: pairs with them are left out"
    if file.n_alike:
        yield f"{_counted(file.n_alike, 'text')} just as another of the item: not compared"


def made_lines(report: QuickReport, raters: str) -> Iterator[str]:
    """Yield what came of it, and the ways to the study's pages."""
    study, intake, plan = report.study, report.intake, report.plan
    state = "open" if report.is_new else f"{study.state.lower()} as before, its settings stay"
    new = f"{_counted(intake.n_new, 'new text')}, {_counted(plan.n_added, 'new pair')}"
    yield f"{study.slug}: {state}; {new}"
    if intake.n_held:
        yield f"{_counted(intake.n_held, 'text')} held: they seem to give their source away"
    yield f"Rater link  {_address('annotation:entry', study.slug)}"
    yield f"Results     {_address('ranking:leaderboard', study.slug)}"
    yield f"Console     {_address('console:study', study.slug)}"
    if raters == "team":
        yield "Rate while signed out of the console: answers of a signed-in team do not count."


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _address(name: str, slug: str) -> str:
    return f"{settings.HEART_SITE_URL.rstrip('/')}{reverse(name, args=[slug])}"


def _asked(given: object, question: str, otherwise: str) -> str:
    """Return what was given, or ask for it; where nobody can answer, the usual is taken."""
    if given is not None:
        return str(given)
    if not sys.stdin.isatty():
        return otherwise
    return input(f"{question} [{otherwise}] ").strip() or otherwise


def _number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= services.MOST_JUDGMENTS:
        msg = f'"{text}" is no number of judgments from 1 to {services.MOST_JUDGMENTS:,}'
        raise RefusedError(msg)
    return int(text)


QUICK = Action(
    "quick",
    "make a study of a file of texts by several systems, and open it",
    _add_arguments,
    _quick,
)
