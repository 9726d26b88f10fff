"""Command line of rankings from a file; no database is asked."""

import hashlib
import json
from enum import StrEnum
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotation.tool_files.reading import JudgmentFileError
from completions.management.acting import RefusedError
from ranking.files.options import EvaluatorChoice, IntervalMethod, Options, Ties
from ranking.judgments.code import code_version
from ranking.management.file_options import add_file, add_resampling
from ranking.numerics.strength_mode import StrengthMode

CHOICES: dict[str, tuple[type[StrEnum], str | None, str]] = {
    "strength": (StrengthMode, None, "what a strength does (soft where every judgment has one)"),
    "ties": (Ties, "half", "what becomes of ties (half)"),
    "ci": (IntervalMethod, "bootstrap", "where errors and intervals come from (bootstrap)"),
    "judges": (EvaluatorChoice, None, "whose judgments count (people, where both kinds judged)"),
}


class Command(BaseCommand):
    """Rank the systems of a file of judgments."""

    help = (
        "Rank systems by the judgments in a file, of ours or of another tool (see docs/files.md)."
    )
    requires_system_checks = ()  # they load the whole site, and nothing of it is used

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the file and the options."""
        add_file(parser)
        for name, (choices, default, what) in CHOICES.items():
            parser.add_argument(
                f"--{name}", choices=[one.value for one in choices], default=default, help=what
            )
        add_resampling(parser)
        parser.add_argument("--by", metavar="COLUMN", help="rank for each of its values, too")
        parser.add_argument(
            "--per-component",
            action="store_true",
            help="where judgments leave groups that do not compare, rank inside each",
        )
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def handle(self, *, file: Path, **asked: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Print the ranking; bad input ends with exit code 2."""
        # Imported here, so that other commands do not wait for NumPy and SciPy.
        from ranking.files.answer import as_json, as_text, rate_by  # noqa: PLC0415
        from ranking.files.choosing import RatingRefusedError  # noqa: PLC0415
        from ranking.files.rating import rate  # noqa: PLC0415
        from ranking.files.reading import ReadOptions, read_judgments  # noqa: PLC0415

        options = _options(asked)
        try:
            judgments = read_judgments(
                file, ReadOptions(unit=options.unit, by=asked["by"]), asked["columns"]
            )
            rated = rate(judgments, options)
            by = rate_by(judgments, options) if asked["by"] else None
        except (JudgmentFileError, RatingRefusedError) as error:
            msg = f"{file}: {error}"
            raise RefusedError(msg) from error
        for line in judgments.told:
            self.stderr.write(line)
        if asked["json"]:
            answer = as_json(rated, options, by)
            answer["method"] |= {"code": code_version(), "file_sha256": _sha256(file)}
            answer["method"] |= {"read_as": list(judgments.told)} if judgments.told else {}
            self.stdout.write(json.dumps(answer, allow_nan=False))
        else:
            self.stdout.write(as_text(rated, options, by))
        if rated.refusal:
            msg = f"{file}: {rated.refusal}"
            raise RefusedError(msg)


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _options(options: dict[str, Any]) -> Options:
    return Options(
        strength=StrengthMode(options["strength"]) if options["strength"] else None,
        ties=Ties(options["ties"]),
        interval=IntervalMethod(options["ci"]),
        evaluators=EvaluatorChoice(options["judges"]) if options["judges"] else None,
        replicates=options["reps"],
        seed=options["seed"],
        unit=options["unit"],
        per_component=options["per_component"],
    )
