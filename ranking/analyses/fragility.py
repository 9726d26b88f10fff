"""Robustness of first place: votes, dialogues, evaluators."""

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import FittedBoard, decimal, fitted
from ranking.findings import Cell, Column, ColumnKind, Findings, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.elo import ranks_of, to_elo
from ranking.numerics.fragility import (
    MOST_TRIED,
    N_CHALLENGERS,
    SmallestRemoval,
    smallest_removal,
    without_each,
)

METHOD = (
    "The judgments with the largest influence on the lead (Broderick, Giordano and Meager 2020) "
    "are left out until a refit without them puts another system first, and as few as will do. "
    "Evaluators are left out one by one, each time with an exact refit."
)
MOST_NAMED = 20
MOST_LISTED = 200
FRAGILE = 0.01
EVALUATORS = "Evaluators"


Removals = dict[str, tuple[int, SmallestRemoval]]
"""By what is left out: how many of it there are, and the fewest whose removal is enough."""


def analyse(inputs: AnalysisInputs) -> Findings:
    """Look for the fewest judgments that decide the first place.

    Raises
    ------
    AnalysisRefusedError
        If there are no ratings.
    """
    found, columns = fitted(inputs), inputs.columns
    groups = {
        "Judgments": (columns.n_judgments, np.arange(columns.n_judgments)),
        "Source dialogues": (len(columns.units), columns.unit),
        EVALUATORS: (len(columns.evaluators), columns.evaluator),
    }
    removals = {
        label: (n_groups, smallest_removal(found.pairs, group, found.log_strengths))
        for label, (n_groups, group) in groups.items()
    }
    tables = [_removals(removals, columns), _each(found, columns)]
    _, of_evaluators = removals[EVALUATORS]
    if of_evaluators.groups.size:
        tables.insert(1, _named(of_evaluators, columns))
    return Findings(METHOD, tuple(tables), _warnings(removals))


def _removals(removals: Removals, columns: JudgmentColumns) -> Table:
    rows = []
    for label, (n_groups, removal) in removals.items():
        n = len(removal.groups)
        row: tuple[Cell, ...] = (
            label,
            n_groups,
            columns.systems[removal.leader],
            removal.by_influence,
            n or None,
            decimal(n / n_groups, 6) if n else None,
            None if removal.new_first is None else columns.systems[removal.new_first],
        )
        rows.append(row)
    return Table(
        "removals",
        "The fewest whose removal changes the first place",
        "How many judgments, source dialogues or evaluators would have to be left out for another "
        "system to come first: by the approximation, and confirmed by fitting the others anew. "
        f"Empty where no removal was found. Tried are the {N_CHALLENGERS} systems next behind the "
        f"first, by refits the {MOST_TRIED} nearest by influence. A smaller set may exist.",
        (
            Column("what", "Left out", ColumnKind.TEXT),
            Column("n", "There are", ColumnKind.COUNT),
            Column("first", "First place", ColumnKind.SYSTEM),
            Column("by_influence", "By influence", ColumnKind.COUNT),
            Column("confirmed", "Confirmed by refit", ColumnKind.COUNT),
            Column("share", "Share of all", ColumnKind.SHARE),
            Column("new_first", "First without them", ColumnKind.SYSTEM),
        ),
        tuple(rows),
    )


def _named(removal: SmallestRemoval, columns: JudgmentColumns) -> Table:
    n = np.bincount(columns.evaluator, minlength=len(columns.evaluators))
    shown = removal.groups[:MOST_NAMED]
    return Table(
        "decisive",
        "The evaluators on whom the first place rests",
        f"Without them another system comes first. At most {MOST_NAMED}, most influential first. "
        "It is no reason to leave anybody out: who is left out is decided before looking.",
        (
            Column("evaluator", "Evaluator", ColumnKind.EVALUATOR),
            Column("n", "Judgments", ColumnKind.COUNT),
        ),
        tuple((columns.evaluators[one], int(n[one])) for one in shown),
    )


def _each(found: FittedBoard, columns: JudgmentColumns) -> Table:
    left = without_each(found.pairs, columns.evaluator, found.log_strengths)
    before, after = to_elo(found.log_strengths), to_elo(left)
    moved = np.abs(after - before)
    ranks = np.abs(ranks_of(after) - ranks_of(before))
    n = np.bincount(columns.evaluator, minlength=len(columns.evaluators))
    has_maximum = np.asarray(np.isfinite(left).all(axis=1))
    largest = np.where(has_maximum, moved.max(axis=1), np.inf)
    rows: list[tuple[Cell, ...]] = []
    for one in np.argsort(-largest, kind="stable")[:MOST_LISTED]:
        name, judgments = columns.evaluators[one], int(n[one])
        if not has_maximum[one]:
            rows.append((name, judgments, None, None, None, None))
            continue
        system, first = int(moved[one].argmax()), int(after[one].argmax())
        rows.append(
            (
                name,
                judgments,
                decimal(after[one, system] - before[system], 2),
                columns.systems[system],
                int(ranks[one].max()),
                columns.systems[first],
            )
        )
    return Table(
        "each",
        "Without each evaluator in turn",
        "What the ratings would be without one evaluator: the largest change of a rating, whose it "
        "is, the largest change of a rank, and who comes first. Empty where the others do not "
        f"connect all systems. At most {MOST_LISTED} evaluators, the largest changes first.",
        (
            Column("evaluator", "Evaluator", ColumnKind.EVALUATOR),
            Column("n", "Judgments", ColumnKind.COUNT),
            Column("change", "Largest change", ColumnKind.ELO),
            Column("system", "Of", ColumnKind.SYSTEM),
            Column("ranks", "Largest change of rank", ColumnKind.COUNT),
            Column("first", "First place", ColumnKind.SYSTEM),
        ),
        tuple(rows),
    )


def _warnings(removals: Removals) -> tuple[str, ...]:
    warnings = []
    for label, (n_groups, removal) in removals.items():
        n = len(removal.groups)
        if n and (n == 1 or n <= FRAGILE * n_groups):
            warnings.append(f"The first place rests on {n:,} of {n_groups:,} {label.lower()}.")
    return tuple(warnings)
