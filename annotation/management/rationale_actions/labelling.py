"""``rationales run``: have an assistant find the themes of a study's rationales."""

import argparse

from django.utils import timezone

from annotation.management.studies import study_named
from annotation.models import RationaleRun
from annotation.rationales import services
from completions.management.actions import Action
from completions.management.actions.assisting import add_assistant
from completions.management.progress import Progress
from completions.management.run_actions import Kind
from completions.management.run_actions.kind import add_budget, add_no_wait
from completions.management.run_actions.working import work_or_leave
from completions.systems.services.registering import assistant_for

KIND = Kind("rationales", RationaleRun, services.find_themes)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare whose rationales, who reads them, and what it may cost."""
    parser.add_argument("--study", required=True, help="Name of the study in addresses.")
    add_assistant(parser, "--assistant", "Who finds the themes")
    add_budget(parser)
    add_no_wait(parser)


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Start a run, and make its calls unless workers are to."""
    started = services.start_rationale_run(
        study=study_named(options.study),
        assistant=assistant_for("coder", options.assistant),
        budget_usd=options.budget,
        now=timezone.now(),
    )
    progress.say(f"Run #{started.pk}: {started.n_planned:,} rationales to read.")
    return work_or_leave(KIND, started, options, progress)


ACTION = Action("run", "Have an assistant read the rationales that it has not.", add_arguments, run)
