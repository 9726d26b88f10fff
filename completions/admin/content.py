"""Systems, completions, runs, calls to providers and strategies in Django's admin: to read."""

from django.contrib import admin

from access.console.admin_parts import ReadOnlyAdmin, clip
from completions.admin_parts import CALL_NUMBERS, RUN_COLUMNS, FindingsAdmin, SampledItemAdmin
from completions.models import (
    BroughtCompletion,
    Completion,
    GenerationCall,
    GenerationRun,
    Hold,
    HumanLabelling,
    LabellingRun,
    SpotCheck,
    SpotCheckItem,
    StrategyCall,
    StrategyLabel,
    System,
)
from completions.strategies.kinds import STRATEGIES


@admin.register(System)
class SystemAdmin(ReadOnlyAdmin):
    """Producers of completions."""

    list_display = ("name", "slug", "kind", "family", "model_id", "is_simulated")
    list_filter = ("kind", "is_simulated")
    search_fields = ("slug", "name", "family", "model_id")
    ordering = ("slug",)


@admin.register(Completion)
class CompletionAdmin(ReadOnlyAdmin):
    """All completions, of people and systems, without the names of people."""

    list_display = ("context", "system", "beginning", "created_at")
    list_filter = ("system", "context__stratum")
    list_select_related = ("context", "system")
    exclude = ("writer",)
    search_fields = ("context__key", "text")
    ordering = ("-pk",)

    def beginning(self, row: Completion) -> str:
        """Show how the text begins."""
        return clip(row.text)


@admin.register(GenerationCall)
class GenerationCallAdmin(ReadOnlyAdmin):
    """Completions wanted from models, and what the providers said."""

    list_display = ("context", "system", "state", "attempts", "error_kind", *CALL_NUMBERS)
    list_filter = ("state", "error_kind", "system")
    list_select_related = ("context", "system")
    search_fields = ("context__key", "provider_id", "error_detail")
    ordering = ("-pk",)


@admin.register(Hold)
class HoldAdmin(ReadOnlyAdmin):
    """Completions that seem to give their source away; the console decides about them."""

    list_display = ("completion", "state", "rules", "held_at", "decided_at", "decided_by")
    list_filter = ("state",)
    list_select_related = ("completion", "decided_by")
    search_fields = ("completion__context__key", "decision_reason")
    ordering = ("-held_at", "-pk")


@admin.register(BroughtCompletion)
class BroughtCompletionAdmin(ReadOnlyAdmin):
    """Completions of models that were made elsewhere, and who brought them in."""

    list_display = ("completion", "way", "brought_at", "brought_by", "model_version", "source")
    list_filter = ("way",)
    list_select_related = ("completion", "brought_by")
    search_fields = ("completion__context__key", "model_version", "source")
    ordering = ("-brought_at", "-pk")


@admin.register(GenerationRun)
class GenerationRunAdmin(ReadOnlyAdmin):
    """Runs that have models complete contexts."""

    list_display = ("pk", "dataset", *RUN_COLUMNS)
    list_filter = ("state", "dataset")
    list_select_related = ("dataset",)
    search_fields = ("dataset__slug", "pause_detail")
    ordering = ("-pk",)


@admin.register(LabellingRun)
class LabellingRunAdmin(ReadOnlyAdmin):
    """Runs that have a model name strategies."""

    list_display = ("pk", "dataset", *RUN_COLUMNS)
    list_filter = ("state", "dataset")
    list_select_related = ("dataset",)
    search_fields = ("dataset__slug", "pause_detail")
    ordering = ("-pk",)


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
