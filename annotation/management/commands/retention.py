"""Command line of retention: what falls due when, and deleting what is due."""

import argparse
from collections.abc import Iterable

from django.utils import timezone

from annotation.retention import queries, services
from annotation.retention.queries import Due
from completions.management.acting import Action, ActionCommand, Progress


def show(_asked: argparse.Namespace, _progress: Progress) -> str:
    """List what is held and when it goes; nothing changes."""
    return _listed(queries.what_is_due(now=timezone.now()))


def apply(_asked: argparse.Namespace, _progress: Progress) -> str:
    """Delete what is due, and list it."""
    return _listed(services.enforce_retention(now=timezone.now()))


def _listed(rows: Iterable[Due]) -> str:
    lines = [f"{_when(one):<16}{one.kind:<11}{one.subject:<40}{one.n:>10,}" for one in rows]
    return "\n".join(lines) or "Nothing."


def _when(due: Due) -> str:
    if due.due_on is None:
        return "kept"
    return f"{due.due_on}{' due' if due.is_due else ''}"


class Command(ActionCommand):
    """Show what falls due when, or delete what is due."""

    help = "What is held about people falls due: show it, or delete what is due."
    actions = (
        Action(
            "show", "List what is held and when it goes; nothing changes.", lambda _: None, show
        ),
        Action("apply", "Delete what is due.", lambda _: None, apply),
    )
