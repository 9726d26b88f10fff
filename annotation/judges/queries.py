"""Reads of LLM judges: which are registered, how they are asked, and what they still need."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Judge, JudgeCall
from completions.systems.queries import Choose, EndpointRow, by_slug, variables_of

ALL = "all"
"""Stands for every judge that is not simulated."""


class UnknownJudgeError(ValueError):
    """A judge was named that is not registered; the message says which there are."""


@dataclass(frozen=True)
class JudgeRow(EndpointRow):
    """One judge, and how often it was asked."""

    n_calls: int


def judge_rows(environment: Mapping[str, str], choose: Choose = by_slug) -> list[JudgeRow]:
    """Return the judges that ``choose`` takes; ``environment`` says which variables are set."""
    return [
        JudgeRow(
            slug=judge.slug,
            name=judge.name,
            family=judge.family,
            model_id=judge.model_id,
            api_base=judge.api_base,
            is_simulated=judge.is_simulated,
            n_calls=judge.n_calls,
            variables=variables_of(judge, environment),
        )
        for judge in choose(Judge.objects.annotate(n_calls=_n_calls()))
    ]


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
