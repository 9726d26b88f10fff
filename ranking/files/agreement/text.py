"""The agreement of a file as tables to read."""

from collections.abc import Iterator, Mapping
from typing import Any

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
    return "\n".join(lines)


def _figures(found: Mapping[str, Any]) -> Iterator[str]:
    alphas = found["krippendorff_alpha"]
    yield f"{found['items']} pairs judged by {found['raters']} ({found['method']['panel']})"
    yield f"Raw agreement         {_number(found['raw_agreement'])}"
    yield f"Fleiss' kappa         {_number(found['fleiss_kappa'])}"
    for metric, alpha in alphas.items():
        yield f"{f'Alpha, {metric}':<22}{_number(alpha)}"
    yield f"Gwet's AC1            {_number(found['gwet_ac1'])}"


def _table(title: str, rows: list[Mapping[str, Any]], keys: tuple[str, ...]) -> list[str]:
    """Return the rows with most judgments, in columns."""
    if not rows:
        return []
    shown = sorted(rows, key=lambda row: -row["n"])[:MOST_LINES]
    cells = [keys, *(tuple(_cell(row[key]) for key in keys) for row in shown)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    more = [f"and {len(rows) - len(shown)} more (--json)"] if len(rows) > len(shown) else []
    return ["", title, *lines, *more]


def _cell(value: object) -> str:
    return value if isinstance(value, str) else _number(value)


def _number(value: object) -> str:
    if isinstance(value, float):
        if 0.0 < value < SMALLEST:
            return "<0.001"
        return f"{value:.3f}"
    return "-" if value is None else str(value)
