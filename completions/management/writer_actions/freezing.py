"""``writers freeze`` and ``writers thaw``: stop all writing for a dataset, and let it go on."""

import argparse

from django.utils import timezone

from completions.dialogues import queries
from completions.management.acting import Action
from completions.management.progress import Progress
from completions.writers import message_queries, services


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")


def freeze(options: argparse.Namespace, _progress: Progress) -> str:
    """Freeze the texts, and tell what that ended and what is left to decide."""
    dataset = queries.dataset_named(options.dataset)
    if dataset.frozen_at is not None:
        return f"{dataset.slug}: frozen already, since {dataset.frozen_at:%Y-%m-%d %H:%M} UTC"
    n = services.freeze_dataset(dataset=dataset, by=None, now=timezone.now())
    left = message_queries.settled(dataset)
    return (
        f"{dataset.slug}: frozen; {n:,} open claims given back with their drafts kept, "
        f"{left.n_waiting:,} messages wait and can still be accepted or rejected, "
        f"{left.n_returned:,} that were sent back stay so"
    )


def thaw(options: argparse.Namespace, _progress: Progress) -> str:
    """Let people write again."""
    dataset = queries.dataset_named(options.dataset)
    if not services.thaw_dataset(dataset=dataset, by=None, now=timezone.now()):
        return f"{dataset.slug}: not frozen"
    n_fixed = message_queries.settled(dataset).n_fixed
    return f"{dataset.slug}: thawed; {n_fixed:,} texts that studies compare stay as they are"


FREEZE = Action("freeze", "Stop all writing for a dataset; texts stay.", add_arguments, freeze)
THAW = Action("thaw", "Let people write again for a frozen dataset.", add_arguments, thaw)
