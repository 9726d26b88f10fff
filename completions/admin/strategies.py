"""Strategies in Django's admin: what a model named, and how people check it.

What was found in a text stays out of these tables too as long as people label its sample.
"""

from django.contrib import admin

from access.console.admin_parts import ReadOnlyAdmin
from completions.admin_parts import CALL_NUMBERS, FindingsAdmin, SampledItemAdmin
from completions.models import HumanLabelling, SpotCheck, SpotCheckItem, StrategyCall, StrategyLabel
from completions.strategies.kinds import STRATEGIES


class Findings(FindingsAdmin):
    """Rows that say what was found in a text."""

    kind = STRATEGIES
    of = "completion"


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
class SpotCheckItemAdmin(SampledItemAdmin):
    """Places of a sample; which text is at one says nothing here about who wrote it."""


@admin.register(HumanLabelling)
class HumanLabellingAdmin(Findings):
    """What people found, and settled."""

    of = "item__completion"
    list_display = ("item", "labeller", "is_adjudication", "strategies", "labelled_at")
    list_filter = ("is_adjudication",)
    list_select_related = ("item", "labeller")
    search_fields = ("labeller__username", "note")
    ordering = ("-pk",)
