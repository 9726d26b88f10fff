"""Command line of LLM judges."""

from annotation.judges.queries import UnknownJudgeError
from annotation.judges.services.runs import SamplesAlikeError
from annotation.management.judge_actions import ACTIONS
from completions.management.acting import ActionCommand
from completions.runs import services
from completions.runs.queries import RunNotFoundError
from completions.systems.catalogue import CatalogueError


class Command(ActionCommand):
    """Register the models that judge, and put studies to them."""

    help = "Register LLM judges, list them, and have them judge in runs."
    actions = ACTIONS
    refusals = (
        CatalogueError,
        UnknownJudgeError,
        SamplesAlikeError,
        RunNotFoundError,
        services.BudgetTooSmallError,
        services.NothingToAskError,
        services.RunStateError,
        services.UnknownPriceError,
    )
