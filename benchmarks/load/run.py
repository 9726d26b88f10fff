"""One run: steps against a site and the bare floor, what was seen in them, and how it is told.

A line is printed for each step, the ratios to the floor, and what the goals say.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.load import crowd, floor_sql, stack
from benchmarks.load.browser import Browser
from benchmarks.load.crowd import Rater, Seen
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


def goals(steps: Sequence[Step], arrived: Step) -> list[str]:
    """Return what the goals say of speed, processor time, of the crowd and of errors."""
    lines = [line for one in steps if one.n_raters == COMPARED for line in _at_speed(one)]
    if arrived.submit:
        p95 = 1000 * float(np.quantile(arrived.submit, 0.95))
        met = _verdict(f"<= {CROWD_P95_MS:g} ms", is_met=p95 <= CROWD_P95_MS)
        lines.append(f"p95 of submit and next in the crowd: {p95:.0f} ms{met}")
    n_errors = sum(one.n_errors for one in (*steps, arrived))
    return [*lines, f"errors: {n_errors}{_verdict('0', is_met=n_errors == 0)}"]


def _at_speed(step: Step) -> list[str]:
    lines = [f"loops a second: {step.rate:.0f}{_verdict(f'>= {RATE}', is_met=step.rate >= RATE)}"]
    for name, ms, goal in zip(("web", "database"), step.cost_ms, GOALS_MS, strict=True):
        verdict = _verdict(f"<= {goal:g} ms", is_met=ms <= goal)
        lines.append(f"CPU of the {name} a loop: {ms:.1f} ms{verdict}")
    return lines


def _verdict(goal: str, *, is_met: bool) -> str:
    return f" (goal {goal}: {'met' if is_met else 'missed'})"


@dataclass
class Run:
    """A run against a site and the floor, and all that was seen in it."""

    site: stack.Server
    bare: stack.Server
    name: str
    cookies: list[str]
    slug: str
    right: dict[str, str]
    seconds: float
    raters: list[Rater] = field(default_factory=list)
    acknowledged: set[str] = field(default_factory=set)
    errors: Counter[str] = field(default_factory=Counter)

    def rater(self) -> Rater:
        """Return somebody new, at an address of their own."""
        n = len(self.raters)
        browser = Browser(self.site.port, f"127.1.{n // 250}.{n % 250 + 1}")
        self.raters.append(Rater(browser, self.slug, f"{self.name}-{n}", self.right))
        return self.raters[-1]

    def keep(self, seen: Seen) -> None:
        """Add to what was seen in the whole run."""
        self.acknowledged |= seen.acknowledged
        self.errors += seen.errors

    async def together(self, n: int) -> Step:
        """Let n raters judge without a pause, then open their pages over and over."""
        seen = Seen()
        await crowd.enter([self.rater() for _rater in range(n - len(self.raters))], seen)
        raters = self.raters[:n]
        before = self.site.cost()
        took = await crowd.go_round(raters, self.seconds, seen)
        cost = self.site.cost() - before
        await crowd.reload(raters, self.seconds, seen)
        return self._step(self.name, n, took, seen, cost)

    async def arriving(self, plan: crowd.Arrivals) -> Step:
        """Let a crowd of new raters arrive, think and judge."""
        seen = Seen()
        before = self.site.cost()
        await crowd.arrive([self.rater() for _rater in range(plan.n_raters)], plan, seen)
        cost = self.site.cost() - before
        return self._step("crowd", plan.n_raters, plan.over_s, seen, cost)

    def _step(self, name: str, n: int, took: float, seen: Seen, cost: Cost) -> Step:
        self.keep(seen)
        n_errors = seen.errors.total()
        return Step(name, n, took, seen.submit, seen.next, n_errors, cost, self.site.largest_mb())

    async def at_the_floor(self, n: int) -> Step:
        """Let n visitors go round at bare Django."""
        visitors = []
        for place, cookie in enumerate(self.cookies[:n]):
            browser = Browser(self.bare.port, f"127.2.{place // 250}.{place % 250 + 1}")
            browser.cookies[floor_sql.SALT] = (cookie, "/")
            visitors.append(crowd.Visitor(browser))
        before = self.bare.cost()
        took = await crowd.go_round_floor(visitors, self.seconds)
        cost = self.bare.cost() - before
        taken = [one for visitor in visitors for one in visitor.taken]
        n_errors = sum(visitor.n_errors for visitor in visitors)
        for visitor in visitors:
            await visitor.browser.close()
        return Step("bare floor", n, took, taken, (), n_errors, cost, self.bare.largest_mb())

    async def leave(self) -> None:
        """Close every rater's browser."""
        for rater in self.raters:
            await rater.browser.close()
