"""What commands that ask models, or bring catalogues of them into tables, have in common."""

import argparse
import json
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from completions import offline
from completions.runs.services.budgeting import ModelEndpoint
from completions.runs.services.trying import told, try_endpoints
from completions.systems.queries import variables_of
from completions.systems.services import registering
from completions.systems.services.syncing import Changes, SyncReport


def add_assistant(parser: argparse.ArgumentParser, flag: str, whose: str) -> None:
    """Declare the option that names an assistant."""
    parser.add_argument(
        flag,
        default=registering.OFFLINE,
        metavar="MODEL",
        help=f"{whose}: a model as LiteLLM spells it, or {registering.OFFLINE} (the default), "
        "which is simulated.",
    )


@contextmanager
def answering(*asked: ModelEndpoint) -> Iterator[None]:
    """Run the offline provider for the length of the block, if it is needed and not running."""
    if not any(one.is_simulated for one in asked) or _is_running():
        yield
        return
    before = settings.HEART_OFFLINE_LLM_URL
    with offline.serving() as url:
        settings.HEART_OFFLINE_LLM_URL = url
        try:
            yield
        finally:
            settings.HEART_OFFLINE_LLM_URL = before


def _is_running() -> bool:
    """Say whether anybody answers where the offline provider should be."""
    address = urlsplit(settings.HEART_OFFLINE_LLM_URL)
    try:
        with socket.create_connection((address.hostname or "", address.port or 80), timeout=1):
            return True
    except OSError:
        return False


FAILED = 1


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
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
    said = json.dumps(tried) if as_json else told(tried)
    if any(one["failed"] for one in tried):
        raise CommandError(said, returncode=FAILED)
    return said


REFUSED = 1
"""The exit code that tells of refused entries."""
_LONGEST_VALUE = 60


def add_catalogue_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the files and the dry run."""
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="Catalogue files; without any, those that come with the platform.",
    )
    parser.add_argument("--dry-run", action="store_true", help="Report, and write nothing.")


def reported(report: SyncReport) -> Iterator[str]:
    """Yield a line for each entry that was not as the catalogue says, then the counts."""
    for slug in report.added:
        yield f"added     {slug}"
    for slug, changes in report.changed.items():
        yield f"changed   {slug}: {_told(changes)}"
    for slug, reason in report.refused.items():
        yield f"refused   {slug}: {reason}"
    yield (
        f"{len(report.added)} added, {len(report.changed)} changed, "
        f"{len(report.unchanged)} unchanged, {len(report.refused)} refused"
    )


def refusal(report: SyncReport, *, is_dry_run: bool) -> str:
    """Return the last line of a report with refused entries, or nothing if there is none."""
    others = "nothing was written" if is_dry_run else "the others are in the table"
    return f"{len(report.refused)} refused, as told above; {others}." if report.refused else ""


def how_asked(endpoint: Any) -> str:  # noqa: ANN401 (a system or judge)
    """Return a line on how a model is asked, and which of its variables the environment has."""
    at = f" at {endpoint.api_base}" if endpoint.api_base else ""
    variables = variables_of(endpoint).items()
    needs = "".join(f", {name} {'set' if is_set else 'MISSING'}" for name, is_set in variables)
    return f"  {endpoint.model_id} of {endpoint.family}{at}{needs}"


def _told(changes: Changes) -> str:
    return "; ".join(
        f"{name}: {_short(before)} -> {_short(after)}" for name, (before, after) in changes.items()
    )


def _short(value: object) -> str:
    text = str(value) or "nothing"
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."
