"""What ``systems check`` and ``judges check`` have in common: one cheap question to each model."""

import argparse
import json
from collections.abc import Collection, Iterator
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from completions.management.actions.assisting import answering
from completions.runs.services.calling import ModelEndpoint
from completions.runs.services.trying import Tried, try_endpoints

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
    rows = [_row(one) for one in tried]
    said = json.dumps(rows) if as_json else "\n".join(line for row in rows for line in _lines(row))
    if any(one.error for one in tried):
        raise CommandError(said, returncode=FAILED)
    return said


def _row(tried: Tried) -> dict[str, Any]:
    about = {"slug": tried.slug, "is_simulated": tried.is_simulated}
    if tried.reply is None:
        error = tried.error
        return about | {"failed": error.kind if error else "", "detail": str(error or "")}
    reply = tried.reply
    return about | {
        "failed": "",
        "latency_ms": reply.latency_ms,
        "honoured": dict(reply.honoured),
        "dropped": list(reply.dropped),
        "stripped": list(reply.stripped),
        "n_prompt_tokens": reply.n_prompt_tokens,
        "n_completion_tokens": reply.n_completion_tokens,
        "cost_usd": reply.cost_usd,
    }


def _lines(row: dict[str, Any]) -> Iterator[str]:
    name = f"{row['slug']} (simulated)" if row["is_simulated"] else row["slug"]
    if row["failed"]:
        yield f"{name}: {row['failed']}: {' '.join(row['detail'].split())}"
        return
    yield f"{name}: answered in {row['latency_ms']} ms; charged {_charged(row)}"
    yield f"  honoured: {', '.join(f'{key} {one}' for key, one in row['honoured'].items())}"
    if row["dropped"]:
        yield f"  dropped: {', '.join(row['dropped'])}"
    if row["stripped"]:
        yield f"  taken off: {', '.join(row['stripped'])}"


def _charged(row: dict[str, Any]) -> str:
    """Return what the question took: tokens and US dollars, as far as anybody says so."""
    asked, answered = row["n_prompt_tokens"], row["n_completion_tokens"]
    tokens = "unknown tokens" if asked is None else f"{asked} + {answered} tokens"
    cost = row["cost_usd"]
    return f"{tokens}, {'an unknown price' if cost is None else f'{cost:.6f} US dollars'}"
