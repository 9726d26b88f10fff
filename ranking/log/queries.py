"""Reads of the log: who did what, filtered in the database; of a study, what belongs to it.

A subject is a kind and a public name: "study demo", "rater R012". What names the study
it lies in ("context c-7 in study demo") belongs to it, and so does what is one of its rows.
"""

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import CharField, F, Model, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from access.models import LogEntry
from annotation.models import JudgeRun, Rater, RationaleRun, Study
from ranking.models import Release

PER_PAGE = 50
ORDERS = {"at": "at", "by": "by__username", "action": "action", "subject": "subject"}
NOBODY = "-"
"""Stands for commands and periodic tasks, which act in nobody's name."""


@dataclass(frozen=True)
class LogFilter:
    """Which entries are meant, and in which order; an empty field means all."""

    action: str = ""
    by: str = ""
    subject: str = ""
    since: dt.date | None = None
    until: dt.date | None = None
    sort: str = "-at"

    def apply(self, entries: QuerySet[LogEntry]) -> QuerySet[LogEntry]:
        """Return the entries meant, in the order meant."""
        found = entries.filter(action=self.action) if self.action else entries
        if self.by == NOBODY:
            found = found.filter(by__isnull=True)
        elif self.by:
            found = found.filter(by__username=self.by)
        if self.subject:
            found = found.filter(subject__icontains=self.subject)
        if self.since:
            found = found.filter(at__gte=_utc(self.since, dt.time.min))
        if self.until:
            found = found.filter(at__lte=_utc(self.until, dt.time.max))
        field = ORDERS[self.sort.removeprefix("-")]
        order = F(field).desc() if self.sort.startswith("-") else F(field).asc()
        return found.order_by(order, "-at", "-pk").select_related("by")


@dataclass(frozen=True)
class Change:
    """One thing that an act changed; empty where it was not there before, or is not after."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Entry:
    """One act, as pages show it; ``by`` is empty where nobody acted."""

    at: dt.datetime
    by: str
    action: str
    subject: str
    changes: tuple[Change, ...]

    @classmethod
    def of(cls, row: LogEntry) -> "Entry":
        """Hold before and after side by side."""
        by = row.by.get_username() if row.by else ""
        return cls(row.at, by, row.action, row.subject, changes_of(row.before, row.after))


@dataclass(frozen=True)
class LogPage:
    """One page of the log; ``actions`` and ``people`` are those that occur in all of it."""

    entries: tuple[Entry, ...]
    page: Page[LogEntry]
    actions: tuple[str, ...]
    people: tuple[str, ...]


def entries_of(study: Study | None) -> QuerySet[LogEntry]:
    """Return the entries on a study, its dataset, and what is part of it; of all if None."""
    entries = LogEntry.objects.all()
    if study is None:
        return entries
    names = Q(subject__in=(f"study {study.slug}", f"dataset {study.dataset.slug}"))
    names |= Q(subject__endswith=f" study {study.slug}")  # "... in study demo", "... of study demo"
    for subjects in _parts(study):
        names |= Q(subject__in=subjects)
    return entries.filter(names)


def log_page(study: Study | None, filters: LogFilter, *, number: str) -> LogPage:
    """Return a page of entries, in four queries."""
    entries = entries_of(study)
    page: Page[LogEntry] = Paginator(filters.apply(entries), PER_PAGE).get_page(number)
    actions = entries.order_by("action").values_list("action", flat=True).distinct()
    people = entries.filter(by__isnull=False).order_by("by__username")
    return LogPage(
        entries=tuple(Entry.of(row) for row in page),
        page=page,
        actions=tuple(actions),
        people=tuple(people.values_list("by__username", flat=True).distinct()),
    )


def log_rows(study: Study | None, filters: LogFilter) -> Iterator[tuple[str | dt.datetime, ...]]:
    """Yield a header and a row per entry, before and after as JSON; read in batches."""
    yield ("at", "by", "action", "subject", "before", "after")
    for row in filters.apply(entries_of(study)).iterator(chunk_size=2_000):
        by = row.by.get_username() if row.by else ""
        yield (row.at, by, row.action, row.subject, _said(row.before), _said(row.after))


def changes_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return what stood before beside what stands after, leaving out what stayed the same."""
    names = list(dict.fromkeys((*before, *after)))
    return tuple(
        Change(name, _words(before, name), _words(after, name))
        for name in names
        if name not in before or name not in after or before[name] != after[name]
    )


def _parts(study: Study) -> Iterable[QuerySet[Model, dict[str, Any]]]:
    """Yield the subjects of rows that are part of a study, as subqueries."""
    yield _subjects("rater", Rater.objects.filter(study=study), "code")
    yield _subjects("judge run", JudgeRun.objects.filter(study=study), "pk")
    yield _subjects("rationale run", RationaleRun.objects.filter(study=study), "pk")
    yield _subjects("release", Release.objects.filter(study=study), "key")


def _subjects(kind: str, rows: Any, field: str) -> Any:  # noqa: ANN401 (of any table)
    name = Concat(Value(f"{kind} "), Cast(field, CharField()), output_field=CharField())
    return rows.order_by().values(subject=name)


def _utc(day: dt.date, time: dt.time) -> dt.datetime:
    return dt.datetime.combine(day, time, dt.UTC)


def _words(content: Mapping[str, Any], name: str) -> str:
    if name not in content:
        return ""
    value = content[name]
    return value if isinstance(value, str) else _said(value)


def _said(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, sort_keys=True) if content != {} else ""
