"""Command line of dialogues and contexts; each action is a module of ``context_actions``."""

from completions.contexts.screening.checking import LabelsError
from completions.contexts.selection import SelectionError
from completions.contexts.services.rewriting import NoSourceLeftError
from completions.dialogues import ingest, queries
from completions.dialogues.importing import DatasetNameError, StratumError
from completions.management.acting import ActionCommand
from completions.management.context_actions import (
    building,
    checking,
    exporting,
    funnel,
    importing,
    screening,
)
from completions.runs.services.exclusive import AnotherAtWorkError
from completions.runs.services.states import ProviderRefusesError
from completions.systems.services.registering import ModelIdError


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
        queries.DatasetNotFoundError,
        LabelsError,
        ModelIdError,
        SelectionError,
        NoSourceLeftError,
        ProviderRefusesError,
        AnotherAtWorkError,
    )
