"""What is printed: a line for each step, the ratios to the floor, and what the goals say."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.load.stack import Cost

HEAD = """
                           submit and next, ms      next (page), ms      errors  CPU ms a loop  RSS
            raters  loops/s   p50   p95    p99      p50   p95   p99                web     db    MB
"""
QUANTILES = (0.5, 0.95, 0.99)
SHARE_OF_FLOOR, RATE, CROWD_P95_MS = 0.4, 500, 60.0
GOALS_MS = Cost(2.5, 2.0)
COMPARED = 64
"""The number of raters at which there are goals."""


@dataclass(frozen=True)
class Step:
    """What a server did in one step; ``submit`` and ``next`` are seconds of each request."""

    name: str
    n_raters: int
    seconds: float
    submit: Sequence[float]
    next: Sequence[float]
    n_errors: int
    cost: Cost
    largest_mb: float

    @property
    def rate(self) -> float:
        """Loops a second."""
        return len(self.submit) / self.seconds if self.seconds else 0.0

    @property
    def cost_ms(self) -> Cost:
        """Milliseconds of processor time for each loop."""
        return Cost(*(1000 * one / max(1, len(self.submit)) for one in self.cost))

    def __str__(self) -> str:
        return (
            f"{self.name:<12}{self.n_raters:>6}{self.rate:>9.0f}"
            f"{_milliseconds(self.submit)}   {_milliseconds(self.next)}"
            f"{self.n_errors:>10}{self.cost_ms.web:>11.1f}{self.cost_ms.database:>7.1f}"
            f"{self.largest_mb:>6.0f}"
        )


def _milliseconds(seconds: Sequence[float]) -> str:
    if not seconds:
        return "     -" * len(QUANTILES)
    return "".join(f"{1000 * one:6.0f}" for one in np.quantile(seconds, QUANTILES))


def ratio(site: Step, bare: Step, transactions: float | None) -> str:
    """Return what the site does of what the floor does, and the floor of its SQL alone."""
    share = site.rate / bare.rate
    line = f"{site.n_raters:>4} raters: {share:.2f} of the bare floor"
    if site.n_raters == COMPARED:
        line += _verdict(f">= {SHARE_OF_FLOOR:g}", is_met=share >= SHARE_OF_FLOOR)
    if transactions is None:
        return f"{line}; pgbench is not installed"
    return f"{line}; SQL alone in pgbench {transactions:.0f}/s"


def goals(steps: Sequence[Step], crowd: Step) -> list[str]:
    """Return what the goals say of speed, processor time, of the crowd and of errors."""
    lines = [line for one in steps if one.n_raters == COMPARED for line in _at_speed(one)]
    if crowd.submit:
        p95 = 1000 * float(np.quantile(crowd.submit, 0.95))
        met = _verdict(f"<= {CROWD_P95_MS:g} ms", is_met=p95 <= CROWD_P95_MS)
        lines.append(f"p95 of submit and next in the crowd: {p95:.0f} ms{met}")
    n_errors = sum(one.n_errors for one in (*steps, crowd))
    return [*lines, f"errors: {n_errors}{_verdict('0', is_met=n_errors == 0)}"]


def _at_speed(step: Step) -> list[str]:
    lines = [f"loops a second: {step.rate:.0f}{_verdict(f'>= {RATE}', is_met=step.rate >= RATE)}"]
    for name, ms, goal in zip(("web", "database"), step.cost_ms, GOALS_MS, strict=True):
        verdict = _verdict(f"<= {goal:g} ms", is_met=ms <= goal)
        lines.append(f"CPU of the {name} a loop: {ms:.1f} ms{verdict}")
    return lines


def _verdict(goal: str, *, is_met: bool) -> str:
    return f" (goal {goal}: {'met' if is_met else 'missed'})"
