"""What ``systems check`` and ``judges check`` have in common: one cheap question to each model."""

import argparse
import json
from collections.abc import Collection

from django.core.management.base import CommandError
from django.utils import timezone

from completions.management.assisting import answering
from completions.runs.services.calling import ModelEndpoint
from completions.runs.services.trying import row_of, told, try_endpoints

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare whom to ask."""
    parser.add_argument("slugs", nargs="*", metavar="SLUG", help="whom to ask; all without any")
    parser.add_argument("--json", action="store_true", help="print JSON")


def check(endpoints: Collection[ModelEndpoint], *, in_json: bool, as_json: bool) -> str:
    """Ask each model one question, and return what it took, what was left out and its price.

    Raises
    ------
    CommandError
        If one of them failed, with all of the report and exit code 1.
    """
    with answering(*endpoints):
        tried = try_endpoints(endpoints, clock=timezone.now, in_json=in_json)
    rows = [row_of(one) for one in tried]
    said = json.dumps(rows) if as_json else told(tried)
    if any(one.error for one in tried):
        raise CommandError(said, returncode=FAILED)
    return said
