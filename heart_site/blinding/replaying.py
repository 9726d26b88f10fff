"""What raters of a study received, made again by its views, and what it gives away.

That is what the markup of a page says, and whether results tell raters of an open study who wrote
what: the attack, replayed. Somebody who judges and reads results learns both authors of a pair if
anything that everybody may read moves with one answer. So all of it is read as a stranger, an
answer and a refit are added, and it is read again; then they are taken back.
"""

import datetime as dt
import html
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import pairwise
from time import perf_counter
from typing import cast
from zlib import crc32

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import SimpleTemplateResponse
from django.test import RequestFactory
from django.urls import URLResolver, get_resolver, resolve
from django_htmx.middleware import HtmxDetails

from annotation.choices import Platform, Side, StudyState
from annotation.models import Judgment, Lease, Study
from annotation.session import blinded
from annotation.session.http import CredentialRequest
from annotation.session.views import judging
from completions.choices import SystemKind
from completions.dialogues.normaliser import plain
from completions.dialogues.queries import with_language
from completions.models import Completion
from ranking.fits.analysis_queries import analyses_of
from ranking.fits.queries import ENDED, newest_fits
from ranking.models import Fit, Rating, Release

BLANK = "-"
"""What stands for a message: a rendering of it knows no source."""
PEOPLE = (SystemKind.HUMAN, SystemKind.ORIGINAL)


@dataclass(frozen=True)
class Replay:
    """One page that a rater received, and what is known of it behind the scenes.

    ``markup`` is the page without its messages and without what is drawn anew for each, and
    ``blank`` the same of a pair of blanks; they are equal where nothing but the text tells.
    """

    lease: Lease
    shown: tuple[Completion, ...]
    texts: tuple[str, ...]
    markup: str
    blank: str
    headers: tuple[str, ...]
    seconds: float
    seconds_blank: float

    @property
    def is_pair(self) -> bool:
        """Whether two messages are shown, and not one to be rated alone."""
        return len(self.shown) > 1

    @property
    def person_is_a(self) -> bool | None:
        """Whether a person wrote A and a program B, or the reverse; None for other pairs.

        Of one message alone: whether a person wrote it.
        """
        kinds = [one.system.kind in PEOPLE for one in self.shown]
        return None if self.is_pair and kinds[0] == kinds[1] else kinds[0]


def leases_of(study: Study) -> QuerySet[Lease]:
    """Return what raters of a study were shown, the newest first."""
    pairs = ("comparison__first__system", "comparison__second__system")
    writers = ("comparison__first__writer", "comparison__second__writer")
    intact = {f"comparison__{place}__erased_at": None for place in ("first", "second")}
    leases = Lease.objects.filter(rater__study=study, **intact)
    joined = leases.select_related("rater__study", *pairs, *writers)
    return with_language(joined, "comparison__context").order_by("-pk")


def replay(study: Study, leases: QuerySet[Lease]) -> Iterator[Replay]:
    """Yield what raters received of each lease: the page, and the fragment that htmx swaps in."""
    page = blinded.study_page(study.slug) or blinded.StudyPage.from_study(study)
    requests = [_request(page, is_swapped=swapped) for swapped in (False, True)]
    for lease in leases.iterator(chunk_size=200):
        begun = perf_counter()
        answers = [_show(request, lease) for request in requests]
        seconds = perf_counter() - begun
        shown = tuple(lease.comparison.completions)
        if lease.first_side == Side.B:
            shown = shown[::-1]
        texts = tuple(plain(one.text) for one in shown)
        pair = blinded.ComparisonPage.from_lease(lease)
        blank = replace(pair, message_a=BLANK, message_b=BLANK if pair.message_b else "")
        begun = perf_counter()
        blanks = [_show(request, lease, blank) for request in requests]
        seconds_blank = perf_counter() - begun
        yield Replay(
            lease=lease,
            shown=shown,
            texts=texts,
            markup="".join(_markup(answer, [*texts, *_turns(lease)]) for answer in answers),
            blank="".join(_markup(answer, _turns(lease)) for answer in blanks),
            headers=tuple(sorted(line for answer in answers for line in _headers(answer))),
            seconds=seconds,
            seconds_blank=seconds_blank,
        )


def _show(
    request: CredentialRequest, lease: Lease, comparison: blinded.ComparisonPage | None = None
) -> HttpResponse:
    """Have the view make a page of the lease, or of what stands in its place."""
    return judging.show_pair(request, lease, comparison=comparison)


def _markup(answer: HttpResponse, texts: list[str]) -> str:
    page = without_chance(answer.content.decode())
    return without_texts(page, texts, blank=BLANK)


def _headers(answer: HttpResponse) -> Iterator[str]:
    """Yield the lines before an answer, cookies among them, without what is drawn anew."""
    for name, value in answer.items():
        yield without_chance(f"{name.lower()}: {value}")
    for cookie in answer.cookies.values():
        yield without_chance(f"set-cookie: {cookie.OutputString()}")


def _turns(lease: Lease) -> list[str]:
    """Return what the dialogue says, which may hold any name."""
    return [plain(turn["text"]) for turn in lease.comparison.context.turns]


def _request(page: blinded.StudyPage, *, is_swapped: bool) -> CredentialRequest:
    request = CredentialRequest()
    request.method = "GET"
    request.META = {"SERVER_NAME": "localhost", "SERVER_PORT": "80"}
    if is_swapped:
        request.META["HTTP_HX_REQUEST"] = "true"
    request.htmx = HtmxDetails(request)
    request.page = page
    return request


TOKEN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
SECRET = re.compile(r'(name="csrfmiddlewaretoken" value=")[^"]*')
TAG = re.compile(r"<[a-zA-Z][^<>]*>")
NUMBER = re.compile(r"\d+")
SHORTEST = 4  # letters; a shorter name stands in too many words


def tags_of(page: str) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Return the tags of a page, alike but for their numbers, by what they are alike in.

    Of each there is how often it stands there, and the numbers of the first.
    """
    found: dict[str, tuple[int, tuple[int, ...]]] = {}
    for tag in TAG.findall(page):
        shape = NUMBER.sub("#", " ".join(tag.split()))
        n, numbers = found.get(shape) or (0, tuple(map(int, NUMBER.findall(tag))))
        found[shape] = n + 1, numbers
    return found


def without_chance(page: str) -> str:
    """Return a page without what is drawn anew for each: lease tokens and form secrets."""
    return SECRET.sub(r"\1", TOKEN.sub("token", page))


def without_texts(page: str, texts: Iterable[str], *, blank: str) -> str:
    """Return a page whose message paragraphs say ``blank``, as often as a text stands in one."""
    for text in texts:
        page = page.replace(f">{html.escape(text)}</p>", f">{blank}</p>", 1)
    return page


def names_in(page: str, names: Iterable[str]) -> list[str]:
    """Return the names that stand in a page as words of their own, whatever their case."""
    lower = page.lower()
    return [
        name
        for name in sorted(set(names))
        if len(name) >= SHORTEST
        and name.lower() in lower
        and re.search(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])", lower)
    ]


def place_of(page: str, name: str) -> float:
    """Return how far from the end of a page a name stands in the mean, in characters."""
    found = [one.start() for one in re.finditer(re.escape(name.lower()), page.lower())]
    return len(page) - sum(found) / len(found)


CLOSED_TO_STRANGERS = ("admin/", "console/", "accounts/", "hooks/", "w/", "s/")
WITHOUT_STUDY = ("", "api/v1/studies/")
PART = re.compile(r"<(?:\w+:)?(\w+)>")
POINTS = ("elo", "elo_low", "elo_high")
HEADERS = ("ETag", "Last-Modified", "Cache-Control")
AT_ONCE = 25  # addresses
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
    """Return the addresses that say something else to a stranger after one more answer.

    A few are read at a time: as long as the answer is there, SQLite takes none of a rater.
    """
    known = sorted(_paths(study))
    with _one_more_answer(study, now=now):
        said = _read(_paths(study).difference(known))
    moved = [path for path, answer in said.items() if answer != NOT_FOUND]
    for at in range(0, len(known), AT_ONCE):
        moved += _moved(study, known[at : at + AT_ONCE], now=now)
    return [f"{path} changes for a stranger when an answer comes in" for path in sorted(moved)]


@transaction.atomic
def _moved(study: Study, paths: Sequence[str], *, now: dt.datetime) -> list[str]:
    """Return those of some addresses that say something else while the answer is there."""
    before = _read(paths)
    with _one_more_answer(study, now=now):
        after = _read(paths)
    return [path for path in paths if before[path] != after[path]]


@contextmanager
def _one_more_answer(study: Study, *, now: dt.datetime) -> Iterator[None]:
    """Add an answer and what a refit makes of it for the length of the block."""
    with transaction.atomic():
        _add_answer(study, now=now)
        _add_refit(study, now=now)
        yield
        transaction.set_rollback(True)


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
    return {path: _answer(path) for path in paths}


def _answer(path: str) -> tuple[object, ...]:
    """Return status, headers and body; each is asked from an address of its own: none often."""
    sent_by = f"2001:db8::{crc32(path.encode()) >> 16:x}:{crc32(path.encode()) & 0xFFFF:x}"
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
    rater.platform, rater.bound_by = Platform.GUEST, ""
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
