"""Audits of blinding as rows: claimed, heard of, kept with what they found, shown (ADR-0007)."""

import datetime as dt
from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from access.log import record
from access.nudges import is_lost
from annotation.choices import AuditState
from annotation.models import BlindingAudit, Study

ACTION = "audit.blinding"
N_PAGES = 2000
SEED = 1
SILENCE = dt.timedelta(minutes=2)  # of a worker that is lost: pages take some milliseconds each
MOST_BEGUN = 3
SHOWN = 50
LOST = f"It was begun {MOST_BEGUN} times, and each time the process that ran it ended."


class AuditUnderWayError(Exception):
    """An audit of this study is under way."""


class AuditLostError(Exception):
    """Somebody else has taken the audit over, or it has ended."""


def claim_audit(
    *,
    study: Study,
    now: dt.datetime,
    by: User | None = None,
    n_pages: int = N_PAGES,
    seed: int = SEED,
) -> BlindingAudit:
    """Add an audit of the study that is to be run.

    Raises
    ------
    AuditUnderWayError
        If there is one that has not ended.
    """
    try:
        with transaction.atomic():
            return BlindingAudit.objects.create(
                study=study,
                n_pages=n_pages,
                seed=seed,
                started_by=by,
                started_at=now,
                claimed_at=now,
            )
    except IntegrityError as error:
        raise AuditUnderWayError from error


def begin_audit(*, audit_id: int, now: dt.datetime) -> BlindingAudit | None:
    """Return an audit that has not ended, begun anew by the caller; None if there is nothing to do.

    One that was begun too often is given up: it may be what kills the workers.
    """
    audit = _running(audit_id).select_related("study").first()
    if audit is None:
        return None
    if audit.begun >= MOST_BEGUN:
        fail_audit(audit, error=LOST, now=now)
        return None
    mine = _running(audit_id).filter(begun=audit.begun)
    if not mine.update(begun=F("begun") + 1, claimed_at=now, n_done=0):
        return None
    audit.begun += 1
    return audit


def note_progress(audit: BlindingAudit, *, n_done: int, n_total: int, now: dt.datetime) -> None:
    """Keep how far the audit is, and that its worker lives.

    Raises
    ------
    AuditLostError
        If it is no longer the caller's.
    """
    if not _mine(audit).update(n_done=n_done, n_total=n_total, claimed_at=now):
        raise AuditLostError


@transaction.atomic
def end_audit(
    audit: BlindingAudit,
    *,
    holds: bool,
    report: Mapping[str, object],
    summary: Mapping[str, object],
    now: dt.datetime,
) -> bool:
    """Keep what an audit found, with a summary in the log; say whether it was the caller's."""
    done = {"state": AuditState.DONE, "holds": holds, "report": dict(report), "ended_at": now}
    if not _mine(audit).update(**done):
        return False
    after = {"audit": audit.pk, "holds": holds, **summary}
    subject = f"study {audit.study.slug}"
    record(action=ACTION, subject=subject, now=now, by=audit.started_by, after=after)
    return True


def fail_audit(audit: BlindingAudit, *, error: str, now: dt.datetime) -> None:
    """Keep why an audit found nothing, unless it is somebody else's by now."""
    _mine(audit).update(state=AuditState.FAILED, error=error, ended_at=now)


@transaction.atomic
def reclaim_lost_audits(*, now: dt.datetime) -> list[int]:
    """Take over audits whose worker was not heard of for long, and return their keys."""
    silent = is_lost(now=now, after=SILENCE)
    lost = BlindingAudit.objects.filter(silent, state=AuditState.RUNNING)
    rows = lost.order_by("pk").select_for_update(skip_locked=True, of=("self",))
    keys = list(rows.values_list("pk", flat=True))
    BlindingAudit.objects.filter(pk__in=keys).update(claimed_at=now)
    return keys


def audits_of(study: Study) -> list[BlindingAudit]:
    """Return the newest audits of a study, without their reports; one query."""
    audits = BlindingAudit.objects.filter(study=study).select_related("started_by")
    return list(audits.defer("report").order_by("-pk")[:SHOWN])


def audit_to_show(study: Study, *, pk: int | None) -> BlindingAudit | None:
    """Return the audit of that key, or the newest that has ended, or None."""
    audits = BlindingAudit.objects.filter(study=study).select_related("started_by", "study")
    if pk is not None:
        return audits.filter(pk=pk).first()
    return audits.exclude(state=AuditState.RUNNING).order_by("-pk").first()


def audit_under_way(study: Study) -> BlindingAudit | None:
    """Return the audit of the study that has not ended, or None."""
    return BlindingAudit.objects.filter(study=study, state=AuditState.RUNNING).first()


def _running(audit_id: int) -> QuerySet[BlindingAudit]:
    return BlindingAudit.objects.filter(pk=audit_id, state=AuditState.RUNNING)


def _mine(audit: BlindingAudit) -> QuerySet[BlindingAudit]:
    return _running(audit.pk).filter(begun=audit.begun)
