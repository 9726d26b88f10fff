"""Command line of dialogues and contexts; each action is a module of ``management.actions``."""

import argparse

from django.core.management.base import BaseCommand, CommandError, CommandParser

from completions import ingest, selectors
from completions.management.actions import (
    Action,
    building,
    checking,
    exporting,
    funnel,
    importing,
    screening,
)
from completions.management.progress import Progress
from completions.screening.checking import LabelsError
from completions.selection import SelectionError
from completions.services import DatasetNameError, StratumError
from completions.services.assistants import ModelIdError
from completions.services.calling import ProviderRefusesError
from completions.services.rewriting import NoSourceLeftError
from completions.services.sole import AnotherAtWorkError

BAD_INPUT = 2
ACTIONS: dict[str, Action] = {
    one.ACTION.name: one.ACTION
    for one in (importing, screening, checking, building, funnel, exporting)
}
REFUSALS = (
    ingest.IngestError,
    DatasetNameError,
    StratumError,
    selectors.DatasetNotFoundError,
    LabelsError,
    ModelIdError,
    SelectionError,
    NoSourceLeftError,
    ProviderRefusesError,
    AnotherAtWorkError,
)


class Command(BaseCommand):
    """Import dialogues, screen them, and make contexts of them."""

    help = "Import dialogues and build contexts from them."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the actions and their options."""
        actions = parser.add_subparsers(dest="action", required=True)
        for action in ACTIONS.values():
            action.add_arguments(actions.add_parser(action.name, help=action.help))

    def handle(self, *_args: object, **options: object) -> str:
        """Run the action; what cannot be read or built is told, with exit code 2."""
        asked = argparse.Namespace(**options)
        action = ACTIONS[asked.action]
        try:
            return action.run(asked, Progress(self.stderr))
        except REFUSALS as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
