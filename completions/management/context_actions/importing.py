"""``contexts import``: add the dialogues of a file to a dataset."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from django.utils import timezone

from completions.choices import Stratum
from completions.dialogues import importing, ingest
from completions.management.acting import Action
from completions.management.progress import Progress

SHOWN = 20
"""Lines of one kind that are told one by one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Path, help="A file in one of the formats of dialogues.")
    parser.add_argument("--dataset", help="Name of the dataset; without it, the file's.")
    parser.add_argument(
        "--language",
        type=language_tag,
        help="Language of dialogues that state none, such as he or zh-Hans (BCP 47).",
    )
    parser.add_argument("--licence", default="", help="Licence of a new dataset.")
    parser.add_argument(
        "--authored",
        action="store_true",
        help="A new dataset was written for this product and records no real people.",
    )
    parser.add_argument(
        "--strict", action="store_true", help="Store nothing if there is a bad record."
    )
    parser.add_argument(
        "--adversarial",
        action="store_true",
        help="The contexts that a file of items fixes are adversarial.",
    )


def language_tag(text: str) -> str:
    """Return a tag of BCP 47 in its usual spelling."""
    try:
        return ingest.language_tag(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Import the file; nothing is stored if it cannot be read."""
    records = progress.over(
        ingest.read_dialogues(options.file, options.language or ""), of="records"
    )
    report = importing.import_dialogues(
        dataset_name=options.dataset or options.file.stem,
        dialogues=ingest.strictly(records) if options.strict else records,
        now=timezone.now(),
        licence=options.licence,
        is_authored=options.authored,
        stratum=Stratum.ADVERSARIAL if options.adversarial else Stratum.REGULAR,
    )
    tell(report.repeated, progress, others="dialogues that stand there already")
    tell([f"{record}; skipped" for record in report.bad], progress, others="bad records; skipped")
    return report.summary


def tell(lines: Sequence[str], progress: Progress, *, others: str) -> None:
    """Say what is worth a look: the first of it one by one."""
    for line in lines[:SHOWN]:
        progress.say(line)
    if len(lines) > SHOWN:
        progress.say(f"and {len(lines) - SHOWN:,} more {others}")


ACTION = Action("import", "Add the dialogues of a file to a dataset.", add_arguments, run)
