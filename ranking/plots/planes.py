"""Plots of results as plain geometry: dots over two axes, funnels, and lines over one."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import sqrt
from statistics import fmean

from ranking.findings import Column
from ranking.plots.scales import Scale, Tick, head, in_unit, scale_of

WIDTH = 640
HEIGHT = 400
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 16.0, 52.0
INSET = 12.0
LABEL_HEIGHT = 16.0
LABEL_GAP = 8.0
LETTER = 6.9  # the mean width of a letter of a label, so that labels can be kept apart
LONGEST_LABEL = 24
MOST_LABELS = 30
LABELS_WIDTH = 168.0
COLOURS = 6
LINE_STYLES = 4
TICKS = 6


Place = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


@dataclass(frozen=True)
class Point:
    """A named pair of values, and in a funnel its limits by key; None where one is not known."""

    name: str
    x: float
    y: float
    limits: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def is_outside(self) -> bool:
        """Say whether it is beyond the inner limits."""
        return is_outside(self.y, self.limits.get("low"), self.limits.get("high"))


@dataclass(frozen=True)
class Series:
    """A named line: one value for each place of an axis, or each axis; None where there is none."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Label:
    """Text at a place; ``anchor`` is what SVG calls its end."""

    text: str
    x: float
    y: float
    anchor: str


@dataclass(frozen=True)
class Dot:
    """A point where it is drawn, with its label if there is room for one.

    One that is outside is beyond limits that are drawn with it.
    """

    name: str
    x: float
    y: float
    label: Label | None = None
    is_outside: bool = False


@dataclass(frozen=True)
class PlotLine:
    """A line where it is drawn: runs of points, its end, and what leads to the label beside it."""

    name: str
    runs: tuple[str, ...]
    end: Dot
    colour: int
    dash: int
    lead: str = ""


@dataclass(frozen=True)
class Plot:
    """A picture `WIDTH` wide: its axes and what stands between them.

    ``x`` places more on the x axis. Curves are smooth lines, each with how it is drawn: centre,
    inner or outer.
    """

    height: float
    right: float
    x: Scale
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    x_label: str
    y_label: str
    dots: tuple[Dot, ...] = ()
    lines: tuple[PlotLine, ...] = ()
    diagonal: tuple[float, float, float, float] | None = None
    marks: tuple[float, ...] = ()
    curves: tuple[tuple[str, str], ...] = ()

    left = LEFT
    top = TOP

    @property
    def bottom(self) -> float:
        """Return where the x axis is."""
        return self.height - BOTTOM

    @property
    def middle(self) -> float:
        """Return the place of the label of the x axis."""
        return (self.left + self.right) / 2


def scatter(points: Sequence[Point], *, x: Column, y: Column, has_diagonal: bool = False) -> Plot:
    """Place one point or more over two axes; with the diagonal, both axes have one scale."""
    xs, ys = [point.x for point in points], [point.y for point in points]
    both = xs + ys
    x_scale, y_scale = _scales(x, both if has_diagonal else xs, y, both if has_diagonal else ys)
    return replace(
        _of_columns(x, x_scale, y, y_scale),
        dots=labelled([_dot(one, x_scale, y_scale) for one in points]),
        marks=() if x.mark is None else (x_scale.place(x.mark),),
        diagonal=(x_scale.start, y_scale.start, x_scale.end, y_scale.end) if has_diagonal else None,
    )


def _scales(x: Column, xs: Sequence[float], y: Column, ys: Sequence[float]) -> tuple[Scale, Scale]:
    """Return the scales of dots, with room around them."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    return (
        scale_of(x, xs, start=LEFT + INSET, end=right - INSET),
        scale_of(y, ys, start=bottom - INSET, end=TOP + INSET),
    )


def _of_columns(x: Column, x_scale: Scale, y: Column, y_scale: Scale) -> Plot:
    """Return the axes of two columns, which write shares in per cent, as cells do."""
    plot = _empty(x_scale, y_scale, head(x), head(y))
    return replace(
        plot,
        x_ticks=tuple(in_unit(tick, x.kind) for tick in plot.x_ticks),
        y_ticks=tuple(in_unit(tick, y.kind) for tick in plot.y_ticks),
    )


def _empty(
    x: Scale,
    y: Scale,
    x_label: str,
    y_label: str,
    *,
    height: float = HEIGHT,
    right: float = WIDTH - RIGHT,
) -> Plot:
    """Return the axes of a plot, with nothing between them."""
    ticks = (x.ticks(at_most=TICKS), y.ticks(at_most=TICKS))
    return Plot(height, right, x, *ticks, x_label, y_label)


def _dot(one: Point, x: Scale, y: Scale) -> Dot:
    return Dot(one.name, x.place(one.x), y.place(one.y), is_outside=one.is_outside)


def lines(places: Sequence[float], series: Sequence[Series], *, x_label: str, y_label: str) -> Plot:
    """Draw lines over the places of the x axis, each named at its right end."""
    height = max(HEIGHT, LABEL_HEIGHT * len(series) + TOP + BOTTOM)
    right, bottom = WIDTH - LABELS_WIDTH, height - BOTTOM
    known = [value for one in series for value in one.values if value is not None]
    x_scale = Scale.over(places, start=LEFT + INSET, end=right - INSET)
    y_scale = Scale.over(known, start=bottom - INSET, end=TOP + INSET)
    xs = [x_scale.place(place) for place in places]
    drawn = [_line(one, number, xs, y_scale) for number, one in enumerate(series)]
    return replace(
        _empty(x_scale, y_scale, x_label, y_label, height=height, right=right),
        lines=_spread([one for one in drawn if one is not None], right, bottom),
    )


def meets(one: Box, other: Box) -> bool:
    """Say whether two boxes share any place."""
    beside = one[2] <= other[0] or other[2] <= one[0]
    return not (beside or one[3] <= other[1] or other[3] <= one[1])


def shortened(text: str) -> str:
    """Cut a label that would be too long."""
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"


def labelled(dots: Sequence[Dot], *, only_outside: bool = False) -> tuple[Dot, ...]:
    """Label dots one by one where nothing is in the way; with very many, label none."""
    meant = [dot for dot in dots if dot.name and (dot.is_outside or not only_outside)]
    if len(meant) > MOST_LABELS:
        return tuple(dots)
    taken: list[Box] = [(dot.x - 5, dot.y - 5, dot.x + 5, dot.y + 5) for dot in dots]
    labelled = []
    for dot in dots:
        label, box = _free_label(dot, taken) if dot in meant else (None, None)
        taken += [box] if box else []
        labelled.append(replace(dot, label=label))
    return tuple(labelled)


def _free_label(dot: Dot, taken: Sequence[Box]) -> tuple[Label | None, Box | None]:
    """Return the first place beside the dot that is free, or nothing."""
    text = shortened(dot.name)
    wide = LETTER * len(text)
    for dy, (anchor, dx) in product((5.0, -9.0, 19.0), (("start", LABEL_GAP), ("end", -LABEL_GAP))):
        left = dot.x + dx if anchor == "start" else dot.x + dx - wide
        box = (left, dot.y + dy - 12, left + wide, dot.y + dy + 4)
        inside = left >= LEFT and left + wide <= WIDTH
        if inside and not any(meets(box, one) for one in taken):
            return Label(text, round(dot.x + dx, 1), round(dot.y + dy, 1), anchor), box
    return None, None


def runs(xs: Sequence[float], ys: Sequence[float | None]) -> list[list[Place]]:
    """Return the points of a line, in runs between which one or more are missing."""
    found: list[list[Place]] = [[]]
    for x, y in zip(xs, ys, strict=True):
        if y is None:
            found.append([])
        else:
            found[-1].append((x, y))
    return [run for run in found if run]


def _line(one: Series, number: int, xs: Sequence[float], y_scale: Scale) -> PlotLine | None:
    """Break a line where values are missing; without any there is no line."""
    known = runs(xs, [None if value is None else y_scale.place(value) for value in one.values])
    if not known:
        return None
    x, y = known[-1][-1]
    written = tuple(" ".join(f"{x},{y}" for x, y in run) for run in known)
    return PlotLine(one.name, written, Dot(one.name, x, y), number % COLOURS, number // COLOURS % 3)


def _spread(drawn: Sequence[PlotLine], right: float, bottom: float) -> tuple[PlotLine, ...]:
    """Name each line at the right edge, as near to its end as the others allow."""
    ordered = sorted(range(len(drawn)), key=lambda place: drawn[place].end.y)
    heights = _apart([drawn[place].end.y for place in ordered], bottom)
    named = dict(zip(ordered, heights, strict=True))
    return tuple(_named(one, named[place], right) for place, one in enumerate(drawn))


def _named(line: PlotLine, height: float, right: float) -> PlotLine:
    """Put the name of a line beside the plot at that height, and lead from its end to it."""
    at = round(height, 1)
    label = Label(shortened(line.name), right + 16, at + 4, "start")
    lead = f"{line.end.x},{line.end.y} {right},{at} {right + 12},{at}"
    return replace(line, end=replace(line.end, label=label), lead=lead)


def _apart(heights: Sequence[float], bottom: float) -> list[float]:
    """Move sorted heights so far apart that labels do not meet, each as little as may be.

    Labels in each other's way stand together around the mean of their ends, inside the plot.
    """
    blocks: list[list[float]] = []
    for place, height in enumerate(heights):
        blocks.append([height - place * LABEL_HEIGHT])
        while len(blocks) > 1 and fmean(blocks[-2]) > fmean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    last = bottom - (len(heights) - 1) * LABEL_HEIGHT
    starts = [min(max(fmean(block), TOP), last) for block in blocks for _ in block]
    return [start + place * LABEL_HEIGHT for place, start in enumerate(starts)]


CURVE_STEPS = 60


@dataclass(frozen=True)
class Limit:
    """A limit of a funnel, known at some values of ``x``, all above 0."""

    xs: tuple[float, ...]
    values: tuple[float, ...]

    @classmethod
    def of(cls, known: Mapping[float, float]) -> "Limit":
        """Return the limit through what is known of it."""
        xs = tuple(sorted(known))
        return cls(xs, tuple(known[x] for x in xs))

    def at(self, x: float) -> float:
        """Return the limit anywhere on the scale.

        Between two places it is straight over one by the root of ``x``, as errors of means are:
        a limit so many errors from a centre comes out as it is.
        """
        if x <= self.xs[0] or len(self.xs) == 1:
            return self.values[0]
        after = min(bisect_right(self.xs, x), len(self.xs) - 1)
        before = after - 1
        start, end, here = (1.0 / sqrt(one) for one in (self.xs[before], self.xs[after], x))
        share = (here - start) / (end - start)
        return self.values[before] + min(share, 1.0) * (self.values[after] - self.values[before])

    def curve(self) -> tuple[tuple[float, float], ...]:
        """Return points close enough together to be a smooth line."""
        first, last = self.xs[0], self.xs[-1]
        width = (last - first) / CURVE_STEPS
        xs = sorted({*self.xs, *(first + width * step for step in range(CURVE_STEPS + 1))})
        return tuple((x, self.at(x)) for x in xs)


def is_outside(value: float, low: float | None, high: float | None) -> bool:
    """Say whether a value is beyond a limit that is known."""
    return (low is not None and value < low) or (high is not None and value > high)


def known_limits(xs: Sequence[float], values: Sequence[float | None]) -> Limit | None:
    """Return a limit from its values at dots, or None if it is known at fewer than two places."""
    known = {x: one for x, one in zip(xs, values, strict=True) if one is not None and x > 0.0}
    return Limit.of(known) if len(known) > 1 else None


LOOKS = {"centre": "centre", "low": "inner", "high": "inner"}
LOOKS |= {"outer_low": "outer", "outer_high": "outer"}
"""The columns of a funnel's limits, and how each is drawn."""


def funnel(spots: Sequence[Point], *, x: Column, y: Column) -> Plot:
    """Draw dots and their limits; only dots beyond the inner limits are named."""
    limits = {key: one for key in LOOKS if (one := _limit(spots, key)) is not None}
    ys = [spot.y for spot in spots] + [value for one in limits.values() for value in one.values]
    x_scale, y_scale = _scales(x, [spot.x for spot in spots], y, ys)
    return replace(
        _of_columns(x, x_scale, y, y_scale),
        dots=labelled([_dot(one, x_scale, y_scale) for one in spots], only_outside=True),
        curves=tuple((_curve(one, x_scale, y_scale), LOOKS[key]) for key, one in limits.items()),
    )


def _limit(spots: Sequence[Point], key: str) -> Limit | None:
    return known_limits([spot.x for spot in spots], [spot.limits.get(key) for spot in spots])


def _curve(limit: Limit, x_scale: Scale, y_scale: Scale) -> str:
    return " ".join(f"{x_scale.place(x)},{y_scale.place(y)}" for x, y in limit.curve())
