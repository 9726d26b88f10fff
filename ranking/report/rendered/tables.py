"""Tables of findings as pages show them: names written, people together, pictures laid out."""

from ranking.figures import has_figure
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.plots.radar import ChosenRows
from ranking.report.rendered.cells import WORDS, written
from ranking.report.rendered.charts import with_chart
from ranking.report.rendered.people import Row, public_table
from ranking.report.rendered.pictures import with_picture
from ranking.report.rendered.values import (
    Name,
    Names,
    RenderedCell,
    RenderedHeader,
    RenderedRow,
    RenderedTable,
)

ALL_ALIKE = ChosenRows()


def shown_table(table: Table, names: Names, chosen: ChosenRows = ALL_ALIKE) -> RenderedTable:
    """Return the table as a page shows it to this reader.

    Raises
    ------
    ranking.plots.radar.UnknownRowError
        If a row is chosen for a picture that the table does not have.
    """
    table, n_hidden = public_table(table, names)
    shown = RenderedTable(
        key=table.key,
        title=table.title,
        caption=table.caption,
        headers=tuple(_header(column, names) for column in table.columns),
        rows=tuple(_row(row, table, names) for row in table.rows),
        n_hidden=n_hidden,
        has_figure=has_figure(table),
    )
    return with_chart(with_picture(shown, table, names, chosen), table)


def _header(column: Column, names: Names) -> RenderedHeader:
    """Return the head of a column; one that is about a system or a judge has its name."""
    is_number = column.kind not in WORDS
    name = names.of_column(column.key)
    if name is None:
        return RenderedHeader(column.label, is_number)
    return RenderedHeader(name.text, is_number, name.is_simulated)


def _row(row: Row, table: Table, names: Names) -> RenderedRow:
    is_heat = table.picture is Picture.HEAT
    head, *cells = (
        _cell(cell, column, names, is_terse=is_heat)
        for cell, column in zip(row, table.columns, strict=True)
    )
    is_list = table.picture in {Picture.NONE, Picture.WHISKERS}
    figures = [
        cell
        for cell, column in zip(row, table.columns, strict=True)
        if column.kind not in {*WORDS, ColumnKind.P_VALUE}
    ]
    return RenderedRow(
        head, tuple(cells), is_nothing=is_list and bool(figures) and not any(figures)
    )


def _cell(cell: Cell, column: Column, names: Names, *, is_terse: bool) -> RenderedCell:
    if isinstance(cell, str) and column.kind in {ColumnKind.SYSTEM, ColumnKind.EVALUATOR}:
        name = _name(cell, column.kind, names)
        return RenderedCell(name.text, name.is_simulated)
    text = written(cell, column.kind, is_terse=is_terse)
    return RenderedCell(text, is_number=column.kind not in WORDS)


def _name(cell: str, kind: ColumnKind, names: Names) -> Name:
    return names.system(cell) if kind is ColumnKind.SYSTEM else names.evaluator(cell)
