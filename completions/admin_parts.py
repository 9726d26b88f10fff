"""What admin pages of more than one table share: columns, cells, and rows that are held back."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from access.console.admin_parts import ReadOnlyAdmin
from completions.models import Completion, MessageRevision
from completions.strategies import spot_check_queries
from completions.strategies.spot_check_queries import CheckKind

CALL_NUMBERS = "n_prompt_tokens n_completion_tokens cost_usd ttft_ms latency_ms"
RUN_COLUMNS = "state pause_reason n_planned budget_usd spent_usd reserved_usd created_at ended_at"


def show_turns(turns: list[dict[str, str]]) -> SafeString:
    """Return a stored dialogue as lines, one for each turn."""
    lines = ((turn["role"], turn["text"]) for turn in turns)
    return format_html_join("", "<p><b>{}</b> {}</p>", lines)


class FindingsAdmin(ReadOnlyAdmin):
    """Rows that say what was found: those of which people are labelling a sample are left out.

    ``kind`` is that of the samples, ``of`` the way from a row to what is labelled.
    """

    kind: CheckKind
    of: str

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave out what people are labelling."""
        hidden = {f"{self.of}__in": spot_check_queries.being_labelled(self.kind)}
        rows: QuerySet[Any] = super().get_queryset(request).exclude(**hidden)
        return rows


class ErasableAdmin(ReadOnlyAdmin):
    """Texts with their hashes; of a deleted one the hash would confirm a guess."""

    exclude = ("content_hash",)
    readonly_fields = ("hash_of_text",)

    def hash_of_text(self, row: Completion | MessageRevision) -> str:
        """Show the hash of a text that is there."""
        return "" if row.erased_at else row.content_hash


SAMPLED: dict[str, Any] = {
    "columns": "spot_check position",
    "search": "spot_check__seed",
    "order": "spot_check position",
    "fields": ("spot_check", "position"),
}
"""Places of a sample; what is at one says nothing here about where it comes from."""
