"""The answer of the command as a table to read."""

from collections.abc import Iterable, Iterator, Mapping

from ranking.files.ratings.answer import ESTIMATORS, INTERVALS, STRENGTHS
from ranking.files.ratings.options import Options
from ranking.files.ratings.rating import Rated, SystemRow

HEAD = ("Rank", "System", "Elo", "95 %", "Ranks", "Tier", "Judgments", "Won")
LEFT = {1}  # the column of names


def as_text(rated: Rated, options: Options, by: Mapping[str, Rated] | None = None) -> str:
    """Return the table, how it was made, and what to be warned of."""
    lines = [*_method(rated, options), "", *_body(rated)]
    for value, one in (by or {}).items():
        lines += ["", f"== {value} ({one.chosen.judgments.n_judgments} judgments)", *_body(one)]
    return "\n".join(lines)


def _method(rated: Rated, options: Options) -> Iterator[str]:
    n_units = rated.n_units
    yield (
        f"{rated.chosen.judgments.n_judgments} judgments of {len(rated.chosen.judgments.systems)} "
        f"systems on {n_units} different {options.unit} (judges: {rated.chosen.evaluators})"
    )
    yield f"Fit: {ESTIMATORS[options.ties]}; {STRENGTHS[rated.chosen.strength]}"
    yield f"Intervals: {INTERVALS[options.interval]} (seed {options.seed})"


def _body(rated: Rated) -> Iterator[str]:
    if rated.rows:
        yield from _aligned([HEAD, *(_cells(row) for row in rated.rows)])
    if len(rated.components) > 1:
        yield from (f"Group: {', '.join(group)}" for group in rated.components)
    yield from (f"Would join them: {pair}" for pair in rated.joining)
    yield from (f"Note: {warning}" for warning in rated.warnings)


def _cells(row: SystemRow) -> tuple[str, ...]:
    return (
        _or_dash(row.rank),
        row.system,
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
