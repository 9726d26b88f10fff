"""What actions that ask assistants have in common."""

import argparse
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from django.conf import settings

from completions import offline
from completions.runs.services.calling import ModelEndpoint
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
