"""The actions of ``manage.py contexts``, one per module."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from completions.management.progress import Progress


@dataclass(frozen=True)
class Action:
    """One word after ``contexts``: its options, what it does, and what it answers.

    ``run`` returns the text for standard output; progress and remarks go to ``Progress``.
    """

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Progress], str]


def whole(text: str, *, least: int = 0) -> int:
    """Read a whole number from ``least`` (0 or 1) on."""
    if not text.isdecimal() or int(text) < least:
        msg = f"{text!r} is not a whole number{' above zero' if least else ''}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def positive(text: str) -> int:
    """Read a whole number above zero."""
    return whole(text, least=1)
