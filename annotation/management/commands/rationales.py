"""Command line of rationales: the themes that they speak of, and personal data in them."""

from annotation.management.rationale_actions import ACTIONS
from completions.management.acting import ActionCommand
from completions.runs import services
from completions.runs.queries import RunNotFoundError
from completions.systems.services.registering import ModelIdError


class Command(ActionCommand):
    """Have a model find the themes of rationales, in runs, or scan them for personal data."""

    help = "Find the themes of a study's rationales, and personal data in them."
    actions = ACTIONS
    refusals = (
        ModelIdError,
        RunNotFoundError,
        services.BudgetTooSmallError,
        services.NothingToAskError,
        services.RunStateError,
        services.UnknownPriceError,
    )
