"""Command line of agreement in a file; no database is asked."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ranking.management.file_options import BAD_INPUT, add_file, add_resampling


class Command(BaseCommand):
    """Say how far the evaluators of a file of judgments agree."""

    help = "Measure agreement in a file of judgments (see docs/files.md)."
    requires_system_checks = ()  # they load the whole site, and nothing of it is used

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the file and the options."""
        add_file(parser)
        add_resampling(parser)
        parser.add_argument("--json", action="store_true", help="print JSON instead of tables")

    def handle(self, *, file: Path, **asked: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Print the figures; bad input ends with exit code 2."""
        # Imported here, so that listing the commands does not wait for NumPy and SciPy.
        from ranking.files.agreement.measuring import (  # noqa: PLC0415
            AgreementRefusedError,
            Resampling,
            agreement,
        )
        from ranking.files.agreement.text import as_text  # noqa: PLC0415
        from ranking.files.judgments import (  # noqa: PLC0415
            JudgmentFileError,
            ReadOptions,
            read_judgments,
        )

        options = ReadOptions(
            required=("rater_id",),
            optional=("strength", "judge_kind", "pair_id"),
            unit=asked["unit"],
        )
        try:
            judgments = read_judgments(file, options, asked["columns"])
            found = agreement(judgments, Resampling(asked["reps"], asked["seed"], asked["unit"]))
        except (JudgmentFileError, AgreementRefusedError) as error:
            msg = f"{file}: {error}"
            raise CommandError(msg, returncode=BAD_INPUT) from error
        for line in judgments.told:
            self.stderr.write(line)
        if asked["json"]:
            read_as = {"read_as": list(judgments.told)} if judgments.told else {}
            self.stdout.write(json.dumps(found | read_as, allow_nan=False))
        else:
            self.stdout.write(as_text(found))
