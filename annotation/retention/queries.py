"""Reads about what is held about people, and when it falls due to be deleted."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Count, Max, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from access.console.tables import Table
from access.models import ConsentEvidence, LogEntry
from annotation.choices import StudyState
from annotation.models import Judgment, Rater, Report, Study
from annotation.retention.rules import HeldKind, Policy, due_on, is_due, latest_due
from completions.models import Dataset, Writer

LINKED = Q(is_simulated=False) & (
    ~Q(external_id="") | Q(utc_offset_minutes__isnull=False) | Q(writer__isnull=False)
)
"""Raters of whom something is held that leads to a person."""


@dataclass(frozen=True)
class Due:
    """What is held of one kind, of one study or dataset or of the site, and when it has to go.

    ``subject`` is as the log names it; ``due_on`` is None if it is kept for good.
    """

    kind: HeldKind
    subject: str
    n: int
    due_on: dt.date | None
    is_due: bool

    @property
    def name(self) -> str:
        """The study or dataset alone, as its address has it; empty for the site."""
        return self.subject.partition(" ")[2]

    @property
    def kind_label(self) -> object:
        """What it is, in words."""
        return KINDS[self.kind]


KINDS: Mapping[str, object] = {
    HeldKind.CONTACT: _("ids and sessions of raters"),
    HeldKind.REASONS: _("reasons"),
    HeldKind.ADDRESSES: _("addresses of writers"),
    HeldKind.EVIDENCE: _("evidence of consent"),
    HeldKind.SESSIONS: _("sessions of members"),
}


HELD = Table(
    orders={
        "what": (_("What"), lambda one: one.kind),
        "of": (_("Of"), lambda one: one.subject),
        "n": (_("How many"), lambda one: one.n),
        "on": (_("Goes on"), lambda one: one.due_on),
    },
    usual="on",
    shows={
        "due": (_("Due now"), lambda one: one.is_due),
        **{kind: (label, lambda one, of=kind: one.kind == of) for kind, label in KINDS.items()},
    },
    searched=("subject",),
    numbers=("n",),
)
"""Rows of what is held."""


def policy() -> Policy:
    """Return how long the site keeps what."""
    return {
        HeldKind.CONTACT: settings.HEART_RETENTION_CONTACT_MONTHS,
        HeldKind.REASONS: settings.HEART_RETENTION_REASONS_MONTHS,
        HeldKind.ADDRESSES: settings.HEART_RETENTION_ADDRESSES_MONTHS,
        HeldKind.EVIDENCE: settings.HEART_RETENTION_EVIDENCE_MONTHS,
    }


def what_is_due(*, now: dt.datetime) -> list[Due]:
    """Return what is held by study, dataset and site, what is due first, in eight queries."""
    held = [*_of_studies(now), *_of_datasets(now), *_of_the_site(now)]
    return sorted(
        held, key=lambda one: (not one.is_due, one.due_on is None, one.due_on or now.date())
    )


def closed_on() -> dict[str, dt.date]:
    """Return the day on which each closed study was closed, by its name."""
    closed = LogEntry.objects.filter(action="study.closed").order_by().values_list("subject")
    days = dict(closed.annotate(at=Max("at")))
    slugs = Study.objects.filter(state=StudyState.CLOSED).values_list("slug", flat=True)
    return {slug: days[f"study {slug}"].date() for slug in slugs if f"study {slug}" in days}


def linked_raters(*studies: str) -> QuerySet[Rater]:
    """Return the raters of studies of whom something leads to a person, by their key."""
    return Rater.objects.filter(LINKED, study__slug__in=studies).order_by("pk")


def worded(*studies: str) -> QuerySet[Judgment]:
    """Return the judgments of studies by people that have a reason, by their key."""
    given = Judgment.objects.filter(rater__study__slug__in=studies)
    return given.exclude(rationale="").order_by("pk")


def worded_reports(*studies: str) -> QuerySet[Report]:
    """Return the reports of studies that have words, by their key."""
    return Report.objects.filter(rater__study__slug__in=studies).exclude(text="").order_by("pk")


def addressed(*datasets: str) -> QuerySet[Writer]:
    """Return the writers of datasets whose address or name is held, by their key."""
    known = Writer.objects.filter(~Q(email="") | ~Q(imported_as=""), dataset__slug__in=datasets)
    return known.order_by("pk")


def old_evidence(*, today: dt.date) -> QuerySet[ConsentEvidence]:
    """Return the evidence that is due."""
    months = policy()
    if not months[HeldKind.EVIDENCE]:
        return ConsentEvidence.objects.none()
    return ConsentEvidence.objects.filter(
        given_on__lte=latest_due(months, HeldKind.EVIDENCE, today)
    )


def old_sessions(*, now: dt.datetime) -> QuerySet[Session]:
    """Return the sign-in sessions that have run out."""
    return Session.objects.filter(expire_date__lt=now)


def _of_studies(now: dt.datetime) -> list[Due]:
    closed = closed_on()
    linked = _numbers(linked_raters(*closed), "study__slug")
    words = Counter(_numbers(worded(*closed), "rater__study__slug"))
    words.update(_numbers(worded_reports(*closed), "rater__study__slug"))
    return [
        _due(kind, f"study {slug}", counts[slug], since, now)
        for kind, counts in ((HeldKind.CONTACT, linked), (HeldKind.REASONS, words))
        for slug, since in closed.items()
        if counts.get(slug)
    ]


def _of_datasets(now: dt.datetime) -> list[Due]:
    frozen = {one.slug: one.frozen_at for one in Dataset.objects.all() if one.frozen_at}
    return [
        _due(HeldKind.ADDRESSES, f"dataset {slug}", n, frozen[slug].date(), now)
        for slug, n in _numbers(addressed(*frozen), "dataset__slug").items()
    ]


def _numbers(rows: QuerySet[Any], of: str) -> dict[str, int]:
    """Return the number of rows of each study or dataset."""
    return dict(rows.order_by().values_list(of).annotate(n=Count("pk")))


def _of_the_site(now: dt.datetime) -> list[Due]:
    due = old_evidence(today=now.date()).count()
    sessions = old_sessions(now=now).count()
    rows = ((HeldKind.EVIDENCE, due), (HeldKind.SESSIONS, sessions))
    return [Due(kind, "site", n, now.date(), is_due=True) for kind, n in rows if n]


def _due(kind: HeldKind, subject: str, n: int, since: dt.date, now: dt.datetime) -> Due:
    kept = policy()
    due, is_over = due_on(kept, kind, since), is_due(kept, kind, since, now.date())
    return Due(kind, subject, n, due, is_over)
