"""One run: steps against a site and the bare floor, and all that was seen in them."""

from collections import Counter
from dataclasses import dataclass, field

from benchmarks.load import crowd, floor_sql, report, stack
from benchmarks.load.browser import Browser
from benchmarks.load.rater import Rater, Seen


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

    async def together(self, n: int) -> report.Step:
        """Let n raters judge without a pause, then open their pages over and over."""
        seen = Seen()
        await crowd.enter([self.rater() for _rater in range(n - len(self.raters))], seen)
        raters = self.raters[:n]
        before = self.site.cost()
        took = await crowd.go_round(raters, self.seconds, seen)
        cost = self.site.cost() - before
        await crowd.reload(raters, self.seconds, seen)
        return self._step(self.name, n, took, seen, cost)

    async def arriving(self, plan: crowd.Arrivals) -> report.Step:
        """Let a crowd of new raters arrive, think and judge."""
        seen = Seen()
        before = self.site.cost()
        await crowd.arrive([self.rater() for _rater in range(plan.n_raters)], plan, seen)
        cost = self.site.cost() - before
        return self._step("crowd", plan.n_raters, plan.over_s, seen, cost)

    def _step(self, name: str, n: int, took: float, seen: Seen, cost: stack.Cost) -> report.Step:
        self.keep(seen)
        n_errors = seen.errors.total()
        return report.Step(
            name, n, took, seen.submit, seen.next, n_errors, cost, self.site.largest_mb()
        )

    async def at_the_floor(self, n: int) -> report.Step:
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
        return report.Step("bare floor", n, took, taken, (), n_errors, cost, self.bare.largest_mb())

    async def leave(self) -> None:
        """Close every rater's browser."""
        for rater in self.raters:
            await rater.browser.close()
