"""Tables of findings as pages show them: names written, people together, pictures laid out."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from django.utils.translation import gettext

from ranking.figures import has_figure
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.plots import planes
from ranking.plots.planes import LOOKS, Point, Series, funnel, scatter
from ranking.plots.radar import are_too_many, axes_of, chosen_rows, least_step, radar
from ranking.plots.scales import in_unit, whiskers
from ranking.plots.tables import (
    FEWEST_DOTS,
    Row,
    Shades,
    alike,
    as_number,
    axes,
    dots,
    intervals,
    lines,
    places,
)
from ranking.report.charts import centre_of, with_chart
from ranking.report.names import Names, public_table
from ranking.report.written import RenderedCell, RenderedRow, RenderedTable, written


def shown_table(table: Table, names: Names, chosen: Sequence[str] = ()) -> RenderedTable:
    """Return the table as a page shows it to this reader.

    ``chosen`` are the rows that its picture draws, by their first cells, if it draws some alone.

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


def _header(column: Column, names: Names) -> RenderedCell:
    """Return the head of a column; one that is about a system or a judge has its name."""
    is_number = not column.kind.is_words
    name = names.of_column(column.key)
    if name is None:
        return RenderedCell(column.label, is_number=is_number)
    return RenderedCell(name.text, name.is_simulated, is_number)


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
        if not (column.kind.is_words or column.kind is ColumnKind.P_VALUE)
    ]
    return RenderedRow(
        head, tuple(cells), is_nothing=is_list and bool(figures) and not any(figures)
    )


def _cell(cell: Cell, column: Column, names: Names, *, is_terse: bool) -> RenderedCell:
    if name := names.of_cell(cell, column.kind):
        return RenderedCell(name.text, name.is_simulated)
    text = written(cell, column.kind, is_terse=is_terse)
    return RenderedCell(text, is_number=not column.kind.is_words)


def with_picture(
    shown: RenderedTable, table: Table, names: Names, chosen: Sequence[str]
) -> RenderedTable:
    """Add the picture that the table asks for, if it has rows and the columns for it."""
    if table.picture is Picture.RADAR:
        return _with_radar(shown, table, chosen)
    draw = _DRAWN.get(table.picture)
    return draw(shown, table, names) if draw and table.rows else shown


def _with_heat(shown: RenderedTable, table: Table, _names: Names) -> RenderedTable:
    """Shade the cells of one kind: that of the second column."""
    kind, meant = alike(table)
    numbers = [as_number(row[n]) for row in table.rows for n in meant]
    shades = Shades.of([number for number in numbers if number is not None], kind)

    def shaded(row: Row, drawn: RenderedRow) -> RenderedRow:
        cells = list(drawn.cells)
        for n in meant:
            if (number := as_number(row[n])) is not None:
                cells[n - 1] = replace(cells[n - 1], shade=shades.step(number))
        return replace(drawn, cells=tuple(cells))

    rows = tuple(map(shaded, table.rows, shown.rows))
    is_in_per_cent = kind is ColumnKind.SHARE
    return replace(shown, rows=rows, is_heat=True, is_in_per_cent=is_in_per_cent)


def _with_whiskers(shown: RenderedTable, table: Table, _names: Names) -> RenderedTable:
    found = intervals(table)
    (at,) = places(table, "value") or [0]
    if found is None:
        return shown
    kind, known = table.columns[at].kind, [one for one in found if one is not None]
    centre = centre_of(kind, [one.low for one in known], [one.high for one in known])
    drawn, ticks = whiskers(found, centre=centre)
    rows = tuple(
        replace(row, whisker=whisker) for row, whisker in zip(shown.rows, drawn, strict=True)
    )
    return replace(
        shown, rows=rows, has_whiskers=True, ticks=tuple(in_unit(tick, kind) for tick in ticks)
    )


def _with_points(shown: RenderedTable, table: Table, names: Names) -> RenderedTable:
    found = dots(table)
    if not found:
        return shown
    x, y = axes(table)
    plot = scatter(
        [Point(_label(table.rows[n], table, names), across, up) for n, across, up in found],
        x=x,
        y=y,
        has_diagonal=x.kind is y.kind,
    )
    return replace(shown, plot=plot)


def _with_lines(shown: RenderedTable, table: Table, _names: Names) -> RenderedTable:
    at, (known, meant) = places(table, "x"), lines(table)
    if at is None:
        return shown
    series = [
        Series(shown.headers[n].text, tuple(as_number(row[n]) for _, row in known)) for n in meant
    ]
    label = table.columns[at[0]].label
    plot = planes.lines([x for x, _ in known], series, x_label=label, y_label="")
    return replace(shown, plot=plot if plot.lines else None)


def _with_funnel(shown: RenderedTable, table: Table, names: Names) -> RenderedTable:
    found = dots(table)
    if len(found) < FEWEST_DOTS:
        return shown
    x, y = axes(table)
    limits = {key: at[0] for key in LOOKS if (at := places(table, key))}
    spots = [
        Point(
            _label(table.rows[n], table, names),
            across,
            up,
            {key: as_number(table.rows[n][at]) for key, at in limits.items()},
        )
        for n, across, up in found
    ]
    return replace(shown, plot=funnel(spots, x=x, y=y))


def _with_radar(shown: RenderedTable, table: Table, chosen: Sequence[str]) -> RenderedTable:
    """Draw the chosen rows; all of them can be chosen, and are in the table."""
    at = axes_of(table)
    if not at or not table.rows:
        return shown
    rows = chosen_rows(table, chosen)
    first = table.columns[at[0]]
    picture = radar(
        [table.columns[n].label for n in at],
        [
            Series(shown.rows[row].head.text, tuple(as_number(table.rows[row][n]) for n in at))
            for row in rows
        ],
        least=least_step(first.kind),
        mark=first.mark,
    )
    return replace(
        shown,
        radar=picture,
        rows=tuple(
            replace(
                row,
                slug=str(table.rows[place][0]),
                style=rows.index(place) if place in rows else None,
            )
            for place, row in enumerate(shown.rows)
        ),
        are_too_many=are_too_many(chosen),
        query=f"?systems={','.join(chosen)}" if chosen else "",
    )


def _label(row: Row, table: Table, names: Names) -> str:
    """Name a row by the systems or evaluators it is about, else by its first cell if in words."""
    cells = zip(row, table.columns, strict=True)
    about = [name.text for cell, one in cells if (name := names.of_cell(cell, one.kind))]
    named = f" {gettext('and')} ".join(about)
    return named or (row[0] if isinstance(row[0], str) else "")


_DRAWN: dict[Picture, Callable[[RenderedTable, Table, Names], RenderedTable]] = {
    Picture.HEAT: _with_heat,
    Picture.WHISKERS: _with_whiskers,
    Picture.POINTS: _with_points,
    Picture.LINES: _with_lines,
    Picture.FUNNEL: _with_funnel,
}
