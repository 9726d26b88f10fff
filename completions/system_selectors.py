"""Reads of systems: what is registered, how it is asked, and what it still needs."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count

from completions.models import System

VARIABLES = ("api_key_env", "api_base_env")


@dataclass(frozen=True)
class SystemRow:
    """One system as lists show it; of a key only the variable's name and whether it is set."""

    slug: str
    name: str
    kind: str
    family: str
    model_id: str
    api_base: str
    is_simulated: bool
    n_completions: int
    variables: Mapping[str, bool]


def system_rows(environment: Mapping[str, str]) -> list[SystemRow]:
    """Return every system by its slug; ``environment`` says which variables are set."""
    systems = System.objects.annotate(n_completions=Count("completions")).order_by("slug")
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
            variables={name: bool(environment.get(name)) for name in _variables(system)},
        )
        for system in systems
    ]


def _variables(system: System) -> list[str]:
    """Name the variables that a call would read; one for the address only where none is set."""
    named = {field: system.parameters.get(field, "") for field in VARIABLES}
    if system.api_base:
        del named["api_base_env"]
    return [name for name in named.values() if name and not system.is_simulated]
