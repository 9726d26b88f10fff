"""Command line of strategies: a model names them, people check it, and it is scored."""

from completions import selectors, services, spot_selectors
from completions.management.acting import ActionCommand
from completions.management.run_actions import actions_of
from completions.management.strategy_actions import labelling, sampling, scoring
from completions.run_selectors import RunNotFoundError
from completions.services.assistants import ModelIdError


class Command(ActionCommand):
    """Have texts labelled by strategy, draw a sample for people, and score the labels."""

    help = "Have a model name the strategies of texts, and score it by people's labels."
    actions = (
        *(one.ACTION for one in (labelling, sampling, scoring)),
        *actions_of(labelling.KIND),
    )
    refusals = (
        selectors.DatasetNotFoundError,
        services.BudgetTooSmallError,
        services.NotLabelledYetError,
        services.NothingToAskError,
        services.RunStateError,
        services.UnknownPriceError,
        spot_selectors.NoSpotCheckError,
        scoring.NotSettledYetError,
        ModelIdError,
        RunNotFoundError,
    )
