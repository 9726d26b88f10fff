"""Command line of strategies: a model names them, people check it, and it is scored."""

from completions.dialogues import queries
from completions.management.acting import ActionCommand
from completions.management.strategy_actions import ACTIONS
from completions.runs import services as run_services
from completions.runs.queries import RunNotFoundError
from completions.strategies import services as strategy_services
from completions.strategies import spot_check_queries
from completions.systems.services.registering import ModelIdError


class Command(ActionCommand):
    """Have texts labelled by strategy, draw a sample for people, and score the labels."""

    help = "Have a model name the strategies of texts, and score it by people's labels."
    actions = ACTIONS
    refusals = (
        queries.DatasetNotFoundError,
        run_services.BudgetTooSmallError,
        strategy_services.NotLabelledYetError,
        run_services.NothingToAskError,
        run_services.RunStateError,
        run_services.UnknownPriceError,
        spot_check_queries.NoSpotCheckError,
        ModelIdError,
        RunNotFoundError,
    )
