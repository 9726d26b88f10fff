"""Find out which ratings are out of date and claim their computation."""

import datetime as dt
import hashlib
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from access.nudges import is_lost
from annotation.choices import Protocol
from annotation.models import Study
from completions.runs.services.exclusive import is_at_work
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits import queries
from ranking.judgments.analysis_set import Selection, n_decisions
from ranking.judgments.method import (
    IMPLIED,
    MOST_DRAWS,
    Method,
    Stamp,
    code_version,
    declared,
    pooling_of,
)
from ranking.models import Fit

# Ratings are renewed when the judgments grew by this share, or after this time.
MOVED = 0.001
PATIENCE = dt.timedelta(minutes=1)


@dataclass(frozen=True)
class Look:
    """What came of a look at a study.

    ``claimed`` are the keys of the fits that were claimed, ``fits`` the newest of each selection
    then, and ``waiting_since`` is the time of the oldest fit whose judgments moved too little.
    """

    claimed: list[int]
    fits: tuple[Fit, ...]
    waiting_since: dt.datetime | None


@transaction.atomic
def reclaim_lost_fits(*, now: dt.datetime) -> list[int]:
    """Take over claims that are old and that nobody computes, and return their keys."""
    old = is_lost(now=now, after=queries.CLAIM_LENGTH)
    lost = Fit.objects.filter(old, state=FitState.RUNNING)
    rows = lost.order_by("pk").select_for_update(skip_locked=True)
    keys = [pk for pk in rows.values_list("pk", flat=True) if not is_at_work(work_of(pk))]
    Fit.objects.filter(pk__in=keys).update(claimed_at=now)
    return keys


def work_of(fit_id: int) -> str:
    """Name the computation of a fit, which one process does at a time."""
    return f"computing fit {fit_id}"


def forget_fit_claims() -> int:
    """Drop the fits that dead workers began; only for who knows that no worker lives."""
    deleted, _ = Fit.objects.filter(state=FitState.RUNNING).delete()
    return deleted


def claim_changed_fits(*, study: Study, now: dt.datetime) -> list[int]:
    """Claim a fit for each pool and context set whose judgments changed; return their keys.

    Calling it again before the fits are done claims nothing twice.
    """
    return look_at(study=study, now=now).claimed


def look_at(*, study: Study, now: dt.datetime) -> Look:
    """Claim what `claim_changed_fits` does, and tell what changed too little for that yet.

    All judgments of the study are added up, which takes a second for a million of them.
    """
    newest = queries.newest_fits(study)
    claimed, waiting = [], []
    nothing = dict.fromkeys(newest, Stamp(0, 0, n_decisions(study)))  # all may be gone
    for (pool, context_set), stamp in (nothing | _stamps(study, now)).items():
        known = newest.get((pool, context_set))
        if known and known.method_hash == method_of(study, pool).hash():
            if known.diagnostics["stamp"] == str(stamp):
                continue
            if not _is_due(known, stamp, now=now):
                waiting.append(known.as_of)
                continue
        fit = _claim(Selection(study, pool, context_set, now), stamp)
        if fit is not None:
            claimed.append(fit.pk)
            newest[pool, context_set] = fit
    return Look(claimed, tuple(newest.values()), min(waiting, default=None))


def _is_due(known: Fit, stamp: Stamp, *, now: dt.datetime) -> bool:
    """Say whether judgments that changed moved on from a fit far or long enough for a new one.

    A study of 42,000 judgments would else leave a fit for every few of them.
    """
    moved = abs(stamp.n_judgments - known.n_judgments)
    return moved >= MOVED * known.n_judgments or now - known.as_of >= PATIENCE


def claim_fit(
    *, study: Study, pool: EvaluatorPool, context_set: ContextSet, now: dt.datetime
) -> Fit | None:
    """Claim the computation of the ratings as of now.

    Returns ``None`` when there is nothing to rate and never was, or when a fit of the same
    judgments by the same method exists or is being computed.
    """
    stamp = _stamps(study, now).get((pool, context_set))
    if stamp is None:
        if not Fit.objects.filter(study=study, pool=pool, context_set=context_set).exists():
            return None
        stamp = Stamp(0, 0, n_decisions(study))
    return _claim(Selection(study, pool, context_set, now), stamp)


def _claim(selection: Selection, stamp: Stamp) -> Fit | None:
    """Claim a fit of the judgments that have this stamp, unless there is one.

    The name is made from the stamp, and the database takes a name once: it decides between two
    who claim. The judgments themselves are read when the fit is computed, and only then.
    """
    method = method_of(selection.study, selection.pool)
    method_hash = method.hash()
    where = (selection.study.slug, selection.pool, selection.context_set)
    fit, created = Fit.objects.get_or_create(
        key=_key(*where, str(stamp), method_hash),
        defaults={
            "study": selection.study,
            "pool": selection.pool,
            "context_set": selection.context_set,
            "as_of": selection.as_of,
            "claimed_at": selection.as_of,
            "inputs_hash": hashlib.sha256(f"claimed/{stamp}".encode()).hexdigest(),
            "method": method.as_json(),
            "method_hash": method_hash,
            "code_version": code_version(),
            "n_judgments": stamp.n_judgments,
            "n_units": 0,
            "is_simulated": selection.study.is_simulated,
            "diagnostics": {"stamp": str(stamp)},
        },
    )
    return fit if created else None


def method_of(study: Study, pool: EvaluatorPool = EvaluatorPool.HUMAN) -> Method:
    """Return how the study's ratings by a pool are computed.

    The seed comes from the study's own and is the same for all its fits, so that fits of the same
    judgments agree to the last digit.
    """
    is_alone = study.protocol == Protocol.LIKERT
    is_combined = pool == EvaluatorPool.COMBINED
    decided = declared(study.content, is_combined=is_combined, is_alone=is_alone)
    seed = hashlib.sha256(f"{study.seed}/bootstrap".encode()).digest()
    return Method(
        **decided,
        replicates=min(settings.HEART_BOOTSTRAP_REPLICATES, MOST_DRAWS["replicates"]),
        seed=int.from_bytes(seed[:6], "big"),
        pooling=pooling_of(decided["masses"]),
        estimator=IMPLIED if is_alone else Method.estimator,
    )


def selection_of(fit: Fit) -> Selection:
    """Return which judgments the fit is about."""
    return Selection(fit.study, EvaluatorPool(fit.pool), ContextSet(fit.context_set), fit.as_of)


def _key(*parts: str) -> str:
    """Return the permanent public name of a fit."""
    return "fit-" + hashlib.sha256("/".join(parts).encode()).hexdigest()[:16]


def _stamps(study: Study, now: dt.datetime) -> dict[tuple[EvaluatorPool, ContextSet], Stamp]:
    """Bring what is kept of a study up to now, and return the stamps of what has judgments."""
    # Workers that do nothing else load this module, and no arrays (ADR-0043).
    from ranking.judgments.frames.groups import read_stamps  # noqa: PLC0415
    from ranking.judgments.frames.keeping import keep_counts  # noqa: PLC0415

    keep_counts(study=study, now=now)
    return read_stamps(study=study, as_of=now)
