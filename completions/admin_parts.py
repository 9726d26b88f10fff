"""Columns and cells that admin pages of more than one table show."""

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

CALL_NUMBERS = ("n_prompt_tokens", "n_completion_tokens", "cost_usd", "ttft_ms", "latency_ms")
RUN_COLUMNS = (
    "state",
    "pause_reason",
    "n_planned",
    "budget_usd",
    "spent_usd",
    "reserved_usd",
    "created_at",
    "ended_at",
)


def show_turns(turns: list[dict[str, str]]) -> SafeString:
    """Return a stored dialogue as lines, one for each turn."""
    lines = ((turn["role"], turn["text"]) for turn in turns)
    return format_html_join("", "<p><b>{}</b> {}</p>", lines)
