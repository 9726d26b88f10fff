"""Command line of the offline provider."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from completions import offline

DEFAULT_PORT = 8899


def fault_rate(text: str) -> tuple[offline.Fault, float]:
    """Read ``FAULT=SHARE``, such as ``429=0.05``."""
    name, _, share = text.partition("=")
    try:
        return offline.Fault(name), float(share)
    except ValueError as error:
        known = ", ".join(offline.Fault)
        msg = f"{text!r} is not FAULT=SHARE with a share from 0 to 1; faults are {known}"
        raise argparse.ArgumentTypeError(msg) from error


class Command(BaseCommand):
    """Serve the simulated supporters and judges over an OpenAI-compatible API."""

    help = "Serve the simulated supporters and judges on an OpenAI-compatible API until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the address, the pace and the faults."""
        parser.add_argument("--host", default=offline.LOOPBACK)
        parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0: any free port.")
        parser.add_argument("--latency", type=float, default=0.0, help="Seconds to first token.")
        parser.add_argument("--tokens-per-second", type=float, help="Default: all at once.")
        parser.add_argument("--retry-after", type=float, default=1.0, help="Seconds, with 429.")
        parser.add_argument("--seed", type=int, default=0, help="Fixes which calls fail.")
        parser.add_argument(
            "--fault",
            action="append",
            default=[],
            type=fault_rate,
            metavar="FAULT=SHARE",
            help=f"Share of calls that fail in one way: {', '.join(offline.Fault)}. Repeatable.",
        )

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Serve until Ctrl-C."""
        asked = argparse.Namespace(**options)
        try:
            behaviour = offline.Behaviour(
                latency_s=asked.latency,
                tokens_per_s=asked.tokens_per_second,
                rates=dict(asked.fault),
                retry_after_s=asked.retry_after,
                seed=asked.seed,
            )
            server = offline.OfflineServer(host=asked.host, port=asked.port, behaviour=behaviour)
        except (ValueError, OSError) as error:
            raise CommandError(str(error), returncode=2) from error
        self.stdout.write(f"Simulated models at {server.base_url} (Ctrl-C stops)")
        self.stdout.flush()
        with server:
            server.serve_until_interrupted()
