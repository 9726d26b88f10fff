"""What the commands that read a file of judgments have in common."""

import argparse
from collections.abc import Callable
from pathlib import Path

from django.core.management.base import CommandParser

from annotation.tool_files.reading import columns_named


def add_file(parser: CommandParser) -> None:
    """Declare the file of judgments, and what its columns are called."""
    parser.add_argument(
        "file", type=Path, help="judgments: CSV, JSON or Parquet, of ours or of another tool"
    )
    parser.add_argument(
        "--columns",
        type=_columns,
        default={},
        metavar="OURS=THEIRS,...",
        help="which columns stand for ours, such as system_a=model_a,winner=preference",
    )


def _columns(text: str) -> dict[str, str]:
    try:
        return columns_named(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_resampling(parser: CommandParser) -> None:
    """Declare by what, how often and from which seed to resample."""
    parser.add_argument(
        "--unit",
        type=column,
        default="context_id",
        metavar="COLUMN",
        help="what was sampled independently",
    )
    parser.add_argument("--reps", type=_at_least(2), default=1000, metavar="N", help="resamples")
    parser.add_argument("--seed", type=_at_least(0), default=0, metavar="N", help="of chance")


def column(text: str) -> str:
    """Read the name of a column."""
    if not text.strip():
        msg = "name a column"
        raise argparse.ArgumentTypeError(msg)
    return text


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            msg = f"must be {least} or more"
            raise argparse.ArgumentTypeError(msg)
        return value

    return number
