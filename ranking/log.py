"""The console's pages on the log: who did what, of a study or anywhere.

A subject is a kind and a public name: "study demo", "rater R012". What names the study
it lies in ("context c-7 in study demo") belongs to it, and so does what is one of its rows.
"""

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import CharField, F, Model, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from access.console.tables import csv_answer
from access.models import LogEntry
from access.roles import StaffRequest, members_only
from annotation.models import JudgeRun, Rater, RationaleRun, Study
from annotation.studies.http import study_page
from ranking.models import Release

PER_PAGE = 50
NOBODY = "-"
"""Stands for commands and periodic tasks, which act in nobody's name."""
ORDERS = {"at": "at", "by": "by__username", "action": "action", "subject": "subject"}
SORTS = [*ORDERS, *(f"-{name}" for name in ORDERS)]
HEADS = {"at": _("When (UTC)"), "by": _("Who"), "action": _("What"), "subject": _("On what")}


class LogQuestion(forms.Form):
    """Which entries of the log, and in which order; an empty field means all."""

    action = forms.CharField(required=False, max_length=60)
    by = forms.CharField(required=False, max_length=150)
    subject = forms.CharField(required=False, max_length=120)
    since = forms.DateField(required=False, error_messages={"invalid": _("A date is 2026-01-31.")})
    until = forms.DateField(required=False, error_messages={"invalid": _("A date is 2026-01-31.")})
    sort = forms.ChoiceField(required=False, choices=[(name, name) for name in SORTS])

    @property
    def query(self) -> str:
        """The address' query that means these entries, without its question mark."""
        return self._query()

    @property
    def heads(self) -> list[tuple[object, str, str]]:
        """Return the heads of the table, where each leads, and how it sorts the table now."""
        now = self.data.get("sort") or "-at"
        return [
            (
                label,
                self._query(sort=f"-{name}" if now == name else name),
                {name: "ascending", f"-{name}": "descending"}.get(now, ""),
            )
            for name, label in HEADS.items()
        ]

    def _query(self, **changed: str) -> str:
        given = {name: str(self.data.get(name, "")) for name in self.fields} | changed
        return urlencode({name: value for name, value in given.items() if value})


@require_safe
@study_page
def study_log(request: StaffRequest, study: Study) -> HttpResponse:
    """Show who did what to a study, its raters, runs and releases."""
    return _page(request, study)


@require_safe
@study_page
def study_log_csv(request: StaffRequest, study: Study) -> HttpResponse | StreamingHttpResponse:
    """Download the entries that are meant."""
    return _csv(request, study, f"{study.slug}-log")


@require_safe
@members_only()
def whole_log(request: StaffRequest) -> HttpResponse:
    """Show who did what, anywhere."""
    return _page(request, None)


@require_safe
@members_only()
def whole_log_csv(request: StaffRequest) -> HttpResponse | StreamingHttpResponse:
    """Download the entries that are meant."""
    return _csv(request, None, "log")


def _page(request: StaffRequest, study: Study | None) -> HttpResponse:
    """Show a page of entries, in four queries; all of them where the form is not valid."""
    form = LogQuestion(request.GET)
    asked = form.cleaned_data if form.is_valid() else {}
    entries = _entries_of(study)
    found = Paginator(_filtered(entries, asked), PER_PAGE)
    page: Page[LogEntry] = found.get_page(request.GET.get("page", "1"))
    actions = entries.order_by("action").values_list("action", flat=True).distinct()
    people = entries.filter(by__isnull=False).order_by("by__username")
    parts = {
        "study": study,
        "form": form,
        "filters": form,
        "asked": asked,
        "page": page,
        "entries": [(entry, _changes(entry.before, entry.after)) for entry in page],
        "actions": tuple(actions),
        "people": tuple(people.values_list("by__username", flat=True).distinct()),
        "nobody": NOBODY,
    }
    return render(request, "console/log/log.html", parts, status=422 if form.errors else 200)


def _csv(
    request: StaffRequest, study: Study | None, name: str
) -> HttpResponse | StreamingHttpResponse:
    form = LogQuestion(request.GET)
    if not form.is_valid():
        return HttpResponse("", status=422, content_type="text/csv; charset=utf-8")
    return csv_answer(request, _rows(_filtered(_entries_of(study), form.cleaned_data)), name)


def _rows(entries: QuerySet[LogEntry]) -> Iterator[tuple[str | dt.datetime, ...]]:
    """Yield a header and a row per entry, before and after as JSON; read in batches."""
    yield ("at", "by", "action", "subject", "before", "after")
    for row in entries.iterator(chunk_size=2_000):
        by = row.by.get_username() if row.by else ""
        yield (row.at, by, row.action, row.subject, _said(row.before), _said(row.after))


def _filtered(entries: QuerySet[LogEntry], asked: Mapping[str, Any]) -> QuerySet[LogEntry]:
    """Return the entries that a valid form means, in the order meant."""
    meant = Q()
    if action := asked.get("action"):
        meant &= Q(action=action)
    if by := asked.get("by"):
        meant &= Q(by__isnull=True) if by == NOBODY else Q(by__username=by)
    if subject := asked.get("subject"):
        meant &= Q(subject__icontains=subject)
    if since := asked.get("since"):
        meant &= Q(at__gte=_utc(since, dt.time.min))
    if until := asked.get("until"):
        meant &= Q(at__lte=_utc(until, dt.time.max))
    sort = asked.get("sort") or "-at"
    field = F(ORDERS[sort.removeprefix("-")])
    order = field.desc() if sort.startswith("-") else field.asc()
    return entries.filter(meant).order_by(order, "-at", "-pk").select_related("by")


def _utc(day: dt.date, time: dt.time) -> dt.datetime:
    return dt.datetime.combine(day, time, dt.UTC)


def _entries_of(study: Study | None) -> QuerySet[LogEntry]:
    """Return the entries on a study, its dataset, and what is part of it; of all if None."""
    entries = LogEntry.objects.all()
    if study is None:
        return entries
    names = Q(subject__in=(f"study {study.slug}", f"dataset {study.dataset.slug}"))
    names |= Q(subject__endswith=f" study {study.slug}")  # "... in study demo", "... of study demo"
    for subjects in _parts(study):
        names |= Q(subject__in=subjects)
    return entries.filter(names)


def _parts(study: Study) -> Iterable[QuerySet[Model, dict[str, Any]]]:
    """Yield the subjects of rows that are part of a study, as subqueries."""
    yield _subjects("rater", Rater.objects.filter(study=study), "code")
    yield _subjects("judge run", JudgeRun.objects.filter(study=study), "pk")
    yield _subjects("rationale run", RationaleRun.objects.filter(study=study), "pk")
    yield _subjects("release", Release.objects.filter(study=study), "key")


def _subjects(kind: str, rows: Any, field: str) -> Any:  # noqa: ANN401 (of any table)
    name = Concat(Value(f"{kind} "), Cast(field, CharField()), output_field=CharField())
    return rows.order_by().values(subject=name)


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return names with what stood before and what stands after, where these differ."""
    return [
        (name, _words(before, name), _words(after, name))
        for name in dict.fromkeys((*before, *after))
        if name not in before or name not in after or before[name] != after[name]
    ]


def _words(content: Mapping[str, Any], name: str) -> str:
    """Return what stands under a name; nothing where it is missing."""
    if name not in content:
        return ""
    value = content[name]
    return value if isinstance(value, str) else _said(value)


def _said(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, sort_keys=True) if content != {} else ""
