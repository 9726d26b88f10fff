"""What the actions of ``manage.py fits`` are asked about, and how they write it."""

import argparse
import datetime as dt
import json
from dataclasses import asdict
from typing import Any

from ranking.fits.analysis_queries import AnalysisRow
from ranking.fits.queries import FitRow


def add_study(parser: argparse.ArgumentParser) -> None:
    """Let the action be about one study, and answer a program if wanted."""
    parser.add_argument("--study", required=True, help="the study's slug")
    parser.add_argument("--json", action="store_true", help="answer as JSON, for a program")


def line_of(row: FitRow) -> str:
    """Return a fit as one line."""
    simulated = ", simulated" if row.is_simulated else ""
    took = "" if row.took is None else f" in {seconds(row.took)} s"
    return (
        f"{row.key}  {row.pool}, {row.context_set}{simulated}: {row.state_label}{took}, "
        f"{row.n_judgments:,} judgments as of {row.as_of:%Y-%m-%d %H:%M:%S} UTC"
    )


def line_of_analysis(one: AnalysisRow) -> str:
    """Return an analysis as one line."""
    took = "" if one.took is None else f" in {seconds(one.took)} s"
    why = f": {one.refusal}" if one.refusal else ""
    return f"  {one.label}  {one.state.lower()}{took}{why}"


def as_json(row: FitRow) -> dict[str, Any]:
    """Return a fit for a program."""
    content = asdict(row) | {
        "as_of": row.as_of.isoformat(),
        "age": row.age.total_seconds(),
        "took": None if row.took is None else row.took.total_seconds(),
        "analyses": [
            {"kind": one.kind.value, "state": one.state.value, "refusal": one.refusal}
            for one in row.analyses
        ],
    }
    return {name: value for name, value in content.items() if name != "state_label"}


def dumped(content: object) -> str:
    """Return it as JSON."""
    return json.dumps(content, indent=2, ensure_ascii=False)


def seconds(length: dt.timedelta) -> str:
    """Write a length of time with one decimal."""
    return f"{length.total_seconds():,.1f}"
