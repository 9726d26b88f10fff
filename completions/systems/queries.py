"""Reads of systems: what is registered, how it is asked, and what it still needs."""

import os
from collections.abc import Collection
from typing import Any

from django.db.models import Count, QuerySet

from completions.choices import SystemKind
from completions.models import Endpoint, System

VARIABLES = ("api_key_env", "api_base_env")
ALL = "all"
"""Stands for every language model that is not simulated."""


class UnknownSystemError(ValueError):
    """A system was named that is not registered; the message says which there are."""


def counted_systems() -> QuerySet[Any]:
    """Return the systems, each with its ``n_completions`` and how many were imported."""
    return System.objects.annotate(
        n_completions=Count("completions"), n_imported=Count("completions__brought")
    )


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


def variables_of(endpoint: System | Endpoint) -> dict[str, bool]:
    """Name the variables that a call would read, and say whether the environment has them.

    There is one for the address only where the row has none.
    """
    named = {field: endpoint.parameters.get(field, "") for field in VARIABLES}
    if endpoint.api_base:
        del named["api_base_env"]
    needed = () if endpoint.is_simulated else filter(None, named.values())
    return {name: bool(os.environ.get(name)) for name in needed}
