"""What the gate found: in words for a terminal, a pull request, or a program, and as a radar."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ranking.gate.rules import OVERALL, Gate, GateTest, More, Outcome
from ranking.plots.radar import FEWEST_AXES, Rings, TooFewAxesError, anchor, corner

SIMULATED = "Simulated data: this says nothing about real people or systems."
METHOD = (
    "Differences of Bradley-Terry ratings, candidate less baseline, with source dialogues "
    "resampled; one-sided tests. Regress: a drop larger than allowed in any test after Holm's "
    "correction. Pass: a larger drop overall is ruled out."
)
MARKUP = frozenset("\\`*_[]<>|~&:$")
NAMING = frozenset("@#")  # these call people, or point at other threads
HEADLINES = {
    Outcome.HELD: "Pass",
    Outcome.DROPPED: "Regress",
    Outcome.UNDECIDED: "Not enough data",
}


@dataclass(frozen=True)
class NamedSystem:
    """A system by its slug and its name."""

    slug: str
    name: str
    is_simulated: bool


@dataclass(frozen=True)
class Basis:
    """What the gate rests on: the study, the fit, and the two systems."""

    study: str
    fit: str
    pool: str
    context_set: str
    as_of: dt.datetime
    n_judgments: int
    n_units: int
    is_simulated: bool
    candidate: NamedSystem
    baseline: NamedSystem


@dataclass(frozen=True)
class GateReport:
    """What was found and what it rests on."""

    gate: Gate
    basis: Basis

    @property
    def is_simulated(self) -> bool:
        """Whether anything behind it is simulated."""
        basis = self.basis
        return basis.is_simulated or basis.candidate.is_simulated or basis.baseline.is_simulated


def verdict(gate: Gate) -> str:
    """Say in a sentence or two what was found."""
    drop = f"{gate.asked.max_drop:g} points"
    if gate.outcome is Outcome.HELD:
        return f"A drop of {drop} or more overall is ruled out, and no dimension shows one."
    if gate.outcome is Outcome.DROPPED:
        where = ", ".join(one.name for one in gate.dropped)
        return f"The candidate dropped by more than {drop}: {where}."
    return f"A drop of more than {drop} is neither shown nor ruled out. {_needed(gate)}".strip()


def as_text(report: GateReport) -> str:
    """Return the report for a terminal."""
    gate, basis = report.gate, report.basis
    lines = [
        f"{HEADLINES[gate.outcome]}: {basis.candidate.name} against {basis.baseline.name}",
        verdict(gate),
        *([SIMULATED] if report.is_simulated else []),
        "",
        f"{'':<24}{'difference':>12}{'at least':>12}{'at most':>12}{'p (Holm)':>12}",
        *(_line(one) for one in gate.tests),
        "",
        *gate.notes,
        _rests_on(basis),
    ]
    return "\n".join(lines)


def as_markdown(report: GateReport) -> str:
    """Return the report to be posted on a pull request; names cannot change its markup."""
    gate, basis = report.gate, report.basis
    names = " against ".join(escaped(one.name) for one in (basis.candidate, basis.baseline))
    bounds = f"At least | At most ({100 * gate.asked.level:g} %)"
    lines = [
        f"### {HEADLINES[gate.outcome]}: {names}",
        "",
        escaped(verdict(gate)),
        *(["", f"**{SIMULATED}**"] if report.is_simulated else []),
        "",
        f"| | Candidate | Baseline | Difference | {bounds} | p (Holm) | Judgments |",
        "| :-- | --: | --: | --: | --: | --: | --: | --: |",
        *(_row(one) for one in gate.tests),
        "",
        *(f"* {escaped(note)}" for note in gate.notes),
        *([""] if gate.notes else []),
        escaped(_rests_on(basis)),
        "",
        f"<sub>{METHOD} Allowed: {gate.asked.max_drop:g} points.</sub>",
        "",
    ]
    return "\n".join(lines)


def as_json(report: GateReport) -> dict[str, Any]:
    """Return the report for a program; figures are in points."""
    gate, basis = report.gate, report.basis
    return {
        "outcome": gate.outcome.value.replace(" ", "_"),
        "exit_code": gate.outcome.exit_code,
        "verdict": verdict(gate),
        "is_simulated": report.is_simulated,
        "simulated_note": SIMULATED if report.is_simulated else "",
        "study": basis.study,
        "candidate": vars(basis.candidate),
        "baseline": vars(basis.baseline),
        "max_drop": gate.asked.max_drop,
        "level": gate.asked.level,
        "fit": {
            "key": basis.fit,
            "pool": basis.pool,
            "context_set": basis.context_set,
            "as_of": basis.as_of.isoformat(),
            "n_judgments": basis.n_judgments,
            "n_dialogues": basis.n_units,
        },
        "tests": [_figures(one, gate) for one in gate.tests],
        "notes": list(gate.notes),
        "more": {
            "if_equal": _more_figures(gate.if_equal),
            "as_estimated": _more_figures(gate.as_estimated),
        },
        "method": METHOD,
    }


def as_radar(report: GateReport) -> str:
    """Return the picture of both by dimension, as SVG.

    Raises
    ------
    TooFewAxesError
        If fewer than three dimensions were tested.
    """
    basis = report.basis
    tests = [one for one in report.gate.tests if one.name != OVERALL]
    return radar(
        GateLine(basis.candidate.name, {one.name: one.candidate for one in tests}),
        GateLine(basis.baseline.name, {one.name: one.baseline for one in tests}),
        title=f"{basis.candidate.name} against {basis.baseline.name} by dimension",
        note=SIMULATED if report.is_simulated else "",
    )


def escaped(text: str) -> str:
    """Return words as Markdown shows them, whatever they are: no markup, no calls, one line."""
    line = " ".join(text.split())
    return "".join(
        f"&#{ord(sign)};" if sign in MARKUP else f"{sign}\u200b" if sign in NAMING else sign
        for sign in line
    )


def _needed(gate: Gate) -> str:
    """Say how many more judgments are likely to settle it."""
    more = gate.if_equal
    if more is None or more.judgments is None:
        return "No number of further judgments can be named."
    if more.judgments:
        return (
            f"If both are truly as good, about {more.judgments:,} more judgments on "
            f"{more.dialogues:,} more source dialogues would rule it out in 80 of 100 cases."
        )
    seems = gate.as_estimated
    if seems is None or not seems.judgments:
        return "There are as many judgments as this takes as a rule; a few more should settle it."
    return (
        "There are enough judgments to pass a candidate that is as good. If the two truly differ "
        f"as they seem to, it takes about {seems.judgments:,} more."
    )


def _line(one: GateTest) -> str:
    figures = f"{one.difference:>12.1f}{one.lowest:>12.1f}{one.highest:>12.1f}"
    return f"{one.name:<24}{figures}{one.p_adjusted:>12.4f}"


def _row(one: GateTest) -> str:
    points = (one.candidate, one.baseline, one.difference, one.lowest, one.highest)
    cells = (*(f"{value:.1f}" for value in points), f"{one.p_adjusted:.4f}", f"{one.n_judgments:,}")
    return f"| {escaped(one.name)} | {' | '.join(cells)} |"


def _rests_on(basis: Basis) -> str:
    return (
        f"Study {basis.study}, fit {basis.fit} ({basis.pool}, {basis.context_set}): "
        f"{basis.n_judgments:,} judgments on {basis.n_units:,} source dialogues "
        f"as of {basis.as_of:%Y-%m-%d %H.%M} UTC."
    )


def _figures(one: GateTest, gate: Gate) -> dict[str, Any]:
    return {
        "name": one.name,
        "candidate": round(one.candidate, 2),
        "baseline": round(one.baseline, 2),
        "difference": round(one.difference, 2),
        "at_least": round(one.lowest, 2),
        "at_most": round(one.highest, 2),
        "p_dropped": round(one.p_dropped, 6),
        "p_dropped_holm": round(one.p_adjusted, 6),
        "p_held": round(one.p_held, 6),
        "is_dropped": one in gate.dropped,
        "n_judgments": one.n_judgments,
        "n_dialogues": one.n_units,
    }


def _more_figures(more: More | None) -> dict[str, int | None] | None:
    if more is None:
        return None
    return {"judgments": more.judgments, "dialogues": more.dialogues}


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
