"""Reads of LLM judges: which are registered, how they are asked, and what they still need."""

from collections.abc import Collection
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Judge, JudgeCall

ALL = "all"
"""Stands for every judge that is not simulated."""


class UnknownJudgeError(ValueError):
    """A judge was named that is not registered; the message says which there are."""


def counted_judges() -> QuerySet[Any]:
    """Return the judges, each with its ``n_calls``."""
    return Judge.objects.annotate(n_calls=_n_calls())


def _n_calls() -> Coalesce:
    """Return the number of a judge's calls, by the index on the judge alone."""
    calls = JudgeCall.objects.filter(judge=OuterRef("pk")).order_by().values("judge")
    return Coalesce(Subquery(calls.annotate(n=Count("pk")).values("n")), 0)


def requested_judges(names: Collection[str]) -> list[Judge]:
    """Return the judges of these slugs, or every one that is not simulated for ``ALL`` alone.

    Raises
    ------
    UnknownJudgeError
        If one of them is not registered, or there is none.
    """
    if list(names) != [ALL]:
        return judges_named(names)
    found = list(Judge.objects.filter(is_simulated=False).order_by("slug"))
    if not found:
        msg = "no judge is registered but simulated ones: `judges sync` brings in a catalogue"
        raise UnknownJudgeError(msg)
    return found


def judges_named(slugs: Collection[str]) -> list[Judge]:
    """Return the judges of these slugs, by slug.

    Raises
    ------
    UnknownJudgeError
        If one of them is not registered.
    """
    found = list(Judge.objects.filter(slug__in=slugs).order_by("slug"))
    if unknown := sorted(set(slugs) - {judge.slug for judge in found}):
        known = ", ".join(Judge.objects.order_by("slug").values_list("slug", flat=True))
        msg = f"unknown judges {', '.join(unknown)}; known are {known or 'none'}"
        raise UnknownJudgeError(msg)
    return found
