"""``contexts import``: add the dialogues of a file to a dataset."""

import argparse
from pathlib import Path

from django.utils import timezone

from completions import ingest
from completions.management.actions import Action
from completions.management.progress import Progress
from completions.services import contexts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Path, help="A file in ESConv's native JSON format.")
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    parser.add_argument("--licence", default="", help="Licence of a new dataset.")
    parser.add_argument(
        "--authored",
        action="store_true",
        help="A new dataset was written for this product and records no real people.",
    )


def run(asked: argparse.Namespace, progress: Progress) -> str:
    """Import the file; nothing is stored if it cannot be read."""
    records = progress.over(ingest.load_records(asked.file), of="dialogues")
    report = contexts.import_dialogues(
        dataset_name=asked.dataset,
        dialogues=ingest.parse_records(records),
        now=timezone.now(),
        licence=asked.licence,
        is_authored=asked.authored,
    )
    return (
        f"{report.dataset.name}: {report.n_dialogues:,} dialogues ({report.n_added:,} new), "
        f"{report.n_utterances:,} utterances, {report.n_turns:,} turns, "
        f"{report.n_couplets:,} couplets"
    )


ACTION = Action("import", "Add the dialogues of a file to a dataset.", add_arguments, run)
