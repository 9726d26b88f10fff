"""Command line of people who write; each action is a module of ``management.writer_actions``."""

from completions.dialogues import authoring, queries
from completions.management.acting import ActionCommand
from completions.management.writer_actions import freezing, importing, inviting, listing, vetting


class Command(ActionCommand):
    """Invite people to write, list and try them, and bring in what was written elsewhere."""

    help = "Invite people to write for a dataset, list them, and import what they wrote elsewhere."
    actions = (
        *(one.ACTION for one in (inviting, listing, vetting, importing)),
        freezing.FREEZE,
        freezing.THAW,
    )
    refusals = (
        queries.DatasetNotFoundError,
        authoring.DatasetTakenError,
        inviting.NoAddressError,
        importing.ImportRefusedError,
    )
