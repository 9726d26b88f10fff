"""Command line of dialogues and contexts; each action is a module of ``management.actions``."""

from completions import ingest, selectors
from completions.management.acting import ActionCommand
from completions.management.actions import (
    building,
    checking,
    exporting,
    funnel,
    importing,
    screening,
)
from completions.screening.checking import LabelsError
from completions.selection import SelectionError
from completions.services import DatasetNameError, StratumError
from completions.services.assistants import ModelIdError
from completions.services.refusing import ProviderRefusesError
from completions.services.rewriting import NoSourceLeftError
from completions.services.sole import AnotherAtWorkError


class Command(ActionCommand):
    """Import dialogues, screen them, and make contexts of them."""

    help = "Import dialogues and build contexts from them."
    actions = tuple(
        one.ACTION for one in (importing, screening, checking, building, funnel, exporting)
    )
    refusals = (
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
