"""Delete what is held about people when its time is over: in batches, and logged as counts."""

import datetime as dt
from collections.abc import Callable

from django.db import transaction
from django.db.models import QuerySet

from access.log import record
from access.models import ConsentEvidence
from access.sign_in.services import forget_where_signed_in
from annotation.models import Judgment, PlatformEvent, PlatformSubmission, Rater, Report
from annotation.rationales.services.labelling import forget_themes
from annotation.rationales.services.scanning import forget_scans
from annotation.retention import queries
from annotation.retention.queries import Due
from annotation.retention.rules import HeldKind
from completions.models import Writer

BATCH = 500
Batch = Callable[[str, dt.datetime], int]


def enforce_retention(*, now: dt.datetime) -> list[Due]:
    """Delete all that is due, and return what was: each with how many rows.

    Each batch is a transaction of its own with its line in the log, so that a run that was killed
    is gone on with by the next. What is not due is not touched; repeating it is harmless.
    """
    due = [one for one in queries.what_is_due(now=now) if one.is_due]
    for one in due:
        while _one_batch(one, now=now):
            pass
    return due


@transaction.atomic
def _one_batch(due: Due, *, now: dt.datetime) -> int:
    n = BATCHES[due.kind](due.name, now)
    if n:
        record(action=f"retention.{due.kind}", subject=due.subject, now=now, after={"deleted": n})
    return n


def _cut_links(study: str, now: dt.datetime) -> int:
    """Delete what leads from raters to people; what they answered stays, under the code."""
    locked = queries.linked_raters(study).select_for_update(of=("self",))
    pks = [rater.pk for rater in locked[:BATCH]]
    # The exception to rows that are written once (ADR-0008): a plain queryset, on purpose.
    QuerySet(PlatformEvent).filter(rater__in=pks).update(rater=None)
    PlatformSubmission.objects.filter(rater__in=pks).update(session_id="", ids={})
    return Rater.objects.filter(pk__in=pks).update(
        external_id="", utc_offset_minutes=None, writer=None, forgotten_at=now
    )


def _erase_reasons(study: str, now: dt.datetime) -> int:
    """Delete reasons and words of reports, with what was found in them.

    Ticked chips stay, as labels do: they are words of the study, and the answer still counts. Who
    withdraws takes the answer back, and the chips with it.
    """
    pks = list(queries.worded(study).values_list("pk", flat=True)[:BATCH])
    reports = list(queries.worded_reports(study).values_list("pk", flat=True)[:BATCH])
    # The exceptions to rows that are written once (ADR-0008): plain querysets, on purpose. The
    # reasons go first: whoever reads them for themes or scans locks them, and then finds none.
    n = QuerySet(Judgment).filter(pk__in=pks).update(rationale="")
    judgments = Judgment.objects.filter(pk__in=pks)
    forget_themes(judgments, now=now)
    forget_scans(judgments)
    return n + QuerySet(Report).filter(pk__in=reports).update(text="")


def _erase_addresses(dataset: str, _now: dt.datetime) -> int:
    pks = list(queries.addressed(dataset).values_list("pk", flat=True)[:BATCH])
    return Writer.objects.filter(pk__in=pks).update(email="", imported_as="")


def _erase_evidence(_name: str, now: dt.datetime) -> int:
    old = queries.old_evidence(today=now.date())
    pks = list(old.values_list("pk", flat=True)[:BATCH])
    # The exception to rows that are written once (ADR-0008): a plain queryset, on purpose.
    n, _each = QuerySet(ConsentEvidence).filter(pk__in=pks).delete()
    return n


def _erase_sessions(_name: str, now: dt.datetime) -> int:
    old = queries.old_sessions(now=now)
    keys = list(old.values_list("pk", flat=True)[:BATCH])
    forget_where_signed_in(keys)
    n, _each = old.filter(pk__in=keys).delete()
    return n


BATCHES: dict[HeldKind, Batch] = {
    HeldKind.CONTACT: _cut_links,
    HeldKind.REASONS: _erase_reasons,
    HeldKind.ADDRESSES: _erase_addresses,
    HeldKind.EVIDENCE: _erase_evidence,
    HeldKind.SESSIONS: _erase_sessions,
}
