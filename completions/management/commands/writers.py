"""Command line of people who write; each action is a module of ``management.writer_actions``."""

from completions import selectors
from completions.management.acting import ActionCommand
from completions.management.writer_actions import importing, inviting, listing


class Command(ActionCommand):
    """Invite people to write, list them, and bring in what was written elsewhere."""

    help = "Invite people to write for a dataset, list them, and import what they wrote elsewhere."
    actions = tuple(one.ACTION for one in (inviting, listing, importing))
    refusals = (selectors.DatasetNotFoundError, inviting.NoAddressError)
