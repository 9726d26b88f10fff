"""Command line of rationales: a model finds the themes that they speak of."""

from annotation.management.rationale_actions import ACTIONS
from annotation.management.studies import StudyError
from completions import services
from completions.management.acting import ActionCommand
from completions.run_selectors import RunNotFoundError
from completions.services.assistants import ModelIdError


class Command(ActionCommand):
    """Have a model find the themes of rationales, in runs."""

    help = "Have a model find the themes that a study's rationales speak of."
    actions = ACTIONS
    refusals = (
        StudyError,
        ModelIdError,
        RunNotFoundError,
        services.BudgetTooSmallError,
        services.NothingToAskError,
        services.RunStateError,
        services.UnknownPriceError,
    )
