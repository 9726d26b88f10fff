"""Strategies in Django's admin: what a model named, and how people check it.

What was found in a text stays out of these tables too as long as people label its sample.
"""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from access.console.admin_parts import ReadOnlyAdmin
from completions.admin_parts import CALL_NUMBERS
from completions.models import HumanLabelling, SpotCheck, SpotCheckItem, StrategyCall, StrategyLabel
from completions.strategies import spot_check_queries


class Findings(ReadOnlyAdmin):
    """Rows that say what was found in a text."""

    of = "completion"
    """The way from a row to the text."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave out texts that people are labelling."""
        hidden = {f"{self.of}__in": spot_check_queries.being_labelled()}
        rows: QuerySet[Any] = super().get_queryset(request).exclude(**hidden)
        return rows


@admin.register(StrategyCall)
class StrategyCallAdmin(Findings):
    """Questions about texts, and what the providers said."""

    list_display = ("completion", "assistant", "state", "attempts", "error_kind", *CALL_NUMBERS)
    list_filter = ("state", "error_kind", "assistant")
    list_select_related = ("completion", "assistant")
    search_fields = ("provider_id", "error_detail")
    ordering = ("-pk",)


@admin.register(StrategyLabel)
class StrategyLabelAdmin(Findings):
    """What a model said of one strategy in one text."""

    of = "call__completion"
    list_display = ("call", "strategy", "presence", "probability", "quote")
    list_filter = ("presence", "strategy")
    list_select_related = ("call",)
    search_fields = ("strategy", "quote")
    ordering = ("-pk",)


@admin.register(SpotCheck)
class SpotCheckAdmin(ReadOnlyAdmin):
    """Samples for people to label."""

    list_display = ("dataset", "assistant", "codebook", "seed", "created_at", "created_by")
    list_filter = ("dataset",)
    list_select_related = ("dataset", "assistant", "created_by")
    search_fields = ("seed", "codebook")
    ordering = ("-pk",)


@admin.register(SpotCheckItem)
class SpotCheckItemAdmin(ReadOnlyAdmin):
    """Places of a sample; which text is at one says nothing here about who wrote it."""

    fields = ("spot_check", "position")
    list_display = ("spot_check", "position")
    list_select_related = ("spot_check",)
    search_fields = ("spot_check__seed",)
    ordering = ("spot_check", "position")


@admin.register(HumanLabelling)
class HumanLabellingAdmin(Findings):
    """What people found, and settled."""

    of = "item__completion"
    list_display = ("item", "labeller", "is_adjudication", "strategies", "labelled_at")
    list_filter = ("is_adjudication",)
    list_select_related = ("item", "labeller")
    search_fields = ("labeller__username", "note")
    ordering = ("-pk",)
