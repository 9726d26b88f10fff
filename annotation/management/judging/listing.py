"""``judges list``: the judges that are registered, and what their calls still need."""

import argparse
import os
from collections.abc import Iterator

from annotation.judges import queries
from annotation.judges.queries import JudgeRow
from completions.management import syncing
from completions.management.actions import Action
from completions.management.progress import Progress


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """Declare no option."""


def run(_asked: argparse.Namespace, _progress: Progress) -> str:
    """Print two lines for each judge."""
    return "\n".join(_listed(queries.judge_rows(os.environ)))


def _listed(rows: list[JudgeRow]) -> Iterator[str]:
    if not rows:
        yield "No judges yet: `manage.py judges sync` registers those of the catalogue."
    for row in rows:
        simulated = " (simulated)" if row.is_simulated else ""
        at = f" at {row.api_base}" if row.api_base else ""
        yield f"{row.slug}: {row.name}{simulated}, {row.n_calls:,} calls"
        yield f"  {row.model_id} of {row.family}{at}{syncing.needs(row.variables)}"


ACTION = Action("list", "List judges, and what their calls still need.", add_arguments, run)
