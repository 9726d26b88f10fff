"""Command line of agreement in a file; no database is asked."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotation.tool_files.reading import JudgmentFileError
from completions.files.refusals import counted, shown
from completions.management.acting import RefusedError, aligned
from ranking.management.file_options import add_file, add_resampling


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
        from ranking.files.agreement import (  # noqa: PLC0415
            AgreementRefusedError,
            Resampling,
            agreement,
        )
        from ranking.files.reading import ReadOptions, read_judgments  # noqa: PLC0415

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
            raise RefusedError(msg) from error
        for line in judgments.told:
            self.stderr.write(shown(line))
        if asked["json"]:
            read_as = {"read_as": list(judgments.told)} if judgments.told else {}
            self.stdout.write(json.dumps(found | read_as, allow_nan=False))
        else:
            self.stdout.write(as_text(found))


MOST_LINES = 20
SMALLEST = 0.0005  # what three decimals would show as nothing


def as_text(found: Mapping[str, Any]) -> str:
    """Return the figures, the evaluators, and what to be warned of."""
    lines = [*_figures(found)]
    lines += _table("Pairs of evaluators", found["pairs"], ("a", "b", "n", "agreement", "kappa"))
    lines += _table(
        "LLM judges against the majority of people",
        found["llm_vs_human_majority"] or [],
        ("judge", "n", "agreement", "ci_low", "ci_high"),
    )
    lines += _table(
        "Preference for what is shown first",
        found["position"],
        ("evaluator", "n", "first_share", "p"),
    )
    lines += [f"Note: {warning}" for warning in found["warnings"]]
    return "\n".join(map(shown, lines))


def _figures(found: Mapping[str, Any]) -> Iterator[str]:
    alphas = found["krippendorff_alpha"]
    pairs = counted(found["items"], "pair")
    yield f"{pairs} judged by {found['raters']} ({found['method']['panel']})"
    yield f"Raw agreement         {_number(found['raw_agreement'])}"
    yield f"Fleiss' kappa         {_number(found['fleiss_kappa'])}"
    for metric, alpha in alphas.items():
        yield f"{f'Alpha, {metric}':<22}{_number(alpha)}"
    yield f"Gwet's AC1            {_number(found['gwet_ac1'])}"


def _table(title: str, rows: list[Mapping[str, Any]], keys: tuple[str, ...]) -> list[str]:
    """Return the rows with most judgments, in columns."""
    if not rows:
        return []
    listed = sorted(rows, key=lambda row: -row["n"])[:MOST_LINES]
    cells = [keys, *(tuple(_cell(row[key]) for key in keys) for row in listed)]
    more = [f"and {len(rows) - len(listed)} more (--json)"] if len(rows) > len(listed) else []
    return ["", title, *aligned(cells, n_words=len(keys)), *more]


def _cell(value: object) -> str:
    return shown(value) if isinstance(value, str) else _number(value)


def _number(value: object) -> str:
    if isinstance(value, float):
        if 0.0 < value < SMALLEST:
            return "<0.001"
        return f"{value:.3f}"
    return "-" if value is None else str(value)
