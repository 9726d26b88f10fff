"""What commands that ask models have in common: who is asked, and one cheap question to each."""

import argparse
import json
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from completions import offline
from completions.runs.services.budgeting import ModelEndpoint
from completions.runs.services.trying import told, try_endpoints
from completions.systems.services import registering


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
