"""Claim the fits of studies whose judgments changed; the others cost a glance."""

import datetime as dt
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.core.cache import caches

from access.nudges import Work, nudge
from annotation.models import Study
from annotation.studies import queries as study_queries
from ranking.choices import EvaluatorPool
from ranking.fits import queries
from ranking.fits.services.claiming import MOVED, PATIENCE, look_at, method_of, reclaim_lost_fits
from ranking.judgments.analysis_set import OVERLAP, n_decisions, n_given, newest_judgment
from ranking.models import Fit

# Then a study is looked at whatever a glance says. What no look sees either (a row edited by hand,
# a transaction of many minutes) is seen when everything is counted anew, once a day.
LONGEST = dt.timedelta(minutes=5)
Names = frozenset[tuple[str, bool]]


@dataclass(frozen=True)
class _Glance:
    """What a few rows tell of a study.

    ``n_given`` counts its judgments with keys after ``after``, some of which were known then:
    one that comes in late, with a key below the newest, makes a difference too. ``fits`` are the
    names of its newest fits, and whether they were made as fits are now.
    """

    after: int
    n_given: int
    n_decisions: int
    is_simulated: bool
    fits: Names


@dataclass(frozen=True)
class _Seen:
    """What was seen of a study when it was looked at.

    ``until`` is when to look in any case; before, growth by less than ``room`` may wait a little.
    """

    glance: _Glance
    at: dt.datetime
    until: dt.datetime
    room: float

    def is_enough(self, glance: _Glance, *, now: dt.datetime) -> bool:
        """Say whether no other look is needed, given what is to be seen now."""
        if not self.at <= now < self.until or replace(glance, n_given=0) != self._rest:
            return False
        grown = abs(glance.n_given - self.glance.n_given)
        return grown == 0 or (grown < self.room and now < self.at + PATIENCE)

    @property
    def _rest(self) -> _Glance:
        return replace(self.glance, n_given=0)


def claim_all_changed_fits(*, now: dt.datetime) -> list[int]:
    """Claim every fit that is out of date or whose worker was lost, and return their keys.

    A study is looked at when a glance says that something changed, and every few minutes. Each
    process keeps for itself what it saw: one that is new looks once more.
    """
    claimed = reclaim_lost_fits(now=now)
    for study in study_queries.studies():
        claimed += _claim_where_changed(study, now=now)
    return claimed


def _claim_where_changed(study: Study, *, now: dt.datetime) -> list[int]:
    name = f"ranking/seen/{study.pk}"
    seen: _Seen | None = caches["own"].get(name)
    if seen is not None:
        fits = queries.newest_fits(study).values()
        if seen.is_enough(_glance(study, fits, after=seen.glance.after, now=now), now=now):
            return []
    # What comes in between is to be a change for the next glance: so this one is before the look.
    before = _glance(study, (), after=max(0, newest_judgment() - OVERLAP), now=now)
    look = look_at(study=study, now=now)
    waiting = look.waiting_since
    if waiting is not None:  # in whole seconds, so that looks meanwhile ask for no other
        wait_s = (waiting + PATIENCE - now).total_seconds()
        nudge(Work.REFIT, within_s=math.ceil(wait_s) + 1.0)
    seen = _Seen(
        glance=replace(before, fits=_names(study, look.fits)),
        at=now,
        until=now + LONGEST if waiting is None else waiting + PATIENCE,
        room=MOVED * min((fit.n_judgments for fit in look.fits), default=0),
    )
    caches["own"].set(name, seen, timeout=None)
    return look.claimed


def _glance(study: Study, fits: Iterable[Fit], *, after: int, now: dt.datetime) -> _Glance:
    """Read a few rows: four queries, however many judgments there are."""
    return _Glance(
        after=after,
        n_given=n_given(study=study, after=after, as_of=now),
        n_decisions=n_decisions(study),
        is_simulated=study.is_simulated,
        fits=_names(study, fits),
    )


def _names(study: Study, fits: Iterable[Fit]) -> Names:
    methods = {pool: method_of(study, pool).hash() for pool in EvaluatorPool}
    return frozenset((fit.key, fit.method_hash == methods[EvaluatorPool(fit.pool)]) for fit in fits)
