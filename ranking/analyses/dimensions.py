"""Dimension by dimension: a board of ratings for each dimension of the rubric."""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.boards import AnalysisBoard, few_resamples_warning, rated
from ranking.analyses.common import RATED, few_dialogues, method_of_marks, points
from ranking.findings import AnalysisRefusedError, Column, ColumnKind, Findings, Picture, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.numerics.arrays import Integers
from ranking.numerics.elo import CENTRE
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.simultaneous import rank_intervals
from ranking.plots.radar import FEWEST_AXES

METHOD = (
    "Bradley-Terry ratings of the marks on each dimension as if they were judgments of it alone, "
    "with the method of the fit; marks without a size are whole wins. Intervals are percentiles "
    "over resamples of source dialogues, ranks hold for all systems of a dimension at once."
)
COLUMNS = (*RATED, Column("n", "Marks", ColumnKind.COUNT))


def analyse(inputs: AnalysisInputs) -> Findings:
    """Rate the systems on each dimension; one that cannot be rated does not stop the others.

    Raises
    ------
    AnalysisRefusedError
        If no dimension was marked, or none can be rated.
    """
    if not inputs.dimensions:
        msg = "No judgment marks a dimension of the rubric."
        raise AnalysisRefusedError(msg)
    boards, warnings = _boards(inputs.dimensions, inputs.method)
    if not boards:
        raise AnalysisRefusedError(" ".join(warnings))
    level = inputs.method.level
    overview = _overview(boards)
    tables = (
        overview,
        *_radar(overview),
        *(
            _board_table(place, name, board, inputs.dimensions[name], level)
            for place, (name, board) in enumerate(boards.items(), start=1)
        ),
    )
    few = few_dialogues(min(board.n_units for board in boards.values()))
    return Findings(METHOD, tables, (*few, *warnings))


def _boards(
    dimensions: Mapping[str, JudgmentColumns], method: Method
) -> tuple[dict[str, AnalysisBoard], list[str]]:
    boards, warnings = {}, []
    for name, columns in dimensions.items():
        try:
            board = rated(columns, method_of_marks(columns, method))
        except AnalysisRefusedError as refusal:
            warnings.append(f"{name} is not rated: {refusal}")
            continue
        boards[name] = board
        warnings += [f"{name}: {warning}" for warning in few_resamples_warning(board)]
    return boards, warnings


def _overview(boards: Mapping[str, AnalysisBoard]) -> Table:
    """Return Elo by system and dimension, the best on average first."""
    elo = {name: dict(zip(board.systems, board.elo, strict=True)) for name, board in boards.items()}
    systems = {system for board in boards.values() for system in board.systems}
    mean = {
        system: np.mean([one[system] for one in elo.values() if system in one])
        for system in systems
    }
    rows = (
        (system, *(points(one[system]) if system in one else None for one in elo.values()))
        for system in sorted(systems, key=lambda system: (-mean[system], system))
    )
    return Table(
        "dimensions",
        "Elo on each dimension",
        "Each dimension has a scale of its own, with mean 1500: compare systems within a column, "
        "and a system's place across columns.",
        (
            Column("system", "System", ColumnKind.SYSTEM),
            *(Column(_slug(name), name, ColumnKind.ELO) for name in boards),
        ),
        tuple(rows),
        Picture.HEAT,
    )


def _radar(overview: Table) -> tuple[Table, ...]:
    """Return the same figures as a radar, if there are axes enough for one."""
    system, *dimensions = overview.columns
    if len(dimensions) < FEWEST_AXES:
        return ()
    axes = (replace(one, mark=CENTRE) for one in dimensions)
    return (
        replace(
            overview,
            key="radar",
            title="Where systems are strong and weak",
            caption="One line for each system; the farther out, the better on that dimension. All "
            "axes are Elo points on one scale, with the mean of the systems at 1500 (broken ring). "
            "Rings do not begin at 0. Compare the corners, never the areas: an area grows with the "
            "square of the figures, and with the order of the axes, which means nothing.",
            columns=(system, *axes),
            picture=Picture.RADAR,
        ),
    )


def _board_table(
    place: int, name: str, board: AnalysisBoard, columns: JudgmentColumns, level: float
) -> Table:
    n_units = board.units_of_systems
    interval = expanded_intervals(board.elo, board.resampled, n_units=n_units, level=level)
    ranks = rank_intervals(board.elo, board.resampled, n_units=n_units, level=level)
    n = _marks(columns)
    rows = (
        (
            board.systems[index],
            points(board.elo[index]),
            points(interval.low[index]),
            points(interval.high[index]),
            int(ranks.best[index]),
            int(ranks.worst[index]),
            int(n[index]),
        )
        for index in board.best_first
    )
    return Table(
        f"{place}-{_slug(name)}",
        f"Dimension {name}",
        "Ratings of this dimension alone. Each interval holds for one system; the best and worst "
        "ranks hold for all systems together.",
        COLUMNS,
        tuple(rows),
        Picture.WHISKERS,
    )


def _marks(columns: JudgmentColumns) -> Integers:
    """Return in how many marks each system took part."""
    both = np.concatenate([columns.first, columns.second])
    return np.bincount(both, minlength=len(columns.systems))


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
