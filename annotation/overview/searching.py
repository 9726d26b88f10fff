"""Search over studies, contexts, raters, writers and texts, by their names or by words."""

from dataclasses import dataclass

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from access.console.table_query import read_text
from access.roles import members_only
from annotation.models import Rater, Study
from completions.models import Completion, Context, Writer

MOST = 10
"""Of each kind that one page shows."""
LONGEST = 100
SHOWN_WORDS = 24


@dataclass(frozen=True)
class Found:
    """Something that was found: its name, what is beside it, and its page."""

    name: str
    beside: str
    url: str


@require_safe
@never_cache
@members_only()
def search(request: HttpRequest) -> HttpResponse:
    """Show what has the words that are asked for, a few of each kind."""
    text = read_text(request.GET, "q")[:LONGEST]
    groups = [(label, found) for label, found in _groups(text) if found] if text else []
    return render(request, "console/search.html", {"asked": text, "groups": groups, "most": MOST})


def _groups(text: str) -> list[tuple[str, list[Found]]]:
    """Return each kind with what was found of it, in one query each."""
    return [
        (_("Studies"), _studies(text)),
        (_("Contexts"), _contexts(text)),
        (_("Raters"), _raters(text)),
        (_("Writers"), _writers(text)),
        (_("Texts"), _texts(text)),
    ]


def _studies(text: str) -> list[Found]:
    rows = Study.objects.filter(Q(title__icontains=text) | Q(slug__icontains=text))
    return [
        Found(one.title, one.slug, reverse("console:study", args=[one.slug]))
        for one in rows.order_by("-pk")[:MOST]
    ]


def _contexts(text: str) -> list[Found]:
    rows = Context.objects.filter(key__istartswith=text, dataset__is_for_checks=False)
    return [
        Found(one.key, one.dataset.name, _of_context(one))
        for one in rows.select_related("dataset").order_by("key")[:MOST]
    ]


def _raters(text: str) -> list[Found]:
    rows = Rater.objects.filter(code__istartswith=text).select_related("study")
    return [
        Found(one.code, one.study.title, reverse("raters:rater", args=[one.study.slug, one.code]))
        for one in rows.order_by("code", "pk")[:MOST]
    ]


def _writers(text: str) -> list[Found]:
    rows = Writer.objects.filter(code__istartswith=text).select_related("dataset")
    return [
        Found(
            one.code, one.dataset.name, reverse("writing:writer", args=[one.dataset.slug, one.code])
        )
        for one in rows.order_by("code", "pk")[:MOST]
    ]


def _texts(text: str) -> list[Found]:
    rows = Completion.objects.filter(text__icontains=text, context__dataset__is_for_checks=False)
    return [
        Found(
            Truncator(one.text).words(SHOWN_WORDS),
            f"{one.system.name}, {one.context.key}",
            _of_context(one.context),
        )
        for one in rows.select_related("system", "context__dataset").order_by("pk")[:MOST]
    ]


def _of_context(context: Context) -> str:
    return reverse("contexts:context", args=[context.dataset.slug, context.key])
