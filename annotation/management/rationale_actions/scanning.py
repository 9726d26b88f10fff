"""``rationales scan``: look for personal data in a study's rationales before a release."""

import argparse
import datetime as dt

from django.utils import timezone

from annotation.management.studies import study_named
from annotation.rationales import queries, services
from completions.management.actions import Action
from completions.management.progress import Progress

LONGEST = dt.timedelta(days=1)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare whose rationales."""
    parser.add_argument("--study", required=True, help="Name of the study in addresses.")


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Scan what the rules of now have not read, and say how all rationales stand."""
    study = study_named(options.study)
    n = services.scan_rationales(clock=timezone.now, study=study, longest=LONGEST)
    progress.say(f"{n:,} rationales read.")
    counts = queries.counts(study)
    return (
        f"{counts.total:,} rationales: {counts.clean:,} clean, {counts.released:,} released as "
        f"they are, {counts.masked:,} with passages removed, {counts.withheld:,} withheld, "
        f"{counts.waiting:,} wait for a person."
    )


ACTION = Action("scan", "Look for personal data in rationales.", add_arguments, run)
