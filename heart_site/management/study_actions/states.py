"""Take a study from its file to its end: create, lock, open, pause, close, show; or all at once.

In between, hold its raters against its rules, and let simulated ones rehearse it.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from annotation.choices import StudyState
from annotation.management.studies import study_named
from annotation.models import Study
from annotation.overview import queries
from annotation.quick import services as quick_services
from annotation.quick.layout import QuickFile, read_quick
from annotation.quick.services import QuickReport, QuickWish
from annotation.studies import counts
from annotation.studies.protocol.files import STUDIES, load_protocol
from annotation.studies.protocol.study import StudyProtocol
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts, states
from annotation.studies.services.shadow_studies import Rehearsal
from completions.dialogues.queries import dataset_named
from completions.files.refusals import InputFileError, Refused, counted
from completions.management.acting import Action, Progress, RefusedError, positive
from completions.systems.services.importing import RowsRefusedError
from heart_site.demo.rehearsal.reporting import as_lines, simulate
from heart_site.management.study_actions import add_study
from ranking import tasks
from ranking.raters import services
from ranking.raters.services.reviewing import Move, Movement


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a path, or the name of a shipped study")


def _add_file_and_dataset(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    parser.add_argument("--dataset", required=True, help="the dataset whose contexts are judged")


def _protocol(file: str) -> StudyProtocol:
    """Read a study file: a path, or the name of a study that ships with the platform."""
    shipped = STUDIES / f"{file}.toml"
    return load_protocol(shipped if shipped.exists() else Path(file))


def _create(options: argparse.Namespace, _progress: Progress) -> str:
    protocol, dataset = _protocol(options.file), dataset_named(options.dataset)
    study = drafts.create_study(
        protocol=protocol,
        rubric=load_rubric(protocol.rubric),
        dataset=dataset,
        now=timezone.now(),
    )
    return f"{study.slug}: draft on {dataset.slug}{_seeded(protocol)}"


def _version(options: argparse.Namespace, _progress: Progress) -> str:
    protocol = _protocol(options.file)
    study = drafts.create_version(
        protocol=protocol, rubric=load_rubric(protocol.rubric), now=timezone.now()
    )
    return f"{study.slug}: draft of version {study.version} of {study.name}{_seeded(protocol)}"


def _seeded(protocol: StudyProtocol) -> str:
    return "" if protocol.seed else ", with a seed of its own, secret until the study is closed"


def _lock(options: argparse.Namespace, _progress: Progress) -> str:
    study = states.lock_study(study=study_named(options.study), now=timezone.now())
    return f"{study.slug}: locked, version {study.version}, protocol {study.protocol_hash}"


def _move(name: str, text: str, change: Callable[..., Study]) -> Action:
    def run(options: argparse.Namespace, _progress: Progress) -> Iterator[str]:
        study = change(study=study_named(options.study), now=timezone.now())
        yield f"{study.slug}: {study.state.lower()}"
        if study.state == StudyState.OPEN and not study.comparisons.exists():
            yield "Nothing is planned yet: raters would find nothing to judge."

    return Action(name, text, add_study, run)


def _show(options: argparse.Namespace, _progress: Progress) -> Iterator[str]:
    study = study_named(options.study)
    tally = counts.study_counts(study, timezone.now())
    confirmatory = (study.content.get("analysis") or {}).get("confirmatory", ())
    stands = study.get_state_display().lower()
    yield f"{study.slug}: {study.title}"
    yield f"  version {study.version} of {study.name}, {stands}, on {study.dataset.name}"
    yield f"  {study.get_protocol_display()}"
    yield f"  {study.get_plan_display()}"
    yield f"  protocol {study.protocol_hash or 'not locked yet'}"
    if not queries.is_intact(study):
        yield "  THE STORED CONTENT IS NOT WHAT WAS LOCKED: its hash is another one"
    yield f"  confirmatory: {', '.join(confirmatory) or 'nothing is named'}"
    yield f"  {counted(tally.contexts, 'context')}, {counted(tally.completions, 'completion')}"
    n_checks = queries.active_checks(study).count()
    yield f"  {counted(tally.comparisons, 'comparison')}, {counted(n_checks, 'quality check')}"
    yield f"  {tally.done:,} of {counted(tally.wanted, 'judgment')} by people"
    yield f"  {counted(tally.by_judges, 'judgment')} by models"


CREATE = Action("create", "store a study file as a draft", _add_file_and_dataset, _create)
VERSION = Action(
    "version",
    "store a changed file of a locked study as the draft of its next version",
    _add_file,
    _version,
)
LOCK = Action(
    "lock",
    "freeze a study under the hash of its content; after that only its state changes",
    add_study,
    _lock,
)
MOVES = (
    _move("open", "let raters in, for the first time or again", states.open_study),
    _move("pause", "hand out no new pairs for now", states.pause_study),
    _move("close", "end a study's judging for good", states.close_study),
)
SHOW = Action("show", "show a study's state, version, protocol hash and numbers", add_study, _show)


MOST_TOLD = 10


def _add_quick_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a table, JSON or Parquet of texts by systems")
    parser.add_argument("--name", help="of the study; by default that of the file")
    parser.add_argument("--question", help="what raters are asked")
    parser.add_argument("--judgments", type=int, help="how many people judge each pair")
    parser.add_argument("--raters", choices=sorted(quick_services.PLATFORMS), help="who rates")
    parser.add_argument("--dry-run", action="store_true", help="only say what the file holds")


def _quick(options: argparse.Namespace, _progress: Progress) -> Iterator[str]:
    path: Path = options.file
    file = _read(path)
    yield from found_lines(file)
    if options.dry_run:
        yield "Dry run: nothing was written."
        return
    raters = _given_or_asked(
        options.raters, f"Who rates ({', '.join(quick_services.PLATFORMS)})?", "link"
    )
    if raters not in quick_services.PLATFORMS:
        msg = f'"{raters}" is none of {", ".join(quick_services.PLATFORMS)}'
        raise RefusedError(msg)
    usual = quick_services.usual()
    n_usual = str(usual.judgments_per_pair)
    wish = QuickWish(
        name=options.name or path.stem,
        question=_given_or_asked(options.question, "What are raters asked?", usual.question),
        judgments=_number(_given_or_asked(options.judgments, "Judgments per pair?", n_usual)),
        platform=quick_services.PLATFORMS[raters],
    )
    try:
        report = quick_services.make_quick_study(file=file, wish=wish, now=timezone.now())
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
        n = counted(len(file.faults), "fault")
        msg = f"{path}: {n}, nothing was written\n{_told(file.faults)}"
        raise RefusedError(msg)
    return file


def _told(faults: Sequence[Refused]) -> str:
    return "\n".join(f"line {one.position:,}: {one.why}" for one in faults[:MOST_TOLD])


def found_lines(file: QuickFile) -> Iterator[str]:
    """Yield what was found in the file."""
    layout = "one column for each system" if file.is_wide else "a row for each text"
    n_items, n_texts = len(file.items), len(file.texts)
    yield f"{counted(n_items, 'item')}, {counted(n_texts, 'text')} ({layout})"
    yield f"{len(file.systems):,} systems: {', '.join(file.systems)}"
    if file.n_gaps:
        yield f"{counted(file.n_gaps, 'text')} missing: pairs with them are left out"
    if file.n_alike:
        yield f"{counted(file.n_alike, 'text')} just as another of the item: not compared"


def made_lines(report: QuickReport, raters: str) -> Iterator[str]:
    """Yield what came of it, and the ways to the study's pages."""
    study, intake, plan = report.study, report.intake, report.plan
    state = "open" if report.is_new else f"{study.state.lower()} as before, its settings stay"
    new = f"{counted(intake.n_new, 'new text')}, {counted(plan.summary.n_added, 'new pair')}"
    yield f"{study.slug}: {state}; {new}"
    if intake.n_held:
        yield f"{counted(intake.n_held, 'text')} held: they seem to give their source away"
    yield f"Rater link  {_address('annotation:entry', study.slug)}"
    yield f"Results     {_address('ranking:leaderboard', study.slug)}"
    yield f"Console     {_address('console:study', study.slug)}"
    if raters == "team":
        yield "Rate while signed out of the console: answers of a signed-in team do not count."


def _address(name: str, slug: str) -> str:
    return f"{settings.HEART_SITE_URL.rstrip('/')}{reverse(name, args=[slug])}"


def _given_or_asked(given: object, question: str, otherwise: str) -> str:
    """Return what was given, or ask for it; where nobody can answer, the usual is taken."""
    if given is not None:
        return str(given)
    if not sys.stdin.isatty():
        return otherwise
    return input(f"{question} [{otherwise}] ").strip() or otherwise


def _number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= quick_services.MOST_JUDGMENTS:
        msg = f'"{text}" is no number of judgments from 1 to {quick_services.MOST_JUDGMENTS:,}'
        raise RefusedError(msg)
    return int(text)


QUICK = Action(
    "quick",
    "make a study of a file of texts by several systems, and open it",
    _add_quick_arguments,
    _quick,
)


def _add_review_arguments(parser: argparse.ArgumentParser) -> None:
    add_study(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="write nothing; say who would go and how ranks would move",
    )
    parser.add_argument(
        "--queue", action="store_true", help="hand the review to a worker and do not wait for it"
    )


def _review_or_queue(options: argparse.Namespace, _progress: Progress) -> Iterator[str]:
    if not options.queue:
        yield from _review(options)
        return
    if options.dry_run:
        msg = "--queue writes what it decides: leave out --dry-run"
        raise RefusedError(msg)
    study = study_named(options.study)
    tasks.review_raters.delay(study_id=study.pk)
    yield f"a worker will review the raters of {study.slug}"


def _review(options: argparse.Namespace) -> Iterator[str]:
    dry_run = bool(options.dry_run)
    review = services.review_raters(
        study=study_named(options.study), dry_run=dry_run, now=timezone.now()
    )
    verb = "would be left out" if dry_run else "left out"
    n_leaving, n_all = len(review.leaving), len(review.rows)
    yield f"{n_leaving} of {n_all} raters {verb}, with {review.n_answers} answers"
    for row in review.leaving:
        for finding in row.told:
            yield f"  {row.code}: {finding['name']}. {finding['words']}"
    yield f"{len(review.warned)} more with a warning, which never excludes"
    for movement in review.movements:
        yield from _movement(movement)
    if dry_run:
        yield "nothing was written"


def _movement(movement: Movement) -> Iterator[str]:
    before = counted(movement.n_before, "judgment")
    yield f"{movement.pool}: {before}, {movement.n_after:,} without them"
    for refusal in sorted({movement.refusal_before, movement.refusal_after} - {""}):
        yield f"  {refusal}"
    for move in movement.moves:
        yield f"  {_place(move):>12}  {move.name}{_points(move)}"


def _place(move: Move) -> str:
    before, after = (str(rank or "none") for rank in (move.rank_before, move.rank_after))
    return before if before == after else f"{before} -> {after}"


def _points(move: Move) -> str:
    if move.elo_before is None or move.elo_after is None:
        return ""
    return f"  Elo {move.elo_before:.0f} ({move.elo_after - move.elo_before:+.1f})"


def _add_simulate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--study", required=True, help="the study's slug")
    parser.add_argument("--raters", type=positive, default=200, help="how many come")
    parser.add_argument("--seed", type=int, default=1, help="fixes who they are and what is true")


def _simulate(options: argparse.Namespace, progress: Progress) -> Iterator[str]:
    with progress.towards("simulated raters") as tell:
        report = simulate(
            study=study_named(options.study),
            rehearsal=Rehearsal(n_raters=options.raters, seed=options.seed),
            now=timezone.now(),
            tell=tell,
        )
    yield from as_lines(report)
    if not report.is_sound:
        msg = "A quota was not kept, or a draw could not be rebuilt: see above."
        raise CommandError(msg)


SIMULATE = Action(
    "simulate",
    "rehearse a study with simulated raters in a shadow study; run it again to go on",
    _add_simulate_arguments,
    _simulate,
)
REVIEW = Action(
    "review",
    "leave out the raters whom the study's rules exclude",
    _add_review_arguments,
    _review_or_queue,
)
