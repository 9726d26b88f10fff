"""Raters and their way through a study: entry link, consent, questions, then pair after pair.

They go round together without a pause, or arrive one by one and think.
"""

import asyncio
import html
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

import numpy as np

from benchmarks.load.browser import HTMX, Answer, Browser
from benchmarks.load.floor_sql import NEXT

SUBMIT = re.compile(
    rb'<form id="answer"[^>]*? action="(/s/[^"]*?/judge/([0-9a-f-]{36})/)"', re.DOTALL
)
FIELD = re.compile(rb'<input[^>]*? type="hidden"[^>]*? name="([^"]+)"[^>]*? value="([^"]*)"')
LOST = (OSError, EOFError, TimeoutError)
REASONS = (
    "It takes up what was said, and asks a question that fits.",
    "One of them is in a hurry to advise; the other stays with what hurts.",
    "Both are kind, but only this one could not be said to anybody else.",
)


class WrongAnswerError(Exception):
    """The site answered with something else than the page that had to come."""


@dataclass
class Seen:
    """What raters saw: seconds by the kind of request, errors, answers that were acknowledged."""

    entry: list[float] = field(default_factory=list)
    next: list[float] = field(default_factory=list)
    submit: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    acknowledged: set[str] = field(default_factory=set)


@dataclass
class Rater:
    """One rater of the study of the slug; ``right`` are the answers to its questions."""

    browser: Browser
    slug: str
    person: str
    right: Mapping[str, str]
    n_given: int = 0
    page: Answer | None = None

    async def enter(self, seen: Seen) -> None:
        """Come by the platform's link, agree, try the practice pair, and open the first pair."""
        await self._timed(seen, seen.entry, self._enter)

    async def reload(self, seen: Seen) -> None:
        """Open the page of the pair anew, as after a break or in another tab."""
        await self._timed(seen, seen.next, self._open)

    async def submit(self, seen: Seen) -> None:
        """Answer the pair that is on the page, which brings the next one."""
        await self._timed(seen, seen.submit, lambda: self._submit(seen))

    async def _timed(
        self, seen: Seen, seconds: list[float], act: Callable[[], Awaitable[None]]
    ) -> None:
        started = time.perf_counter()
        try:
            await act()
        except WrongAnswerError as error:
            seen.errors[str(error)] += 1
        except LOST as error:
            seen.errors[type(error).__name__] += 1
            await self.browser.close()
        else:
            seconds.append(time.perf_counter() - started)

    async def _enter(self) -> None:
        browser, base = self.browser, f"/s/{self.slug}/"
        ids = f"PROLIFIC_PID={self.person}&STUDY_ID=load&SESSION_ID={self.person}"
        page = await browser.visit(f"{base}?{ids}")
        fields = {**_hidden(page), "choice": "agree", "utc_offset_minutes": "60"}
        page = await browser.follow(await browser.fetch(f"{base}consent/", fields))
        await browser.load_assets(page)
        practice = {**_hidden(page), "verdict": "2", "rationale": REASONS[0]}
        await browser.fetch(f"{base}how/", practice, extra=HTMX)
        page = await browser.visit(f"{base}judge/")
        if self.right:
            answers = {**_hidden(page), **self.right}
            page = await browser.follow(await browser.fetch(f"{base}questions/", answers))
            await browser.load_assets(page)
        self._take(page)

    async def _open(self) -> None:
        self._take(await self.browser.visit(f"/s/{self.slug}/judge/"))

    async def _submit(self, seen: Seen) -> None:
        if self.page is None:
            await self._open()
        action, token = self._form()
        fields = {
            **_hidden(self.page),
            "hidden_ms": "0",
            "verdict": str((-2, -1, 0, 1, 2)[self.n_given % 5]),
            "rationale": REASONS[self.n_given % len(REASONS)],
        }
        answer = await self.browser.fetch(action, fields, extra=HTMX)
        if answer.status == HTTPStatus.OK:
            seen.acknowledged.add(token)
        self.n_given += 1
        self._take(answer)

    def _take(self, page: Answer) -> None:
        """Keep the page for the next answer, if there is a pair on it."""
        self.page = page if SUBMIT.search(page.body) else None
        if self.page is None:
            msg = f"{page.status} without a pair"
            raise WrongAnswerError(msg)

    def _form(self) -> tuple[str, str]:
        found = SUBMIT.search(self.page.body) if self.page else None
        if found is None:
            msg = "no form to answer"
            raise WrongAnswerError(msg)
        return found[1].decode(), found[2].decode()


def _hidden(page: Answer | None) -> dict[str, str]:
    """Return the hidden fields of a page's forms, as its forms would post them."""
    found = FIELD.findall(page.body) if page else []
    return {name.decode(): html.unescape(value.decode()) for name, value in found}


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
