"""What the commands that read a file of judgments have in common."""

import argparse
from collections.abc import Callable

from django.core.management.base import CommandParser

BAD_INPUT = 2


def add_resampling(parser: CommandParser) -> None:
    """Declare by what, how often and from which seed to resample."""
    parser.add_argument(
        "--unit", default="context_id", metavar="COLUMN", help="what was sampled independently"
    )
    parser.add_argument("--reps", type=_at_least(2), default=1000, metavar="N", help="resamples")
    parser.add_argument("--seed", type=_at_least(0), default=0, metavar="N", help="of chance")


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            msg = f"must be {least} or more"
            raise argparse.ArgumentTypeError(msg)
        return value

    return number
