"""What sets one kind of run apart for the actions that all kinds share."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from completions.models import Run
from completions.runs import queries


def _nothing(_run: Any) -> str:  # noqa: ANN401 (any kind of run)
    return ""


@dataclass(frozen=True)
class Kind:
    """A command with runs of its own."""

    command: str
    """Its name, for the sentence that says how to go on."""
    model: type[Run]
    work: Callable[..., int]
    """Makes waiting calls of ``run`` for ``duration_s`` and tells ``stored``; returns how many."""
    obstacle: Callable[[Any], str] = _nothing
    """Says why no call of a run can be made now, or nothing."""

    def find(self, number: int) -> Any:  # noqa: ANN401 (any kind of run)
        """Return the run of that number, or raise RunNotFoundError."""
        return queries.run_numbered(self.model._default_manager.all(), number)  # noqa: SLF001


def dollars(text: str) -> Decimal:
    """Read a sum of US dollars above zero."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(0)
    if not (value.is_finite() and value > 0):
        msg = f"{text!r} is not a sum of US dollars above zero, such as 2.50"
        raise argparse.ArgumentTypeError(msg)
    return value


def add_number(parser: argparse.ArgumentParser) -> None:
    """Declare the number of a run."""
    parser.add_argument("run", type=int, metavar="RUN", help="Number of the run.")


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Declare how much may be spent."""
    parser.add_argument(
        "--budget",
        type=dollars,
        metavar="USD",
        help="What the run may spend in all; calls that might exceed it are not made.",
    )


def add_no_wait(parser: argparse.ArgumentParser) -> None:
    """Declare that workers are to make the calls."""
    parser.add_argument(
        "--no-wait",
        action="store_true",
        help="Leave the calls to workers; without it, this command makes them by itself.",
    )
