"""Rewrite the seeker of a context to be hostile, and check what came back: pure."""

from completions.contexts.adversarial.answers import (
    RATING_SCHEMA,
    REWRITE_SCHEMA,
    read_ratings,
    read_rewrite,
    seekers,
)
from completions.contexts.adversarial.checks import is_fit_to_rewrite, rewrite_problems
from completions.contexts.adversarial.diffing import diff
from completions.contexts.adversarial.questions import (
    hostility_rater_messages,
    hostility_rater_prompt,
    rewriter_messages,
    rewriter_prompt,
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
