"""Command line of the regression gate, for a pipeline."""

import argparse
import json
import math
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.management.studies import study_named
from completions.management.acting import put, refusing
from ranking.findings import AnalysisRefusedError
from ranking.fits import services as fit_services
from ranking.gate import services as gate_services
from ranking.gate.report import HEADLINES, GateReport, as_json, as_markdown, as_radar, as_text
from ranking.gate.rules import GateRequest, Outcome, UnknownSystemError
from ranking.plots.radar import TooFewAxesError

REFUSALS = (
    AnalysisRefusedError,
    UnknownSystemError,
    fit_services.JudgmentsChangedError,
    gate_services.NoFitError,
)


class Command(BaseCommand):
    """Pass a candidate, or stop it, by what a study says of it and of a baseline."""

    help = "Hold a candidate against a baseline: exit code 0 pass, 1 regress, 2 not enough data."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the systems, the drop allowed, and what to write."""
        parser.add_argument("--study", required=True, help="the study's slug")
        parser.add_argument("--candidate", required=True, help="slug of the system to let through")
        parser.add_argument(
            "--baseline", required=True, help="slug of the one it may not fall below"
        )
        parser.add_argument(
            "--max-drop", type=_points, default=15.0, metavar="POINTS", help="Elo points allowed"
        )
        parser.add_argument("--json", action="store_true", help="answer as JSON, for a program")
        parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a summary there")
        parser.add_argument("--radar", type=Path, metavar="FILE", help="draw dimensions there, SVG")

    def handle(self, **asked: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Print what was found, and end with its exit code; what cannot be asked ends with 2."""
        with refusing(*REFUSALS):
            report = _report(asked)
            self._write(report, asked)
        outcome = report.gate.outcome
        if outcome is not Outcome.HELD:
            raise CommandError(HEADLINES[outcome], returncode=outcome.exit_code)

    def _write(self, report: GateReport, options: dict[str, Any]) -> None:
        if options["markdown"]:
            put([as_markdown(report).encode()], options["markdown"], is_forced=True)
        if options["radar"]:
            self._draw(report, options["radar"])
        said = json.dumps(as_json(report), allow_nan=False) if options["json"] else as_text(report)
        self.stdout.write(said)

    def _draw(self, report: GateReport, path: Path) -> None:
        """Draw the dimensions; a study without enough of them is no less decided."""
        try:
            put([as_radar(report).encode()], path, is_forced=True)
        except TooFewAxesError as refusal:
            self.stderr.write(f"There is no picture: {refusal}.")


def _report(options: dict[str, Any]) -> GateReport:
    return gate_services.ask_gate(
        study=study_named(options["study"]),
        request=GateRequest(options["candidate"], options["baseline"], options["max_drop"]),
    )


def _points(text: str) -> float:
    """Read how many points are allowed."""
    points = float(text)
    if not (math.isfinite(points) and points >= 0.0):
        msg = "must be 0 or more"
        raise argparse.ArgumentTypeError(msg)
    return points
