"""Command line of dialogues and contexts: import a file, build contexts."""

import argparse
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from tqdm import tqdm

from completions import ingest
from completions.selection import SelectionError
from completions.services import contexts

BAD_INPUT = 2
REFUSALS = (
    ingest.IngestError,
    contexts.DatasetNameError,
    contexts.DatasetNotFoundError,
    SelectionError,
)


def positive(text: str) -> int:
    """Read a whole number above zero."""
    if not text.isdecimal() or int(text) == 0:
        msg = f"{text!r} is not a whole number above zero"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


class Command(BaseCommand):
    """Import dialogues, or choose the points of them that become contexts."""

    help = "Import dialogues and build contexts from them."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the two actions and their options."""
        actions = parser.add_subparsers(dest="action", required=True)
        importing = actions.add_parser("import", help="Add the dialogues of a file to a dataset.")
        importing.add_argument("file", type=Path, help="A file in ESConv's native JSON format.")
        importing.add_argument("--dataset", required=True, help="Name of the dataset.")
        importing.add_argument("--licence", default="", help="Licence of a new dataset.")
        importing.add_argument(
            "--authored",
            action="store_true",
            help="A new dataset was written for this product and records no real people.",
        )
        building = actions.add_parser("build", help="Choose contexts from a dataset's dialogues.")
        building.add_argument("--dataset", required=True, help="Name of the dataset.")
        building.add_argument(
            "--regular", type=positive, default=280, help="How many regular contexts to reach."
        )
        building.add_argument("--seed", type=int, default=7, help="Fixes the choice.")

    def handle(self, *_args: object, **options: object) -> str:
        """Run the action; what cannot be read or built is told, with exit code 2."""
        asked = argparse.Namespace(**options)
        try:
            return self._import(asked) if asked.action == "import" else self._build(asked)
        except REFUSALS as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error

    def _import(self, asked: argparse.Namespace) -> str:
        records = ingest.load_records(asked.file)
        shown = tqdm(records, desc="Checking", unit=" dialogues", leave=False, disable=None)
        report = contexts.import_dialogues(
            dataset_name=asked.dataset,
            dialogues=ingest.parse_records(shown),
            now=timezone.now(),
            licence=asked.licence,
            is_authored=asked.authored,
        )
        return (
            f"{report.dataset.name}: {report.n_dialogues:,} dialogues ({report.n_added:,} new), "
            f"{report.n_utterances:,} utterances, {report.n_turns:,} turns, "
            f"{report.n_couplets:,} couplets"
        )

    def _build(self, asked: argparse.Namespace) -> str:
        report = contexts.build_contexts(
            dataset_name=asked.dataset, n=asked.regular, seed=asked.seed, now=timezone.now()
        )
        return (
            f"{asked.dataset}: {report.n_contexts:,} contexts ({report.n_added:,} new) of "
            f"{report.n_dialogues:,} dialogues, from {report.n_candidates:,} candidates, "
            f"seed {asked.seed}"
        )
