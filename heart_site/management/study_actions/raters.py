"""Hold the raters of a study against its rules, and let simulated ones rehearse it."""

import argparse
from collections.abc import Iterator

from django.core.management.base import CommandError
from django.utils import timezone

from annotation.management.studies import study_named
from annotation.studies.services.shadow_studies import Rehearsal
from completions.management.acting import Action, Progress, RefusedError, positive
from heart_site.demo.rehearsal.reporting import as_lines, simulate
from heart_site.management.study_actions import add_study
from ranking import tasks
from ranking.raters import services
from ranking.raters.services.reviewing import Move, Movement


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
    yield f"{movement.pool}: {movement.n_before} judgments, {movement.n_after} without them"
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
