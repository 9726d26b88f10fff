"""Runs in Django's admin: what was asked for, how far it may go, and what it has cost."""

from django.contrib import admin

from access.console.admin_parts import Table
from completions.admin_parts import RUN_COLUMNS
from completions.models import GenerationRun, LabellingRun


@admin.register(GenerationRun)
class GenerationRunAdmin(Table):
    """Runs that have models complete contexts."""

    list_display = ("pk", "dataset", *RUN_COLUMNS)
    list_filter = ("state", "dataset")
    list_select_related = ("dataset",)
    search_fields = ("dataset__slug", "pause_detail")
    ordering = ("-pk",)


@admin.register(LabellingRun)
class LabellingRunAdmin(Table):
    """Runs that have a model name strategies."""

    list_display = ("pk", "dataset", *RUN_COLUMNS)
    list_filter = ("state", "dataset")
    list_select_related = ("dataset",)
    search_fields = ("dataset__slug", "pause_detail")
    ordering = ("-pk",)
