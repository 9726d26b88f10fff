"""Whether results tell raters of an open study who wrote what: the attack, replayed.

Somebody who judges and reads results learns both authors of a pair if anything that everybody may
read moves with one answer. So all of it is read as a stranger, an answer and a refit are added,
and it is read again; then they are taken back.
"""

import datetime as dt
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from itertools import pairwise
from typing import cast

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import Http404
from django.http.response import HttpResponseBase
from django.template.response import SimpleTemplateResponse
from django.test import RequestFactory
from django.urls import URLResolver, get_resolver, resolve

from annotation.choices import Platform, StudyState
from annotation.models import Judgment, Study
from ranking.fits.analysis_queries import analyses_of
from ranking.fits.queries import ENDED, newest_fits
from ranking.models import Fit, Rating, Release

CLOSED_TO_STRANGERS = ("admin/", "console/", "accounts/", "hooks/", "w/", "s/")
WITHOUT_STUDY = ("", "api/v1/studies/")
PART = re.compile(r"<(?:\w+:)?(\w+)>")
POINTS = ("elo", "elo_low", "elo_high")
HEADERS = ("ETag", "Last-Modified", "Cache-Control")
NOT_FOUND: tuple[object, ...] = (HTTPStatus.NOT_FOUND,)

Said = dict[str, tuple[object, ...]]


def oracles(study: Study, *, now: dt.datetime) -> list[str]:
    """Return what tells raters of the study who wrote what, if they read results beside it.

    Nothing does once the study is closed. What is written on the way is rolled back.
    """
    if study.state == StudyState.CLOSED:
        return []
    return [*_moving(study, now=now), *_between(study)]


def publications(study: Study) -> list[str]:
    """Return what an owner published of a study that goes on: fixed, so no oracle by itself."""
    return [] if study.state == StudyState.CLOSED else [_named(fit) for fit in _published(study)]


def _moving(study: Study, *, now: dt.datetime) -> list[str]:
    """Return the addresses that say something else to a stranger after one more answer."""
    with transaction.atomic():
        known = _paths(study)
        before = _read(known)
        _add_answer(study, now=now)
        _add_refit(study, now=now)
        after = _read(known | _paths(study))
        transaction.set_rollback(True)
    return [
        f"{path} changes for a stranger when an answer comes in"
        for path in sorted(after)
        if before.get(path, NOT_FOUND) != after[path]
    ]


def _between(study: Study) -> list[str]:
    """Return pairs of published fits whose difference tells what was judged in between."""
    selections: dict[tuple[str, str], list[Fit]] = {}
    for fit in _published(study):
        selections.setdefault((fit.pool, fit.context_set), []).append(fit)
    return [
        f"the difference between {_named(one)} and {_named(other)} tells what was judged between"
        for fits in selections.values()
        for one, other in pairwise(fits)
    ]


def _published(study: Study) -> list[Fit]:
    found = Fit.objects.filter(study=study, published_at__isnull=False)
    return list(found.order_by("as_of", "pk"))


def _named(fit: Fit) -> str:
    return f"{fit.key} ({fit.n_judgments:,} judgments, published {fit.published_at:%Y-%m-%d %H:%M})"


def _read(paths: Iterable[str]) -> Said:
    """Return what a stranger is answered at each address."""
    return {path: _answer(path, sender) for sender, path in enumerate(paths, start=1)}


def _answer(path: str, sender: int) -> tuple[object, ...]:
    """Return status, headers and body; each comes from an address of its own: none asks often."""
    sent_by = f"2001:db8::{sender:x}"
    request = RequestFactory().get(path, SERVER_NAME="localhost", REMOTE_ADDR=sent_by)
    request.user = AnonymousUser()
    found = resolve(path)
    try:
        response: HttpResponseBase = found.func(request, *found.args, **found.kwargs)
    except Http404:
        return NOT_FOUND
    if isinstance(response, SimpleTemplateResponse):
        response.render()
    if response.status_code == HTTPStatus.NOT_FOUND:
        return NOT_FOUND
    body = b"".join(cast("Iterable[bytes]", response))
    return (response.status_code, *(response.get(name) for name in HEADERS), body)


def _paths(study: Study) -> set[str]:
    """Return the addresses about the study, of its newest fits, of their analyses and releases."""
    routes = [
        route
        for route in _routes(get_resolver(), "")
        if "study" in PART.findall(route) and not route.startswith(CLOSED_TO_STRANGERS)
    ]
    filled = {
        _filled(route, values)
        for values in _objects(study)
        for route in routes
        if set(PART.findall(route)) <= values.keys()
    }
    return {f"/{path}" for path in (*WITHOUT_STUDY, *filled)}


def _filled(route: str, values: Mapping[str, str]) -> str:
    return PART.sub(lambda part: values[part[1]], route)


def _objects(study: Study) -> Iterator[dict[str, str]]:
    """Yield what the parts of an address can stand for."""
    alone = {"study": study.slug}
    yield alone
    for fit in newest_fits(study).values():
        one = alone | {"key": fit.key, "form": "svg"}
        yield one
        for analysis in analyses_of(fit):
            tables = analysis.findings.tables if analysis.findings else ()
            key = tables[0].key if tables else "none"
            yield one | {"kind": analysis.kind.lower(), "table": key}
    for key in Release.objects.filter(study=study).values_list("key", flat=True):
        yield alone | {"key": key, "release": key, "path": "README.md"}


def _routes(resolver: URLResolver, prefix: str) -> Iterator[str]:
    for one in resolver.url_patterns:
        route = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from _routes(one, route)
        else:
            yield route


def _add_answer(study: Study, *, now: dt.datetime) -> None:
    """Have somebody new give the newest answer of a person once more."""
    given = Judgment.objects.filter(comparison__study=study, rater__isnull=False)
    judgment = given.select_related("rater", "lease").order_by("-pk").first()
    if judgment is None or judgment.rater is None or judgment.lease is None:
        return
    rater, lease = judgment.rater, judgment.lease
    rater.pk, rater.code, rater.external_id = None, uuid.uuid4().hex[:12], ""
    rater.platform = Platform.GUEST
    rater.save(force_insert=True)
    lease.pk, lease.token, lease.rater, lease.repeats = None, uuid.uuid4(), rater, None
    lease.save(force_insert=True)
    judgment.pk, judgment.rater, judgment.lease, judgment.revises = None, rater, lease, None
    judgment.submitted_at = max(now, judgment.submitted_at)
    Judgment.objects.bulk_create([judgment])


def _add_refit(study: Study, *, now: dt.datetime) -> None:
    """Add a fit after the newest of each selection, with every system a point higher."""
    for fit in newest_fits(study).values():
        if fit.state not in ENDED:
            continue
        ratings = list(Rating.objects.filter(fit=fit))
        fit.pk, fit.key, fit.inputs_hash = None, f"audit-{uuid.uuid4().hex[:16]}", uuid.uuid4().hex
        fit.as_of = fit.claimed_at = fit.ended_at = max(now, fit.as_of)
        fit.published_at = None
        fit.n_judgments += 1
        fit.save(force_insert=True)
        for rating in ratings:
            rating.pk, rating.fit = None, fit
            for name in POINTS:
                setattr(rating, name, getattr(rating, name) + 1.0)
            rating.joint_low = rating.joint_high = None
        Rating.objects.bulk_create(ratings)
