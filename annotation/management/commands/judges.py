"""Command line of LLM judges: the catalogue, runs, and what goes with runs."""

import argparse
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet
from django.utils import timezone

from annotation.choices import StudyState
from annotation.judges import judge_catalogue, queries
from annotation.judges.queries import UnknownJudgeError, judges_named
from annotation.judges.services import judging, runs
from annotation.judges.services.registering import sync_judges
from annotation.management.studies import add_study, study_named
from annotation.models import Judge, JudgeRun
from completions.management import assisting
from completions.management.acting import Action, ActionCommand, Progress, RefusedError, positive
from completions.management.run_actions import (
    Kind,
    actions_of,
    add_budget,
    add_no_wait,
    work_or_leave,
)
from completions.runs.queries import RunNotFoundError
from completions.runs.services import running
from completions.runs.services.budgeting import UnknownPriceError
from completions.systems.catalogue import CatalogueError


def sync_catalogue(options: argparse.Namespace, _progress: Progress) -> str:
    """Add and change judges; what is refused ends with exit code 1, and the others are there."""
    entries = judge_catalogue.load_judges(options.files or judge_catalogue.shipped())
    report = sync_judges(entries=entries, now=timezone.now(), is_dry_run=options.dry_run)
    lines = [*assisting.reported(report), *(["Nothing was written."] if options.dry_run else [])]
    if last := assisting.refusal(report, is_dry_run=options.dry_run):
        raise CommandError("\n".join([*lines, last]), returncode=assisting.REFUSED)
    return "\n".join(lines)


SYNC = Action(
    "sync",
    "Add and change judges as catalogue files say.",
    assisting.add_catalogue_arguments,
    sync_catalogue,
)


def list_judges(_asked: argparse.Namespace, _progress: Progress) -> str:
    """Print two lines for each judge."""
    return "\n".join(_listed(queries.counted_judges().order_by("slug")))


def _listed(judges: QuerySet[Any]) -> Iterator[str]:
    if not judges:
        yield "No judges yet: `manage.py judges sync` registers those of the catalogue."
    for row in judges:
        simulated = " (simulated)" if row.is_simulated else ""
        yield f"{row.slug}: {row.name}{simulated}, {row.n_calls:,} calls"
        yield assisting.how_asked(row)


LIST = Action(
    "list", "List judges, and what their calls still need.", lambda _parser: None, list_judges
)


def check_judges(options: argparse.Namespace, _progress: Progress) -> str:
    """Ask for a greeting in JSON, as judges are asked."""
    slugs = options.slugs or list(Judge.objects.values_list("slug", flat=True))
    return assisting.check(judges_named(slugs), in_json=True, as_json=options.json)


CHECK = Action(
    "check", "Ask judges one cheap question.", assisting.add_check_arguments, check_judges
)


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare who judges what, how often, and what it may cost."""
    add_study(parser)
    parser.add_argument(
        "--judges",
        nargs="+",
        default=[queries.ALL],
        metavar="JUDGE",
        help=f'Names as `judges list` shows them, or "{queries.ALL}" (the default): '
        "every judge that is not simulated.",
    )
    parser.add_argument(
        "--both-orders",
        action="store_true",
        help="Ask twice about each comparison, the completions exchanged.",
    )
    parser.add_argument(
        "--samples", type=positive, default=1, metavar="K", help="How often each order is asked."
    )
    parser.add_argument(
        "--temperature", type=float, metavar="T", help="Needed, and above 0, for several samples."
    )
    add_budget(parser)
    add_no_wait(parser)


def run_judges(options: argparse.Namespace, progress: Progress) -> str:
    """Start a run, and make its calls unless workers are to."""
    study = study_named(options.study)
    if study.locked_at is None:
        msg = f'study "{options.study}": its protocol is not locked'
        raise RefusedError(msg)
    asking = runs.Asking(
        both_orders=options.both_orders, samples=options.samples, temperature=options.temperature
    )
    started = runs.start_judge_run(
        study=study,
        judges=queries.requested_judges(options.judges),
        asking=asking,
        budget_usd=options.budget,
        now=timezone.now(),
    )
    progress.say(f"Run #{started.pk}: {started.n_planned:,} calls.")
    return work_or_leave(KIND, started, options, progress)


def _obstacle(run: JudgeRun) -> str:
    """Say that judges answer for open studies only."""
    run.study.refresh_from_db(fields=["state"])
    if run.study.state == StudyState.OPEN:
        return ""
    return f"The study {run.study.slug} is not open, and judges answer for open studies only."


KIND = Kind("judges", JudgeRun, judging.ask_judges, _obstacle)
RUN = Action("run", "Put the comparisons of a study to judges.", add_run_arguments, run_judges)


class Command(ActionCommand):
    """Register the models that judge, and put studies to them."""

    help = "Register LLM judges, list them, and have them judge in runs."
    actions = (SYNC, LIST, CHECK, RUN, *actions_of(KIND))
    refusals = (
        CatalogueError,
        UnknownJudgeError,
        runs.AskingError,
        RunNotFoundError,
        running.BudgetTooSmallError,
        running.NothingToAskError,
        running.RunStateError,
        UnknownPriceError,
    )
