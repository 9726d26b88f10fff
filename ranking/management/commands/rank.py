"""Command line of rankings from a file; no database is asked."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandParser

from annotation.tool_files.reading import JudgmentFileError
from completions.files.refusals import counted, shown
from completions.management.acting import RefusedError
from ranking.files.options import LEVEL, EvaluatorChoice, IntervalMethod, Options, Ties
from ranking.judgments.method import code_version
from ranking.management.file_options import add_file, add_resampling, column
from ranking.numerics.strength_mode import StrengthMode

if TYPE_CHECKING:
    from ranking.files.rating import Rated, SystemRow

CHOICES: dict[str, tuple[type[StrEnum], str | None, str]] = {
    "strength": (StrengthMode, None, "what a strength does (soft where every judgment has one)"),
    "ties": (Ties, "half", "what becomes of ties (half)"),
    "ci": (IntervalMethod, "bootstrap", "where errors and intervals come from (bootstrap)"),
    "judges": (EvaluatorChoice, None, "whose judgments count (people, where both kinds judged)"),
}

# The standard deviation of a 2.5 % quantile of R draws, in standard errors, is this over sqrt(R).
QUANTILE_NOISE = 2.671
ESTIMATORS = {
    Ties.HALF: "Bradley-Terry, maximum likelihood, ties as half a win to each side",
    Ties.DROP: "Bradley-Terry, maximum likelihood, ties left out",
    Ties.DAVIDSON: "Davidson's model with ties, maximum likelihood",
    Ties.RAO_KUPPER: "the model of Rao and Kupper with ties, maximum likelihood",
}
STRENGTHS = {
    StrengthMode.SOFT: "the winner takes 0.55, 0.65, 0.75, 0.85 or 0.95 of a judgment",
    StrengthMode.MULTIPLY: "a judgment counts as many times as its strength",
    StrengthMode.IGNORE: "the winner takes the judgment, once",
}
INTERVALS = {
    IntervalMethod.BOOTSTRAP: "bootstrap of units, refitted, percentiles",
    IntervalMethod.SANDWICH: "cluster-robust covariance by unit, t quantiles",
    IntervalMethod.FISHER: "inverse information, normal quantiles",
    IntervalMethod.PAPER: "1 / sqrt(n), normal quantiles",
}
HEAD = ("Rank", "System", "Elo", "95 %", "Ranks", "Tier", "Judgments", "Won")
LEFT = {1}  # the column of names


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
        parser.add_argument(
            "--by", type=column, metavar="COLUMN", help="rank for each of its values, too"
        )
        parser.add_argument(
            "--per-component",
            action="store_true",
            help="where judgments leave groups that do not compare, rank inside each",
        )
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def handle(self, *, file: Path, **asked: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Print the ranking; bad input ends with exit code 2."""
        # Imported here, so that other commands do not wait for NumPy and SciPy.
        from ranking.files.choosing import RatingRefusedError  # noqa: PLC0415
        from ranking.files.rating import rate, rate_by  # noqa: PLC0415
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
            self.stderr.write(shown(line))
        if asked["json"]:
            answer = _as_json(rated, options, by)
            answer["method"] |= {"code": code_version(), "file_sha256": _sha256(file)}
            answer["method"] |= {"read_as": list(judgments.told)} if judgments.told else {}
            self.stdout.write(json.dumps(answer, allow_nan=False))
        else:
            self.stdout.write(_as_text(rated, options, by))
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


def _as_json(
    rated: "Rated", options: Options, by: "Mapping[str, Rated] | None" = None
) -> dict[str, Any]:
    """Return the answer with the keys that docs/files.md lists; ``by`` holds one per group."""
    answer: dict[str, Any] = {
        "method": _method(rated, options),
        "n_judgments": rated.chosen.judgments.n_judgments,
        "converged": rated.refusal is None,
        "components": [list(group) for group in rated.components],
        "warnings": list(rated.warnings),
        "systems": [asdict(row) for row in rated.rows],
    }
    if rated.joining:
        answer["joining"] = list(rated.joining)
    if by is not None:
        answer["by"] = {value: _as_json(one, options) for value, one in by.items()}
    return answer


def _method(rated: "Rated", options: Options) -> dict[str, Any]:
    strength = rated.chosen.strength
    method: dict[str, Any] = {
        "estimator": ESTIMATORS[options.ties],
        "strength": strength.value,
        "strength_means": STRENGTHS[strength],
        "ties": options.ties.value,
        "regulariser": None,
        "evaluators": rated.chosen.evaluators.value,
        "ci": options.interval.value,
        "ci_means": INTERVALS[options.interval],
        "level": LEVEL,
        "unit": options.unit,
        "n_units": rated.n_units,
        "replicates": options.replicates,
        "replicates_without_maximum": rated.n_without_maximum,
        "seed": options.seed,
        "ranks": "simultaneous pairwise differences (max-t)",
        "tiers": "a system joins while its upper end reaches the lower end of the tier's first",
        "scale": "theta: natural log, mean 0; elo: 1500 + 400 theta / ln 10",
        "per_component": options.per_component and len(rated.components) > 1,
    }
    if rated.draw_parameter is not None:
        name = "nu" if options.ties is Ties.DAVIDSON else "ln eta"
        method["draw_parameter"] = {"name": name, "value": rated.draw_parameter}
    if options.interval is IntervalMethod.BOOTSTRAP:
        method["monte_carlo_error"] = _noise(rated, options)
    return method


def _noise(rated: "Rated", options: Options) -> float | None:
    """Return how far chance may move the end of an interval, in Elo points, at most."""
    errors = [row.se for row in rated.rows if row.se is not None]
    return max(errors) * QUANTILE_NOISE / options.replicates**0.5 if errors else None


def _as_text(rated: "Rated", options: Options, by: "Mapping[str, Rated] | None" = None) -> str:
    """Return the table, how it was made, and what to be warned of."""
    lines = [*_method_lines(rated, options), "", *_body(rated)]
    for value, one in (by or {}).items():
        lines += ["", f"== {value} ({_n_judgments(one)})", *_body(one)]
    return "\n".join(map(shown, lines))


def _method_lines(rated: "Rated", options: Options) -> Iterator[str]:
    n_units = rated.n_units
    yield (
        f"{_n_judgments(rated)} of {len(rated.chosen.judgments.systems)} "
        f"systems on {n_units} different {options.unit} (judges: {rated.chosen.evaluators})"
    )
    yield f"Fit: {ESTIMATORS[options.ties]}; {STRENGTHS[rated.chosen.strength]}"
    yield f"Intervals: {INTERVALS[options.interval]} (seed {options.seed})"


def _n_judgments(rated: "Rated") -> str:
    return counted(rated.chosen.judgments.n_judgments, "judgment")


def _body(rated: "Rated") -> Iterator[str]:
    if rated.rows:
        yield from _aligned([HEAD, *(_cells(row) for row in rated.rows)])
    if len(rated.components) > 1:
        yield from (f"Group: {', '.join(group)}" for group in rated.components)
    yield from (f"Would join them: {pair}" for pair in rated.joining)
    yield from (f"Note: {warning}" for warning in rated.warnings)


def _cells(row: "SystemRow") -> tuple[str, ...]:
    return (
        _or_dash(row.rank),
        shown(row.system),
        _points(row.elo),
        f"{_points(row.ci_low)} to {_points(row.ci_high)}" if row.ci_low is not None else "-",
        f"{row.rank_low}-{row.rank_high}" if row.rank_low is not None else "-",
        _or_dash(row.tier),
        str(row.n),
        f"{100 * row.win_rate:.1f} %" if row.win_rate is not None else "-",
    )


def _aligned(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = zip(range(len(row)), row, widths, strict=True)
        yield "  ".join(c.ljust(w) if i in LEFT else c.rjust(w) for i, c, w in cells).rstrip()


def _points(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)
