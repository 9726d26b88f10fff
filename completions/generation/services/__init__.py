"""Writes of generation; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from completions.generation.services.generating import (
        NotAModelError,
        generate_completions,
        plan_generation_calls,
    )
    from completions.generation.services.planning import retry_completions, start_generation_run
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "NotAModelError",
    "generate_completions",
    "plan_generation_calls",
    "retry_completions",
    "start_generation_run",
]
