"""Figures for print of what was found: which table, whose names, and where it comes from."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ranking.boards import Board, board_of, interval_of
from ranking.choices import AnalysisKind
from ranking.figures import Sign
from ranking.figures.ratings import Group, RatingLine
from ranking.findings import Cell, Column, Picture, Table
from ranking.fits import analysis_queries
from ranking.models import Fit
from ranking.plots.radar import chosen_rows
from ranking.report.confirmatory import named_analyses
from ranking.report.names import Name, Names, names_in, public_table

PEOPLE = "Made from people's texts"
SCALE = "Bradley-Terry ratings in Elo points; the mean of the systems is 1500 (dashed)."
TIERS = "Systems of one tier are not told apart."
DERIVED = "Hollow dots are no systems: they are made from people's texts, on the same scale."
IMPLIED = "Nobody compared messages: pairs are implied by the points that evaluators gave them."


def ratings_to_draw(fit: Fit) -> tuple[list[Group], str, Sign]:
    """Return the ratings of a fit in groups, their caption and origin. Up to four queries."""
    board = board_of(fit)
    is_simulated = fit.is_simulated or any(row.system.is_simulated for row in board.rows)
    return groups_of(board), caption_of(board), sign_of(fit, is_simulated=is_simulated)


def groups_of(board: Board) -> list[Group]:
    """Return the systems by tier, and below them what is made from people's texts."""
    groups: list[Group] = [
        (
            f"Tier {number}" if number is not None else "",
            tuple(RatingLine(row.name, interval_of(row)) for row, _ in rows),
        )
        for number, rows in board.tiers
    ]
    if board.people:
        people = (RatingLine(one.name, interval_of(one), is_derived=True) for one in board.people)
        groups.append((PEOPLE, tuple(people)))
    return groups


def caption_of(board: Board) -> str:
    """Return how to read the picture, and of which judgments it is."""
    fit = board.fit
    parts = [
        SCALE,
        *([TIERS] if board.has_tiers else []),
        *([DERIVED] if board.people else []),
        *([IMPLIED] if board.is_implied else []),
        f"{fit.get_pool_display()}, {fit.get_context_set_display().lower()}:",
        f"{fit.n_judgments} judgments on {fit.n_units} source dialogues.",
    ]
    return " ".join(parts)


def table_to_draw(
    fit: Fit, kind: str, key: str, chosen: Sequence[str] = ()
) -> tuple[Table, Sign] | None:
    """Return a table that an analysis of a fit found, and its origin, or None. Four queries.

    It is the public's also for staff: a picture is kept by whoever is on the way to the reader.
    A radar has only the rows that are ``chosen``, by their first cells.

    Raises
    ------
    ranking.plots.radar.UnknownRowError
        If a row is chosen that the table of a radar does not have.
    """
    shown = analysis_queries.analysis_of(fit, kind)
    found = shown.findings if shown else None
    table = next((one for one in found.tables if one.key == key), None) if found else None
    if shown is None or table is None:
        return None
    names = names_in(fit.study, shows_people=False)
    public = public_table(table, names)[0]
    is_simulated = fit.is_simulated or any(one.is_simulated for one in _named(public, names))
    if public.picture is Picture.RADAR:
        public = replace(public, rows=tuple(public.rows[n] for n in chosen_rows(public, chosen)))
    is_exploratory = named_analyses(fit.study).is_exploratory(AnalysisKind(shown.kind))
    sign = sign_of(fit, is_simulated=is_simulated, is_exploratory=is_exploratory)
    return _with_names(public, names), sign


def sign_of(fit: Fit, *, is_simulated: bool, is_exploratory: bool | None = None) -> Sign:
    """Return what a figure of a fit says of its origin."""
    return Sign(
        fit.study.title,
        fit.key,
        fit.as_of,
        is_simulated=is_simulated,
        is_exploratory=is_exploratory,
        is_embargoed=fit.is_embargoed,
    )


def _with_names(table: Table, names: Names) -> Table:
    columns = tuple(
        replace(one, label=name.text) if (name := names.of_column(one.key)) else one
        for one in table.columns
    )
    rows = tuple(
        tuple(_written(cell, one, names) for cell, one in zip(row, columns, strict=True))
        for row in table.rows
    )
    return replace(table, columns=columns, rows=rows)


def _written(cell: Cell, column: Column, names: Names) -> Cell:
    name = names.of_cell(cell, column.kind)
    return name.text if name else cell


def _named(table: Table, names: Names) -> Iterator[Name]:
    """Yield the names of all systems and judges in a table."""
    yield from (name for one in table.columns if (name := names.of_column(one.key)))
    for row in table.rows:
        for cell, column in zip(row, table.columns, strict=True):
            if name := names.of_cell(cell, column.kind):
                yield name
