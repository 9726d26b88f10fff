"""What addresses of results name, which filters they carry, and who asks."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.http import Http404, HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from access.choices import Role
from access.roles import may
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits.queries import Results, readable_results
from ranking.models import Fit

Selected = tuple[EvaluatorPool, ContextSet]
Value = TypeVar("Value", EvaluatorPool, ContextSet)
_POOLS = {pool.lower(): pool for pool in EvaluatorPool}
_CONTEXT_SETS = {name.lower(): name for name in ContextSet}


class UnknownSelectionError(ValueError):
    """The address names a pool or a set of contexts that does not exist."""


@dataclass(frozen=True)
class Choice:
    """One value of a filter, and where it leads."""

    label: str
    query: str
    is_current: bool
    has_fit: bool


@dataclass(frozen=True)
class Filters:
    """What is shown, and what could be."""

    selected: Selected
    pools: tuple[Choice, ...]
    context_sets: tuple[Choice, ...]
    has_any: bool

    @property
    def query(self) -> str:
        """Return what the address of this selection ends with."""
        return _query(*self.selected)


def read_filters(query: Mapping[str, str], *, fitted: Collection[Selected]) -> Filters:
    """Return the filters that an address asks for.

    What it leaves open is the first of ``fitted`` that has what it does name.

    Raises
    ------
    UnknownSelectionError
        If it names a value that does not exist, with those that do.
    """
    asked_pool = _parse(_POOLS, query.get("pool"))
    asked_set = _parse(_CONTEXT_SETS, query.get("contexts"))
    fitting = (
        (pool, context_set)
        for pool, context_set in fitted
        if asked_pool in {None, pool} and asked_set in {None, context_set}
    )
    nothing = (asked_pool or EvaluatorPool.COMBINED, asked_set or ContextSet.ALL)
    selected = next(fitting, nothing)
    return Filters(
        selected,
        tuple(_choice(p.label, (p, selected[1]), selected, fitted) for p in EvaluatorPool),
        tuple(_choice(c.label, (selected[0], c), selected, fitted) for c in ContextSet),
        has_any=bool(fitted),
    )


def _parse(known: Mapping[str, Value], value: str | None) -> Value | None:
    if value is not None and value not in known:
        msg = f"{value} is not one of {', '.join(known)}"
        raise UnknownSelectionError(msg)
    return known[value] if value is not None else None


def _choice(label: str, leads_to: Selected, now: Selected, fitted: Collection[Selected]) -> Choice:
    return Choice(label, _query(*leads_to), is_current=leads_to == now, has_fit=leads_to in fitted)


def _query(pool: EvaluatorPool, context_set: ContextSet) -> str:
    return f"?pool={pool.lower()}&contexts={context_set.lower()}"


P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)
Found = TypeVar("Found")


def results_page(
    view: Callable[Concatenate[HttpRequest, Results, P], R],
) -> Callable[..., HttpResponseBase]:
    """Answer who reads, with what they may read of the results of the study in the address.

    As long as the study goes on nobody on the way keeps the answer: it may be for the team alone.
    """

    @require_safe
    @wraps(view)
    def wrapper(
        request: HttpRequest, /, study: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        found = readable_results(study, is_team=is_staff(request))
        results = or_404(found, f"there is no study {study}")
        response = view(request, results, *args, **kwargs)
        if results.is_embargoed:
            response["Cache-Control"] = "private, no-store"
        return response

    return wrapper


def or_404(found: Found | None, said: str) -> Found:
    """Return what was found, or say that there is no such thing."""
    if found is None:
        raise Http404(said)
    return found


def fit_or_404(results: Results, key: str) -> Fit:
    """Return the fit of that name, if it may be read."""
    return or_404(results.by_key(key), f"there is no fit {key}")


def filters_or_404(request: HttpRequest, results: Results) -> Filters:
    """Return the filters of the address, for whose values that do not exist there is no page."""
    try:
        return read_filters(request.GET, fitted=results.selections())
    except UnknownSelectionError as error:
        raise Http404(str(error)) from error


def is_staff(request: HttpRequest) -> bool:
    """Say whether the reader is of the team: sees what is embargoed, and people's pseudonyms."""
    return may(request, Role.ANALYST)


def json_answer(content: Mapping[str, Any], name: str) -> JsonResponse:
    """Return plain values as a download of that name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.json"'}
    return JsonResponse(content, headers=headers)
