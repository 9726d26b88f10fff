"""Let raters go round: together without a pause, or arriving one by one and thinking."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.load.browser import Browser
from benchmarks.load.floor_sql import NEXT
from benchmarks.load.rater import LOST, Rater, Seen

NEXT_SHARE = 0.2  # of the time of a step goes to pages that are opened anew
SEED = 20_260_105


@dataclass(frozen=True)
class Arrivals:
    """A crowd: how many come within how long, how long each thinks, and when it is over."""

    n_raters: int
    within_s: float
    think_s: tuple[float, float]
    over_s: float


@dataclass
class Visitor:
    """Somebody at the bare floor: where to post next."""

    browser: Browser
    path: str = "/1/"
    taken: list[float] = field(default_factory=list)
    n_errors: int = 0


async def enter(raters: Sequence[Rater], seen: Seen) -> None:
    """Let raters in, all at once."""
    await asyncio.gather(*(rater.enter(seen) for rater in raters))


async def go_round(raters: Sequence[Rater], seconds: float, seen: Seen) -> float:
    """Let raters answer one pair after the other; return for how long they did."""
    started = time.perf_counter()

    async def go(rater: Rater) -> None:
        while time.perf_counter() - started < seconds:
            await rater.submit(seen)

    await asyncio.gather(*(go(rater) for rater in raters))
    return time.perf_counter() - started


async def reload(raters: Sequence[Rater], seconds: float, seen: Seen) -> None:
    """Let raters open the page of their pair anew, over and over."""
    until = time.perf_counter() + seconds * NEXT_SHARE

    async def go(rater: Rater) -> None:
        await rater.reload(seen)
        while time.perf_counter() < until:
            await rater.reload(seen)

    await asyncio.gather(*(go(rater) for rater in raters))


async def arrive(raters: Sequence[Rater], plan: Arrivals, seen: Seen) -> None:
    """Let raters come at even chances within the time, think, answer, and think again."""
    chance = np.random.default_rng(SEED)
    arrivals = chance.uniform(0, plan.within_s, len(raters))
    started = time.perf_counter()

    async def go(rater: Rater, after_s: float) -> None:
        await asyncio.sleep(after_s)
        await rater.enter(seen)
        while True:
            think_s = chance.uniform(*plan.think_s)
            if time.perf_counter() - started + think_s > plan.over_s:
                return
            await asyncio.sleep(think_s)
            await rater.submit(seen)

    await asyncio.gather(*(go(*one) for one in zip(raters, arrivals, strict=True)))


async def go_round_floor(visitors: Sequence[Visitor], seconds: float) -> float:
    """Let visitors of the bare floor answer one pair after the other; return for how long."""
    started = time.perf_counter()
    fields = {"verdict": "1", "rationale": "It takes up what was said, and asks what fits."}

    async def go(visitor: Visitor) -> None:
        while time.perf_counter() - started < seconds:
            begun = time.perf_counter()
            try:
                answer = await visitor.browser.fetch(visitor.path, fields)
            except LOST:
                visitor.n_errors += 1
                await visitor.browser.close()
                continue
            visitor.taken.append(time.perf_counter() - begun)
            found = NEXT.search(answer.body)
            visitor.n_errors += found is None
            visitor.path = found[1].decode() if found else visitor.path

    await asyncio.gather(*(go(visitor) for visitor in visitors))
    return time.perf_counter() - started
