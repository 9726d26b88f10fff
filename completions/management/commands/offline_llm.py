"""Command line of the offline provider."""

import argparse
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from completions import offline
from completions.management.acting import refusing

DEFAULT_PORT = 8899
ENDING = (signal.SIGINT, signal.SIGTERM)


def fault_rate(text: str) -> tuple[offline.Fault, float]:
    """Read ``FAULT=SHARE``, such as ``429=0.05``."""
    name, _, share = text.partition("=")
    try:
        return offline.Fault(name), float(share)
    except ValueError as error:
        known = ", ".join(offline.Fault)
        msg = f"{text!r} is not FAULT=SHARE with a share from 0 to 1; faults are {known}"
        raise argparse.ArgumentTypeError(msg) from error


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let both signals that end a process interrupt the block.

    Python's own handler of Ctrl-C is not there in a job that a shell started in the background.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, signal.default_int_handler) for one in ENDING}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


class Command(BaseCommand):
    """Serve the simulated supporters and judges in the ways of three providers."""

    help = (
        "Serve the simulated supporters and judges until Ctrl-C, as OpenAI's chat completions, "
        "Anthropic's messages and Google's generateContent."
    )

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
        parser.add_argument(
            "--any-model",
            action="store_true",
            help="Let simulated models answer for models of any name.",
        )
        parser.add_argument(
            "--log",
            type=Path,
            metavar="FILE",
            help="Append every call as a line of JSON, with the dialogue in it.",
        )

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Serve until Ctrl-C or SIGTERM."""
        arguments = argparse.Namespace(**options)
        with ExitStack() as stack:
            with refusing(ValueError, OSError):
                server = stack.enter_context(_server(arguments))
                if arguments.log is not None:
                    server.log = stack.enter_context(arguments.log.open("a", encoding="utf-8"))
            stack.enter_context(ended_by_signals())
            self.stdout.write(f"Simulated models at {server.base_url} (Ctrl-C stops)")
            self.stdout.flush()
            server.serve_until_interrupted()


def _server(options: argparse.Namespace) -> offline.OfflineServer:
    behaviour = offline.Behaviour(
        latency_s=options.latency,
        tokens_per_s=options.tokens_per_second,
        rates=dict(options.fault),
        retry_after_s=options.retry_after,
        seed=options.seed,
        stand_ins=options.any_model,
    )
    return offline.OfflineServer(host=options.host, port=options.port, behaviour=behaviour)
