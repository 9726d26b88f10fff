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
        self.raters.append(Rater(browser, self.slug, f"load-{n}", self.right))
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
        cpu = self.site.cpu_seconds()
        took = await crowd.go_round(raters, self.seconds, seen)
        cpu = self.site.cpu_seconds() - cpu
        await crowd.reload(raters, self.seconds, seen)
        return self._step("site", n, took, seen, cpu)

    async def arriving(self, plan: crowd.Arrivals) -> report.Step:
        """Let a crowd of new raters arrive, think and judge."""
        seen = Seen()
        cpu = self.site.cpu_seconds()
        await crowd.arrive([self.rater() for _rater in range(plan.n_raters)], plan, seen)
        cpu = self.site.cpu_seconds() - cpu
        return self._step("crowd", plan.n_raters, plan.over_s, seen, cpu)

    def _step(self, name: str, n: int, took: float, seen: Seen, cpu: float) -> report.Step:
        self.keep(seen)
        n_errors = seen.errors.total()
        return report.Step(
            name, n, took, seen.submit, seen.next, n_errors, cpu, self.site.largest_mb()
        )

    async def at_the_floor(self, n: int) -> report.Step:
        """Let n visitors go round at bare Django."""
        visitors = []
        for place, cookie in enumerate(self.cookies[:n]):
            browser = Browser(self.bare.port, f"127.2.{place // 250}.{place % 250 + 1}")
            browser.cookies[floor_sql.SALT] = (cookie, "/")
            visitors.append(crowd.Visitor(browser))
        cpu = self.bare.cpu_seconds()
        took = await crowd.go_round_floor(visitors, self.seconds)
        cpu = self.bare.cpu_seconds() - cpu
        taken = [one for visitor in visitors for one in visitor.taken]
        n_errors = sum(visitor.n_errors for visitor in visitors)
        for visitor in visitors:
            await visitor.browser.close()
        return report.Step("bare floor", n, took, taken, (), n_errors, cpu, self.bare.largest_mb())

    async def leave(self) -> None:
        """Close every rater's browser."""
        for rater in self.raters:
            await rater.browser.close()
