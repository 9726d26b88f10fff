"""Command line of people who write."""

from completions.dialogues import authoring, queries
from completions.management.acting import ActionCommand
from completions.management.writer_actions import ACTIONS


class Command(ActionCommand):
    """Invite people to write, list and try them, and bring in what was written elsewhere."""

    help = "Invite people to write for a dataset, list them, and import what they wrote elsewhere."
    actions = ACTIONS
    refusals = (queries.DatasetNotFoundError, authoring.DatasetTakenError)
