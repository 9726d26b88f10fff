"""Rewrite the seeker of a context to be hostile, and check what came back: pure."""

from completions.contexts.adversarial.checks import is_fit_to_rewrite, rewrite_problems
from completions.contexts.adversarial.display import diff
from completions.contexts.adversarial.questions import (
    RATING_SCHEMA,
    REWRITE_SCHEMA,
    hostility_rater_messages,
    hostility_rater_prompt,
    read_ratings,
    read_rewrite,
    rewriter_messages,
    rewriter_prompt,
    seekers,
)
from completions.llm.prompts import Prompt

__all__ = [
    "RATING_SCHEMA",
    "REWRITE_SCHEMA",
    "Prompt",
    "diff",
    "hostility_rater_messages",
    "hostility_rater_prompt",
    "is_fit_to_rewrite",
    "read_ratings",
    "read_rewrite",
    "rewrite_problems",
    "rewriter_messages",
    "rewriter_prompt",
    "seekers",
]
