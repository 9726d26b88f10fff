"""Command line of rationales: the themes that they speak of, and personal data in them."""

import argparse
import datetime as dt

from django.utils import timezone

from annotation.management.studies import add_study, study_named
from annotation.models import RationaleRun
from annotation.rationales import queries
from annotation.rationales.services import labelling, scanning
from completions.management.acting import Action, ActionCommand, Progress
from completions.management.assisting import add_assistant
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
from completions.systems.services.registering import ModelIdError, assistant_for

KIND = Kind("rationales", RationaleRun, labelling.find_themes)
LONGEST = dt.timedelta(days=1)


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare whose rationales, who reads them, and what it may cost."""
    add_study(parser)
    add_assistant(parser, "--assistant", "Who finds the themes")
    add_budget(parser)
    add_no_wait(parser)


def find_themes(options: argparse.Namespace, progress: Progress) -> str:
    """Start a run, and make its calls unless workers are to."""
    started = labelling.start_rationale_run(
        study=study_named(options.study),
        assistant=assistant_for("coder", options.assistant),
        budget_usd=options.budget,
        now=timezone.now(),
    )
    progress.say(f"Run #{started.pk}: {started.n_planned:,} rationales to read.")
    return work_or_leave(KIND, started, options, progress)


RUN = Action(
    "run", "Have an assistant read the rationales that it has not.", add_run_arguments, find_themes
)


def scan(options: argparse.Namespace, progress: Progress) -> str:
    """Scan what the rules of now have not read, and say how all rationales stand."""
    study = study_named(options.study)
    n = scanning.scan_rationales(clock=timezone.now, study=study, longest=LONGEST)
    progress.say(f"{n:,} rationales read.")
    counts = queries.counts(study)
    return (
        f"{counts.total:,} rationales: {counts.clean:,} clean, {counts.released:,} released as "
        f"they are, {counts.masked:,} with passages removed, {counts.withheld:,} withheld, "
        f"{counts.waiting:,} wait for a person."
    )


SCAN = Action("scan", "Look for personal data in rationales.", add_study, scan)


class Command(ActionCommand):
    """Have a model find the themes of rationales, in runs, or scan them for personal data."""

    help = "Find the themes of a study's rationales, and personal data in them."
    actions = (RUN, SCAN, *actions_of(KIND))
    refusals = (
        ModelIdError,
        RunNotFoundError,
        running.BudgetTooSmallError,
        running.NothingToAskError,
        running.RunStateError,
        UnknownPriceError,
    )
