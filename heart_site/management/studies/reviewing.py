"""Hold the raters of a study against its rules, on trial or for good."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from heart_site.management.studies.act import Act, RefusedError, Say, add_study, the_study
from ranking import tasks
from ranking.monitor import pages
from ranking.raters import services
from ranking.raters.services.reviewing import Move, Movement


def _add_arguments(parser: CommandParser) -> None:
    add_study(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="write nothing; say who would go and how ranks would move",
    )
    parser.add_argument(
        "--queue", action="store_true", help="hand the review to a worker and do not wait for it"
    )


def _review_or_queue(options: Mapping[str, Any], say: Say) -> None:
    if not options["queue"]:
        _review(options, say)
        return
    if options["dry_run"]:
        msg = "--queue writes what it decides: leave out --dry-run"
        raise RefusedError(msg)
    study = the_study(options)
    tasks.review_raters.delay(study_id=study.pk)
    say(f"a worker will review the raters of {study.slug}")


def _review(options: Mapping[str, Any], say: Say) -> None:
    dry_run = bool(options["dry_run"])
    review = services.review_raters(study=the_study(options), dry_run=dry_run, now=timezone.now())
    page = pages.ReviewPage.of(review)
    verb = "would be left out" if dry_run else "left out"
    say(f"{len(page.leaving)} of {page.n_raters} raters {verb}, with {page.n_answers} answers")
    for line in page.leaving:
        for finding in line.findings:
            say(f"  {line.row.code}: {finding.name}. {finding.words}")
    say(f"{len(page.warned)} more with a warning, which never excludes")
    for movement in review.movements:
        _say_movement(movement, say)
    if dry_run:
        say("nothing was written")


def _say_movement(movement: Movement, say: Say) -> None:
    say(f"{movement.pool}: {movement.n_before} judgments, {movement.n_after} without them")
    for refusal in sorted({movement.refusal_before, movement.refusal_after} - {""}):
        say(f"  {refusal}")
    for move in movement.moves:
        say(f"  {_place(move):>12}  {move.name}{_points(move)}")


def _place(move: Move) -> str:
    before, after = (str(rank or "none") for rank in (move.rank_before, move.rank_after))
    return before if before == after else f"{before} -> {after}"


def _points(move: Move) -> str:
    if move.elo_before is None or move.elo_after is None:
        return ""
    return f"  Elo {move.elo_before:.0f} ({move.elo_after - move.elo_before:+.1f})"


REVIEW = Act(
    name="review",
    help="leave out the raters whom the study's rules exclude",
    run=_review_or_queue,
    add_arguments=_add_arguments,
)
