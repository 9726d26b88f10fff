"""Reads of systems: what is registered, how it is asked, and what it still needs."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from completions.choices import SystemKind
from completions.models import Endpoint, System

VARIABLES = ("api_key_env", "api_base_env")


Choose = Callable[[QuerySet[Any]], QuerySet[Any]]
"""Which rows are meant, in which order."""
ALL = "all"
"""Stands for every language model that is not simulated."""


class UnknownSystemError(ValueError):
    """A system was named that is not registered; the message says which there are."""


@dataclass(frozen=True)
class EndpointRow:
    """One model as lists show it; of a key only the variable's name and whether it is set."""

    slug: str
    name: str
    family: str
    model_id: str
    api_base: str
    is_simulated: bool
    variables: Mapping[str, bool]


@dataclass(frozen=True)
class SystemRow(EndpointRow):
    """One system, and what there is of it."""

    kind: str
    n_completions: int
    n_imported: int


def by_slug(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return all rows, ordered by slug."""
    return rows.order_by("slug")


def system_rows(environment: Mapping[str, str], choose: Choose = by_slug) -> list[SystemRow]:
    """Return the systems that ``choose`` takes; ``environment`` says which variables are set."""
    systems = System.objects.annotate(
        n_completions=Count("completions"), n_imported=Count("completions__brought")
    )
    return [
        SystemRow(
            slug=system.slug,
            name=system.name,
            kind=system.get_kind_display(),
            family=system.family,
            model_id=system.model_id,
            api_base=system.api_base,
            is_simulated=system.is_simulated,
            n_completions=system.n_completions,
            n_imported=system.n_imported,
            variables=variables_of(system, environment),
        )
        for system in choose(systems)
    ]


def models_named(names: Collection[str]) -> list[System]:
    """Return the systems of these slugs, or every real model for ``ALL`` alone, by slug.

    Raises
    ------
    UnknownSystemError
        If one of them is not registered, or there is none.
    """
    models = System.objects.filter(kind=SystemKind.MODEL).order_by("slug")
    if list(names) == [ALL]:
        rows = models.filter(is_simulated=False, retired_at=None).exclude(model_id="")
        found, unknown = list(rows), list[str]()
    else:
        found = list(System.objects.filter(slug__in=names).order_by("slug"))
        unknown = sorted(set(names) - {system.slug for system in found})
    if unknown or not found:
        known = ", ".join(models.values_list("slug", flat=True))
        msg = f"unknown systems {', '.join(unknown or names)}; known are {known or 'none'}"
        raise UnknownSystemError(msg)
    return found


def variables_of(endpoint: System | Endpoint, environment: Mapping[str, str]) -> dict[str, bool]:
    """Name the variables that a call would read, and say whether they are set.

    There is one for the address only where the row has none.
    """
    named = {field: endpoint.parameters.get(field, "") for field in VARIABLES}
    if endpoint.api_base:
        del named["api_base_env"]
    needed = () if endpoint.is_simulated else filter(None, named.values())
    return {name: bool(environment.get(name)) for name in needed}
