"""The pictures of tables: which columns they draw, on what scale, and what names the parts."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from django.utils.translation import gettext

from ranking.findings import Column, ColumnKind, Picture, Table
from ranking.plots.funnel import LOOKS, FunnelSpot, funnel
from ranking.plots.planes import Axis, Plot, Point, Series, lines, scatter
from ranking.plots.radar import ChosenRows, Outline, axes_of, least_step, radar
from ranking.plots.scales import Tick
from ranking.plots.whiskers import Interval, whiskers
from ranking.report.rendered.cells import WORDS, Warmth, as_number
from ranking.report.rendered.people import Row
from ranking.report.rendered.values import Names, RenderedChoice, RenderedRow, RenderedTable

ENDS = ("low", "value", "high")
CENTRES = (0.0, 1500.0)
FEWEST_DOTS = 2


def with_picture(
    shown: RenderedTable, table: Table, names: Names, chosen: ChosenRows
) -> RenderedTable:
    """Add the picture that the table asks for, if it has rows and the columns for it."""
    if table.picture is Picture.RADAR:
        return _with_radar(shown, table, chosen)
    draw = _DRAWN.get(table.picture)
    return draw(shown, table, names) if draw and table.rows else shown


def _with_heat(shown: RenderedTable, table: Table, _names: Names) -> RenderedTable:
    """Shade the cells of one kind: that of the second column."""
    kind = table.columns[1].kind if len(table.columns) > 1 else ColumnKind.TEXT
    meant = [n for n, column in enumerate(table.columns) if n and column.kind is kind]
    numbers = [as_number(row[n]) for row in table.rows for n in meant]
    warmth = Warmth.of([number for number in numbers if number is not None], kind)

    def shaded(row: Row, drawn: RenderedRow) -> RenderedRow:
        cells = list(drawn.cells)
        for n in meant:
            if (number := as_number(row[n])) is not None:
                cells[n - 1] = replace(cells[n - 1], shade=warmth.shade(number))
        return replace(drawn, cells=tuple(cells))

    rows = tuple(map(shaded, table.rows, shown.rows))
    is_in_per_cent = kind is ColumnKind.SHARE
    return replace(shown, rows=rows, is_heat=True, is_in_per_cent=is_in_per_cent)


def _with_whiskers(shown: RenderedTable, table: Table, _names: Names) -> RenderedTable:
    places = _places(table, ENDS)
    if places is None:
        return shown
    intervals = [_interval([as_number(row[n]) for n in places]) for row in table.rows]
    drawn = whiskers(intervals, centre=centre_of(table.columns[places[1]].kind, intervals))
    rows = tuple(
        replace(row, whisker=whisker) for row, whisker in zip(shown.rows, drawn.rows, strict=True)
    )
    return replace(shown, rows=rows, has_whiskers=True, ticks=_in_words(drawn.ticks, table, places))


def _interval(ends: Sequence[float | None]) -> Interval | None:
    low, middle, high = ends
    if low is None or middle is None or high is None:
        return None
    return Interval(min(low, middle), middle, max(high, middle))


def centre_of(kind: ColumnKind, intervals: Sequence[Interval | None]) -> float | None:
    """Return what an interval is held against: no difference, the mean, or as many either way."""
    known = [one for one in intervals if one is not None]
    low = min((one.low for one in known), default=0.0)
    high = max((one.high for one in known), default=0.0)
    if kind is ColumnKind.SHARE:
        return 0.5 if low >= 0 else 0.0  # below 0 are only differences of shares
    return next((centre for centre in CENTRES if low <= centre <= high), None)


def _in_words(ticks: tuple[Tick, ...], table: Table, places: Sequence[int]) -> tuple[Tick, ...]:
    """Write shares on an axis in per cent, as in the cells."""
    if table.columns[places[1]].kind is not ColumnKind.SHARE:
        return ticks
    return tuple(map(_in_per_cent, ticks))


def _in_per_cent(tick: Tick) -> Tick:
    return replace(tick, value=round(100.0 * tick.value, 6))


def _with_points(shown: RenderedTable, table: Table, names: Names) -> RenderedTable:
    places = _places(table, ("x", "y"))
    if places is None:
        return shown
    x, y = (table.columns[n] for n in places)
    points = [
        Point(_label(row, table, names), *known)
        for row in table.rows
        if (known := _both([as_number(row[n]) for n in places]))
    ]
    if not points:
        return shown
    axes = {"x": Axis(_head(x), x.is_logarithmic, x.mark), "y": Axis(_head(y))}
    plot = scatter(points, **axes, has_diagonal=x.kind is y.kind)
    return replace(shown, plot=_with_words(plot, x, y))


def _with_words(plot: Plot, x: Column, y: Column) -> Plot:
    """Write shares along the axes in per cent, as in the cells."""
    if x.kind is ColumnKind.SHARE:
        plot = replace(plot, x_ticks=tuple(map(_in_per_cent, plot.x_ticks)))
    if y.kind is ColumnKind.SHARE:
        plot = replace(plot, y_ticks=tuple(map(_in_per_cent, plot.y_ticks)))
    return plot


def _both(values: Sequence[float | None]) -> tuple[float, float] | None:
    x, y = values
    return None if x is None or y is None else (x, y)


def _with_lines(shown: RenderedTable, table: Table, _names: Names) -> RenderedTable:
    places = _places(table, ("x",))
    if places is None:
        return shown
    xs = [as_number(row[places[0]]) for row in table.rows]
    known = [row for row, x in zip(table.rows, xs, strict=True) if x is not None]
    meant = [n for n, one in enumerate(table.columns) if n != places[0] and one.kind not in WORDS]
    series = [
        Series(shown.headers[n].text, tuple(as_number(row[n]) for row in known)) for n in meant
    ]
    label = table.columns[places[0]].label
    plot = lines([x for x in xs if x is not None], series, x_label=label, y_label="")
    return replace(shown, plot=plot if plot.lines else None)


def _with_funnel(shown: RenderedTable, table: Table, names: Names) -> RenderedTable:
    places = _places(table, ("x", "y"))
    if places is None:
        return shown
    x, y = (table.columns[n] for n in places)
    limits = {key: at[0] for key in LOOKS if (at := _places(table, (key,)))}
    spots = [
        FunnelSpot(
            _label(row, table, names),
            *known,
            {key: as_number(row[n]) for key, n in limits.items()},
        )
        for row in table.rows
        if (known := _both([as_number(row[n]) for n in places]))
    ]
    if len(spots) < FEWEST_DOTS:
        return shown
    plot = funnel(spots, x=Axis(_head(x)), y=Axis(_head(y)))
    return replace(shown, plot=_with_words(plot, x, y), is_funnel=True)


def _head(column: Column) -> str:
    return f"{column.label}, %" if column.kind is ColumnKind.SHARE else column.label


def _with_radar(shown: RenderedTable, table: Table, chosen: ChosenRows) -> RenderedTable:
    """Draw the chosen rows; all of them can be chosen, and are in the table."""
    axes = axes_of(table)
    if not axes or not table.rows:
        return shown
    rows = chosen.rows(table)
    first = table.columns[axes[0]]
    picture = radar(
        [table.columns[n].label for n in axes],
        [
            Outline(shown.rows[row].head.text, tuple(as_number(table.rows[row][n]) for n in axes))
            for row in rows
        ],
        least=least_step(first.kind),
        mark=first.mark,
    )
    return replace(
        shown,
        radar=picture,
        choices=_choices(shown, table, rows),
        are_too_many=chosen.are_too_many(),
        query=f"?systems={','.join(chosen.asked)}" if chosen.asked else "",
    )


def _choices(
    shown: RenderedTable, table: Table, drawn: Sequence[int]
) -> tuple[RenderedChoice, ...]:
    return tuple(
        RenderedChoice(
            slug=str(table.rows[place][0]),
            text=row.head.text,
            is_simulated=row.head.is_simulated,
            style=drawn.index(place) if place in drawn else None,
        )
        for place, row in enumerate(shown.rows)
    )


def _places(table: Table, keys: Sequence[str]) -> list[int] | None:
    """Return where the columns of these keys are, or None if one is missing."""
    known = [column.key for column in table.columns]
    return [known.index(key) for key in keys] if set(keys) <= set(known) else None


def _label(row: Row, table: Table, names: Names) -> str:
    """Name a row by the systems or evaluators it is about, else by its first cell if in words."""
    about = []
    for cell, column in zip(row, table.columns, strict=True):
        if isinstance(cell, str) and column.kind is ColumnKind.SYSTEM:
            about.append(names.system(cell).text)
        elif isinstance(cell, str) and column.kind is ColumnKind.EVALUATOR:
            about.append(names.evaluator(cell).text)
    named = f" {gettext('and')} ".join(about)
    return named or (row[0] if isinstance(row[0], str) else "")


_DRAWN: dict[Picture, Callable[[RenderedTable, Table, Names], RenderedTable]] = {
    Picture.HEAT: _with_heat,
    Picture.WHISKERS: _with_whiskers,
    Picture.POINTS: _with_points,
    Picture.LINES: _with_lines,
    Picture.FUNNEL: _with_funnel,
}
