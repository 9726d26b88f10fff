"""What the gate found: in words for a terminal, a pull request, or a program, and as a radar."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ranking.gate.rules import OVERALL, Gate, GateTest, Outcome
from ranking.judgments.sources import SystemFacts
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
class GateReport:
    """What was found, and what it rests on: the study, the fit, and the two systems.

    ``is_fit_simulated`` says whether the judgments are; a system may be by itself.
    """

    gate: Gate
    study: str
    fit: str
    pool: str
    context_set: str
    as_of: dt.datetime
    n_judgments: int
    n_units: int
    is_fit_simulated: bool
    candidate: SystemFacts
    baseline: SystemFacts

    @property
    def is_simulated(self) -> bool:
        """Whether anything behind it is simulated."""
        systems = (self.candidate, self.baseline)
        return self.is_fit_simulated or any(one.is_simulated for one in systems)


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
    gate = report.gate
    lines = [
        f"{HEADLINES[gate.outcome]}: {report.candidate.name} against {report.baseline.name}",
        verdict(gate),
        *([SIMULATED] if report.is_simulated else []),
        "",
        f"{'':<24}{'difference':>12}{'at least':>12}{'at most':>12}{'p (Holm)':>12}",
        *(_line(one) for one in gate.tests),
        "",
        *gate.notes,
        _rests_on(report),
    ]
    return "\n".join(lines)


def as_markdown(report: GateReport) -> str:
    """Return the report to be posted on a pull request; names cannot change its markup."""
    gate = report.gate
    names = " against ".join(escaped(one.name) for one in (report.candidate, report.baseline))
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
        escaped(_rests_on(report)),
        "",
        f"<sub>{METHOD} Allowed: {gate.asked.max_drop:g} points.</sub>",
        "",
    ]
    return "\n".join(lines)


def as_json(report: GateReport) -> dict[str, Any]:
    """Return the report for a program; figures are in points."""
    gate = report.gate
    return {
        "outcome": gate.outcome.value.replace(" ", "_"),
        "exit_code": gate.outcome.exit_code,
        "verdict": verdict(gate),
        "is_simulated": report.is_simulated,
        "simulated_note": SIMULATED if report.is_simulated else "",
        "study": report.study,
        "candidate": _named(gate.asked.candidate, report.candidate),
        "baseline": _named(gate.asked.baseline, report.baseline),
        "max_drop": gate.asked.max_drop,
        "level": gate.asked.level,
        "fit": {
            "key": report.fit,
            "pool": report.pool,
            "context_set": report.context_set,
            "as_of": report.as_of.isoformat(),
            "n_judgments": report.n_judgments,
            "n_dialogues": report.n_units,
        },
        "tests": [_figures(one, gate) for one in gate.tests],
        "notes": list(gate.notes),
        "more": {
            "if_equal": gate.if_equal._asdict() if gate.if_equal else None,
            "as_estimated": gate.as_estimated._asdict() if gate.as_estimated else None,
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
    tests = [one for one in report.gate.tests if one.name != OVERALL]
    return radar(
        (report.candidate.name, report.baseline.name),
        {one.name: (one.candidate, one.baseline) for one in tests},
        title=f"{report.candidate.name} against {report.baseline.name} by dimension",
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


def _rests_on(report: GateReport) -> str:
    return (
        f"Study {report.study}, fit {report.fit} ({report.pool}, {report.context_set}): "
        f"{report.n_judgments:,} judgments on {report.n_units:,} source dialogues "
        f"as of {report.as_of:%Y-%m-%d %H.%M} UTC."
    )


def _named(slug: str, system: SystemFacts) -> dict[str, str | bool]:
    return {"slug": slug, "name": system.name, "is_simulated": system.is_simulated}


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


def radar(
    names: tuple[str, str],
    points: Mapping[str, tuple[float, float]],
    *,
    title: str,
    note: str = "",
) -> str:
    """Draw two systems by dimension.

    Parameters
    ----------
    names : tuple of two str
        Of the candidate and of the baseline.
    points : mapping
        Elo points of the candidate and of the baseline by axis.
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
        If there are fewer than three axes.
    """
    if len(points) < FEWEST_AXES:
        msg = f"a radar needs {FEWEST_AXES} dimensions rated for both, not {len(points)}"
        raise TooFewAxesError(msg)
    rings = Rings.around([one for both in points.values() for one in both], least=LEAST_STEP)
    told = ", ".join(f"{axis} {new:.0f} and {old:.0f}" for axis, (new, old) in points.items())
    parts = [
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(f'Candidate and baseline: {told}. {note}'.strip())}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        *_grid(list(points), rings),
        _area("baseline", [old for _, old in points.values()], rings),
        _area("candidate", [new for new, _ in points.values()], rings),
        *_legend(*names, note),
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
