"""``judges sync``: bring catalogues of judges into the table."""

import argparse

from django.core.management.base import CommandError
from django.utils import timezone

from annotation.judges import judge_catalogue
from annotation.judges.services.registering import sync_judges
from completions.management import syncing
from completions.management.actions import Action
from completions.management.progress import Progress


def run(options: argparse.Namespace, _progress: Progress) -> str:
    """Add and change judges; what is refused ends with exit code 1, and the others are there."""
    entries = judge_catalogue.load_judges(options.files or judge_catalogue.shipped())
    report = sync_judges(entries=entries, now=timezone.now(), is_dry_run=options.dry_run)
    lines = [*syncing.reported(report), *(["Nothing was written."] if options.dry_run else [])]
    if last := syncing.refusal(report, is_dry_run=options.dry_run):
        raise CommandError("\n".join([*lines, last]), returncode=syncing.REFUSED)
    return "\n".join(lines)


ACTION = Action("sync", "Add and change judges as catalogue files say.", syncing.add_arguments, run)
