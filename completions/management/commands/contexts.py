"""Command line of dialogues and contexts."""

from completions.contexts.screening.checking import LabelsError
from completions.contexts.selection import SelectionError
from completions.contexts.services.rewriting import NoSourceLeftError
from completions.dialogues import ingest, queries
from completions.dialogues.importing import DatasetNameError, StratumError
from completions.management.acting import ActionCommand
from completions.management.context_actions import ACTIONS
from completions.runs.services.exclusive import AnotherAtWorkError
from completions.runs.services.states import ProviderRefusesError
from completions.systems.services.registering import ModelIdError


class Command(ActionCommand):
    """Import dialogues, screen them, and make contexts of them."""

    help = "Import dialogues and build contexts from them."
    actions = ACTIONS
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
