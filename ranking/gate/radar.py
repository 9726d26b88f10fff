"""A radar picture of two systems by dimension, as SVG: read in light and in dark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ranking.plots.radar import FEWEST_AXES, Rings, TooFewAxesError, anchor, corner

__all__ = ["GateLine", "TooFewAxesError", "radar"]
WIDTH, HEIGHT = 480, 485
MIDDLE = (240.0, 220.0)
RADIUS = 150.0
LEAST_STEP = 5.0  # points between two rings
STYLE = """
  .paper { fill: #ffffff; } .ink { fill: #1b1f24; } .quiet { fill: #57606a; }
  .grid { fill: none; stroke: #c9d1d9; }
  .candidate { fill: #0b5cad; fill-opacity: 0.16; stroke: #0b5cad; stroke-width: 2.5; }
  .baseline { fill: none; stroke: #a1440b; stroke-width: 2.5; stroke-dasharray: 7 4; }
  text { font: 13px system-ui, sans-serif; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; } .ink { fill: #e6edf3; } .quiet { fill: #9da7b1; }
    .grid { stroke: #3d444d; }
    .candidate { fill: #6cb6ff; stroke: #6cb6ff; } .baseline { stroke: #f0a868; }
  }
"""


@dataclass(frozen=True)
class GateLine:
    """One system: its name and its points by axis."""

    name: str
    points: Mapping[str, float]


def radar(candidate: GateLine, baseline: GateLine, *, title: str, note: str = "") -> str:
    """Draw two systems by dimension.

    Parameters
    ----------
    candidate, baseline : Line
        Elo points by axis; axes that only one of them has are left out.
    title : str
        What the picture is of.
    note : str
        What has to be said with it, as that its data are simulated.

    Returns
    -------
    str
        A whole SVG document. The candidate is a filled area, the baseline a broken line: they
        differ without colour, too. All words are escaped.

    Raises
    ------
    TooFewAxesError
        If fewer than three axes are left.
    """
    axes = [axis for axis in candidate.points if axis in baseline.points]
    if len(axes) < FEWEST_AXES:
        msg = f"a radar needs {FEWEST_AXES} dimensions rated for both, not {len(axes)}"
        raise TooFewAxesError(msg)
    points = [line.points[axis] for line in (candidate, baseline) for axis in axes]
    rings = Rings.around(points, least=LEAST_STEP)
    told = ", ".join(
        f"{axis} {candidate.points[axis]:.0f} and {baseline.points[axis]:.0f}" for axis in axes
    )
    parts = [
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(f'Candidate and baseline: {told}. {note}'.strip())}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        *_grid(axes, rings),
        _area("baseline", [baseline.points[axis] for axis in axes], rings),
        _area("candidate", [candidate.points[axis] for axis in axes], rings),
        *_legend(candidate.name, baseline.name, note),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def _grid(axes: Sequence[str], rings: Rings) -> list[str]:
    parts = []
    for at in rings.values:
        reach = rings.reach(at)
        corners = " ".join(_corner(place, len(axes), reach) for place in range(len(axes)))
        parts.append(f'<polygon class="grid" points="{corners}"/>')
        x, y = _at(0, len(axes), reach)
        parts.append(f'<text class="quiet" x="{x + 4:.1f}" y="{y + 12:.1f}">{at:g}</text>')
    for place, axis in enumerate(axes):
        end = _at(place, len(axes), 1.0)
        line = f'x1="{MIDDLE[0]}" y1="{MIDDLE[1]}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
        x, y = _at(place, len(axes), 1.0 + 20.0 / RADIUS)
        side = anchor(corner(place, len(axes), 1.0)[0])
        where = f'x="{x:.1f}" y="{y + 5:.1f}" text-anchor="{side}"'
        parts += [
            f'<line class="grid" {line}/>',
            f'<text class="ink" {where}>{escape(axis)}</text>',
        ]
    return parts


def _area(name: str, points: Sequence[float], rings: Rings) -> str:
    corners = (
        _corner(place, len(points), rings.reach(value)) for place, value in enumerate(points)
    )
    return f'<polygon class="{name}" points="{" ".join(corners)}"/>'


def _legend(candidate: str, baseline: str, note: str) -> list[str]:
    parts = []
    for name, words, y in (("candidate", candidate, 410), ("baseline", baseline, 430)):
        parts += [
            f'<line class="{name}" x1="16" y1="{y - 4}" x2="48" y2="{y - 4}"/>',
            f'<text class="ink" x="56" y="{y}">{escape(f"{words} ({name})")}</text>',
        ]
    for words, y in (("Elo by dimension.", 452), (note, 472)):
        parts.append(f'<text class="quiet" x="16" y="{y}">{escape(words)}</text>')
    return parts


def _at(place: int, n_axes: int, reach: float) -> tuple[float, float]:
    """Return where that far along an axis is; 1 is the outermost ring."""
    x, y = corner(place, n_axes, reach)
    return MIDDLE[0] + RADIUS * x, MIDDLE[1] + RADIUS * y


def _corner(place: int, n_axes: int, reach: float) -> str:
    x, y = _at(place, n_axes, reach)
    return f"{x:.1f},{y:.1f}"
