"""``judges run``: put the comparisons of a study to LLM judges."""

import argparse

from django.utils import timezone

from annotation.choices import StudyState
from annotation.judges import queries
from annotation.judges.services import judging, running
from annotation.management.studies import StudyError, study_named
from annotation.models import JudgeRun
from completions.management.actions import Action, positive
from completions.management.progress import Progress
from completions.management.run_actions import Kind, actions_of
from completions.management.run_actions.kind import add_budget, add_no_wait
from completions.management.run_actions.working import work_or_leave


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare who judges what, how often, and what it may cost."""
    parser.add_argument("--study", required=True, help="Name of the study in addresses.")
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


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Start a run, and make its calls unless workers are to."""
    study = study_named(options.study)
    if study.locked_at is None:
        msg = f'study "{options.study}": its protocol is not locked'
        raise StudyError(msg)
    asking = running.Asking(
        both_orders=options.both_orders, samples=options.samples, temperature=options.temperature
    )
    started = running.start_judge_run(
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
ACTIONS = (
    Action("run", "Put the comparisons of a study to judges.", add_arguments, run),
    *actions_of(KIND),
)
