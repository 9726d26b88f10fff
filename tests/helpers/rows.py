"""The plain builder of each table, by the name of its model."""

from collections.abc import Callable
from typing import Any

from tests.helpers import (
    factories,
    factories_of_calls,
    factories_of_people,
    factories_of_site,
    factories_written_once,
)

MODULES = (
    factories,
    factories_of_site,
    factories_of_people,
    factories_of_calls,
    factories_written_once,
)
BUILDERS: dict[str, Callable[..., Any]] = {
    "Member": lambda: factories_written_once.make_member().member
}
"""The first builder of each table is the plain one; others make special rows."""
for module in MODULES:
    for name, function in vars(module).items():
        if name.startswith("make_"):
            BUILDERS.setdefault(function.__annotations__["return"].__name__, function)
