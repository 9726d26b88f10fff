"""Raters in threads who judge over HTTP as a browser does, and send again what got no answer.

And the books: what the database must say after a drill, beside what people were told.
"""

import http.client
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookiejar import CookieJar
from itertools import cycle
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin

from tests.faults.services import Cluster
from tests.helpers.processes import Process, wait_until
from tests.helpers.visits import ANSWERS, HTMX, Form, read_forms

N_RATERS = 6
THINKING_S = 0.1
AGAIN_S = 0.1
"""The page waits longer; who asks again sooner meets more of the outage."""
PATIENCE_S = 60
SAFE = ("Your answer is safe", "what you sent before is saved")
RESTING = {HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}


class StoppedError(Exception):
    """The drill is over."""


@dataclass(frozen=True)
class Page:
    """What came back."""

    content: bytes
    is_end: bool

    def form(self, name: str = "") -> Form:
        """Return its form of that id."""
        return next(form for form in read_forms(self) if form.id == name)


@dataclass
class Rater:
    """One person at one browser, who knows one or more addresses of the site."""

    addresses: Sequence[str]
    study: str
    stop: threading.Event
    acknowledged: list[str] = field(default_factory=list)
    """The tokens of the pairs for which the site said that it has the answer."""
    troubles: Counter[str] = field(default_factory=Counter)
    unkind: list[str] = field(default_factory=list)
    """What was said without a word of comfort, or without a time to come again."""
    failure: BaseException | None = None

    def __post_init__(self) -> None:
        self._next_address = cycle(self.addresses)
        self._browser = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
        )

    def go_through(self) -> None:
        """Agree, then judge pair after pair until the drill is over or nothing is left."""
        try:
            self._go_through()
        except StoppedError:
            return
        except BaseException as failure:
            self.failure = failure

    def open_first_pair(self) -> Page:
        """Agree, and be shown a pair, whose slot is then held."""
        consent = self._ask(f"/s/{self.study}/").form()
        self._ask(consent.action, consent.fields | {"choice": "agree"})
        return self._ask(f"/s/{self.study}/judge/")

    def _go_through(self) -> None:
        page = self.open_first_pair()
        while not page.is_end:
            form = page.form("answer")
            page = self._ask(form.action, form.fields | ANSWERS["preference"], HTMX)
            self.acknowledged.append(form.action.strip("/").rpartition("/")[2])
            self.stop.wait(THINKING_S)
        msg = f"{self.study} has no pair left"
        raise RuntimeError(msg)

    def _ask(
        self, path: str, fields: Mapping[str, str] | None = None, headers: Mapping[str, str] = {}
    ) -> Page:
        """Send the same until it is answered, as the page does."""
        while not self.stop.is_set():
            try:
                return self._send(path, fields, headers)
            except HTTPError as refused:
                self._note(refused)
            except (OSError, http.client.HTTPException):  # refused, reset, cut
                self.troubles["no answer"] += 1
            self.stop.wait(AGAIN_S)
        raise StoppedError

    def _send(
        self, path: str, fields: Mapping[str, str] | None, headers: Mapping[str, str]
    ) -> Page:
        data = None if fields is None else urlencode(fields).encode()
        address = urljoin(next(self._next_address), path)
        request = urllib.request.Request(address, data, dict(headers))
        with self._browser.open(request, timeout=PATIENCE_S) as answer:
            return Page(answer.read(), is_end="HX-Redirect" in answer.headers)

    def _note(self, refused: HTTPError) -> None:
        with refused:
            said = refused.read().decode()
        self.troubles[str(refused.code)] += 1
        is_kind = any(word in said for word in SAFE) and "Retry-After" in refused.headers
        if refused.code not in RESTING or not is_kind:
            self.unkind.append(f"{refused.code}: {said[-500:]}")


@dataclass(frozen=True)
class Crowd:
    """Raters who judge at the same time, and the processes that serve them."""

    raters: Sequence[Rater]
    processes: Sequence[Process]

    def wait_for_each(self, n: int) -> float:
        """Wait until each has had so many more answers taken; return the seconds it took."""
        begun = time.monotonic()
        wanted = [len(one.acknowledged) + n for one in self.raters]

        def reached() -> bool:
            self._look_for_failures()
            return all(
                len(one.acknowledged) >= least
                for one, least in zip(self.raters, wanted, strict=True)
            )

        wait_until(reached, *self.processes)
        return time.monotonic() - begun

    def wait_for_trouble(self, *, n: int = N_RATERS) -> None:
        """Wait until so many have met trouble that was not there before."""
        before = [one.troubles.total() for one in self.raters]

        def reached() -> bool:
            self._look_for_failures()
            now = [one.troubles.total() for one in self.raters]
            return sum(seen > known for seen, known in zip(now, before, strict=True)) >= n

        wait_until(reached, *self.processes)

    @property
    def acknowledged(self) -> list[str]:
        """The tokens of all pairs that were said to be answered."""
        return [token for one in self.raters for token in one.acknowledged]

    @property
    def troubles(self) -> Counter[str]:
        """What people saw besides pages, and how often."""
        return sum((one.troubles for one in self.raters), Counter())

    def _look_for_failures(self) -> None:
        for one in self.raters:
            if one.failure is not None:
                raise one.failure


@contextmanager
def judging(study: str, *webs: Process, addresses: Sequence[str]) -> Iterator[Crowd]:
    """Have a crowd judge for the length of the block; everybody has been told something since."""
    stop = threading.Event()
    raters = [Rater(addresses, study, stop) for _ in range(N_RATERS)]
    threads = [threading.Thread(target=one.go_through, daemon=True) for one in raters]
    for thread in threads:
        thread.start()
    try:
        yield Crowd(raters, webs)
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE_S)
    assert [one.failure for one in raters if one.failure] == []


STORED = """
    SELECT count(*) FROM annotation_judgment j
    JOIN annotation_comparison c ON c.id = j.comparison_id
    JOIN annotation_study s ON s.id = c.study_id WHERE s.slug = %s"""
LOST = """
    SELECT token FROM unnest(%s::uuid[]) token WHERE NOT EXISTS (
        SELECT 1 FROM annotation_lease l JOIN annotation_judgment j ON j.lease_id = l.id
        WHERE l.token = token.token)"""
TWICE = """
    SELECT l.token, count(*) FROM annotation_judgment j
    JOIN annotation_lease l ON l.id = j.lease_id
    JOIN annotation_comparison c ON c.id = j.comparison_id
    JOIN annotation_study s ON s.id = c.study_id WHERE s.slug = %s
    GROUP BY l.token HAVING count(*) > 1
    UNION ALL
    SELECT NULL, count(*) FROM annotation_judgment j
    JOIN annotation_comparison c ON c.id = j.comparison_id
    JOIN annotation_study s ON s.id = c.study_id WHERE s.slug = %s
    GROUP BY j.comparison_id, j.rater_id HAVING count(*) > 1"""
OUT_OF_ORDER = """
    SELECT c.key, c.slots_left, held.n, counted.n FROM annotation_comparison c
    JOIN annotation_study s ON s.id = c.study_id
    CROSS JOIN LATERAL (SELECT count(*) n FROM annotation_lease l
        WHERE l.comparison_id = c.id AND l.closed_at IS NULL) held
    CROSS JOIN LATERAL (SELECT count(*) n FROM annotation_judgment j
        WHERE j.comparison_id = c.id AND NOT j.is_surplus) counted
    WHERE s.slug = %s AND (c.slots_left < 0
        OR c.slots_left + held.n + counted.n <> s.judgments_per_pair)"""


@dataclass(frozen=True)
class Balance:
    """How the judgments of a study compare with what raters were told."""

    stored: int
    lost: list[str]
    """Tokens of answers that were acknowledged and are not there."""
    twice: list[object]
    """Answers stored more than once, and raters with two answers to one pair."""
    out_of_order: list[object]
    """Pairs whose free slots, open leases and judgments do not add up to their quota."""

    def check(self, acknowledged: Sequence[str], *, n_raters: int) -> None:
        """Nothing is lost, nothing is counted twice, and nothing was stored that nobody sent."""
        assert self.lost == []
        assert self.twice == []
        assert self.out_of_order == []
        assert len(acknowledged) == len(set(acknowledged))
        # Whose answer was on its way when the drill ended was not told that it had arrived.
        assert len(acknowledged) <= self.stored <= len(acknowledged) + n_raters


def balance(cluster: Cluster, study: str, acknowledged: Sequence[str]) -> Balance:
    """Read how a study stands."""
    ((stored,),) = cluster.rows(STORED, study)
    return Balance(
        stored=stored,
        lost=[str(token) for (token,) in cluster.rows(LOST, list(acknowledged))],
        twice=list(cluster.rows(TWICE, study, study)),
        out_of_order=list(cluster.rows(OUT_OF_ORDER, study)),
    )
