"""Writes of contexts; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from completions.contexts.services.building import BuildReport, build_contexts
    from completions.contexts.services.reviewing import review_context
    from completions.contexts.services.rewriting import (
        Assistants,
        NoSourceLeftError,
        make_adversarial_contexts,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "Assistants",
    "BuildReport",
    "NoSourceLeftError",
    "build_contexts",
    "make_adversarial_contexts",
    "review_context",
]
