"""What the actions of ``manage.py fits`` and ``release`` are asked about, and how they answer."""

import argparse
import datetime as dt
import json
from collections.abc import Iterable
from typing import Any, ClassVar

from django.core.management.base import CommandError
from django.utils import timezone

from completions.management.acting import ActionCommand
from ranking.judgments.method import code_version
from ranking.models import Analysis, Fit

UNSOUND = 1


class UnsoundError(Exception):
    """What is stored is not what it should be; the message is the whole report."""


class VerifyingCommand(ActionCommand):
    """Run an action; what it finds unsound is reported in full, with exit code 1."""

    unsound: ClassVar[str]

    def handle(self, *arguments: object, **options: object) -> str:
        """Run the action."""
        try:
            return super().handle(*arguments, **options)
        except UnsoundError as report:
            self.stdout.write(str(report))
            raise CommandError(self.unsound, returncode=UNSOUND) from report


def add_study(parser: argparse.ArgumentParser) -> None:
    """Let the action be about one study, and answer a program if wanted."""
    parser.add_argument("--study", required=True, help="the study's slug")
    parser.add_argument("--json", action="store_true", help="answer as JSON, for a program")


def add_fit(parser: argparse.ArgumentParser) -> None:
    """Declare the study and the fit."""
    add_study(parser)
    parser.add_argument("--fit", required=True, help="the fit's permanent name")


def line_of(row: Fit) -> str:
    """Return a fit as one line."""
    simulated = ", simulated" if row.is_simulated else ""
    took = "" if row.took is None else f" in {seconds(row.took)} s"
    return (
        f"{row.key}  {row.get_pool_display()}, {row.get_context_set_display()}{simulated}: "
        f"{row.get_state_display()}{took}, "
        f"{row.n_judgments:,} judgments as of {row.as_of:%Y-%m-%d %H:%M:%S} UTC"
    )


def line_of_analysis(one: Analysis) -> str:
    """Return an analysis as one line."""
    took = "" if one.took is None else f" in {seconds(one.took)} s"
    why = f": {one.refusal}" if one.refusal else ""
    return f"  {one.get_kind_display()}  {one.state.lower()}{took}{why}"


def as_json(row: Fit, analyses: Iterable[Analysis] = ()) -> dict[str, Any]:
    """Return a fit for a program."""
    return {
        "key": row.key,
        "pool": row.get_pool_display(),
        "context_set": row.get_context_set_display(),
        "state": row.state,
        "n_judgments": row.n_judgments,
        "as_of": row.as_of.isoformat(),
        "age": max((timezone.now() - row.as_of).total_seconds(), 0.0),
        "took": None if row.took is None else row.took.total_seconds(),
        "refusal": row.refusal,
        "is_simulated": row.is_simulated,
        "is_by_present_code": row.code_version == code_version(),
        "is_published": row.published_at is not None,
        "analyses": [
            {"kind": one.kind, "state": one.state, "refusal": one.refusal} for one in analyses
        ],
    }


def dumped(content: object) -> str:
    """Return it as JSON."""
    return json.dumps(content, indent=2, ensure_ascii=False)


def seconds(length: dt.timedelta) -> str:
    """Write a length of time with one decimal."""
    return f"{length.total_seconds():,.1f}"
