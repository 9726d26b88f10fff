"""Let a population of simulated raters go through a study, in the order of virtual time.

Everything that has happened is in the database: a rehearsal that was stopped goes on with the
raters who have not ended, after the last moment that is stored.
"""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.db.models import Count, Max

from annotation.choices import RaterState
from annotation.judging.services import leasing
from annotation.models import Rater, Study
from heart_site.demo.rehearsal.browser import Browser
from heart_site.demo.rehearsal.walking import Walk, task_of
from heart_site.demo.simulation.answering import Mind
from heart_site.demo.simulation.people import USUAL, Crowd, SimulatedRater, VirtualClock
from heart_site.demo.simulation.truth import Truth

WITHOUT_SCRIPTS = 5
"""One in so many raters has a browser without scripts."""

Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Cast:
    """Who takes part, what is true, and the seed of their whims."""

    people: Sequence[SimulatedRater]
    truth: Truth
    seed: int
    crowd: Crowd = USUAL

    def external_id(self, person: SimulatedRater) -> str:
        """Return the id under which a platform would send this person."""
        return f"simulated-{self.seed}-{person.index:05d}"


@dataclass(frozen=True)
class _Trace:
    """What an earlier run left of a rater."""

    is_over: bool
    n_leases: int
    is_holding: bool
    last_at: dt.datetime


def rehearse(*, study: Study, cast: Cast, tell: Tell) -> None:
    """Have everybody who has not ended go on to their end; ``tell`` is told how many have.

    Raises
    ------
    ValueError
        If the study is a real one.
    """
    if not study.is_simulated:
        msg = f'"{study.slug}" is a real study: simulated raters are never let into one'
        raise ValueError(msg)
    traces = _traces(study)
    clock = VirtualClock(max([study.created_at, *(one.last_at for one in traces.values())]))
    walks = dict(_walks(study, cast, traces))
    for person in cast.people:
        if person.index in walks:
            clock.wake(person.index, at=study.created_at + _seconds(person.arrives_after))
    with _kept_connection():
        _run_walks(clock, walks, lambda n_left: tell(len(cast.people) - n_left, len(cast.people)))
    ended = clock.now + dt.timedelta(minutes=study.lease_minutes)
    leasing.release_expired_leases(now=ended, is_simulated=True)


def _run_walks(clock: VirtualClock, walks: Mapping[int, Walk], tell: Callable[[int], None]) -> None:
    """Let each act when it is their turn, until all have come to their end."""
    n_left = len(walks)
    tell(n_left)
    for index in clock.turns():
        leasing.release_expired_leases(now=clock.now, is_simulated=True)
        wait = walks[index].act(clock.now)
        if wait is not None:
            clock.wake(index, at=clock.now + _seconds(wait))
            continue
        n_left -= 1
        tell(n_left)


@contextmanager
def _kept_connection() -> Iterator[None]:
    """Keep the database connection over requests: they all come from this very thread.

    A server drops it in between when it is old, and inside a transaction always.
    """
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def _walks(study: Study, cast: Cast, traces: dict[str, _Trace]) -> Iterator[tuple[int, Walk]]:
    """Yield a walk for everybody who has not ended or left."""
    application = WSGIHandler()
    for person in cast.people:
        name = cast.external_id(person)
        task = task_of(study.content, slug=study.slug, protocol=study.protocol, external_id=name)
        trace = traces.get(name)
        mind = Mind(person, cast.truth, cast.seed, cast.crowd)
        browser = Browser(application, has_scripts=person.index % WITHOUT_SCRIPTS > 0)
        walk = Walk(mind, browser, task, turn=trace.n_leases if trace else 0)
        if trace is not None and (trace.is_over or walk.has_left()):
            continue
        walk.turn -= trace is not None and trace.is_holding  # the pair in hand is shown again
        yield person.index, walk


def _traces(study: Study) -> dict[str, _Trace]:
    """Return what is stored of each rater, by their platform's id."""
    raters = Rater.objects.filter(study=study).annotate(
        n_leases=Count("leases"),
        n_closed=Count("leases__closed_at"),
        issued=Max("leases__issued_at"),
        closed=Max("leases__closed_at"),
    )
    return {
        rater.external_id: _Trace(
            is_over=rater.state != RaterState.ACTIVE,
            n_leases=rater.n_leases,
            is_holding=rater.n_closed < rater.n_leases,
            last_at=max(at for at in (rater.entered_at, rater.issued, rater.closed) if at),
        )
        for rater in raters
    }


def _seconds(seconds: float) -> dt.timedelta:
    return dt.timedelta(seconds=seconds)
