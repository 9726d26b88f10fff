"""Tables of the ranking app in Django's admin: to look at, not to change."""

from django.contrib import admin

from access.console.admin_parts import Part, ReadOnlyAdmin
from ranking.models import (
    Analysis,
    DimensionRate,
    Fit,
    HumanRating,
    Measurement,
    RaterFigures,
    Rating,
    Release,
)


class RatingTable(Part):
    """The ratings of a fit, on the fit's page."""

    model = Rating
    fields = ("system", "rank", "rank_low", "rank_high", "elo", "elo_low", "elo_high")
    ordering = ("rank", "pk")


class PeopleTable(Part):
    """The ratings of systems made from people, on the fit's page."""

    model = HumanRating
    fields = ("kind", "elo", "elo_low", "elo_high", "n_judgments", "n_contexts")
    ordering = ("kind",)


class RateTable(Part):
    """The dimension rates of a rating, on the rating's page."""

    model = DimensionRate
    fields = ("dimension", "wins", "n_marks")
    ordering = ("dimension",)


class AnalysisTable(Part):
    """The analyses of a fit, on the fit's page."""

    model = Analysis
    fields = ("kind", "state", "refusal", "claimed_at", "ended_at")
    ordering = ("pk",)


@admin.register(Fit)
class FitAdmin(ReadOnlyAdmin):
    """Fits, newest first."""

    list_display = ("key", "study", "pool", "context_set", "state", "n_judgments", "ended_at")
    list_filter = ("state", "pool", "context_set")
    list_select_related = ("study",)
    search_fields = ("key", "study__slug")
    ordering = ("-as_of", "-pk")
    inlines = (RatingTable, PeopleTable, AnalysisTable)


@admin.register(Rating)
class RatingAdmin(ReadOnlyAdmin):
    """Ratings, those of the newest fit first."""

    list_display = ("fit", "system", "rank", "elo", "elo_low", "elo_high", "n_judgments")
    list_select_related = ("fit", "system")
    search_fields = ("fit__key", "system__slug")
    ordering = ("-fit", "rank", "pk")
    inlines = (RateTable,)


@admin.register(HumanRating)
class HumanRatingAdmin(ReadOnlyAdmin):
    """Ratings of systems made from people, those of the newest fit first."""

    list_display = ("fit", "kind", "elo", "elo_low", "elo_high", "n_judgments", "n_contexts")
    list_filter = ("kind",)
    list_select_related = ("fit",)
    search_fields = ("fit__key",)
    ordering = ("-fit", "kind", "pk")


@admin.register(Analysis)
class AnalysisAdmin(ReadOnlyAdmin):
    """Analyses of fits, newest first."""

    list_display = ("fit", "kind", "state", "begun", "code_version", "claimed_at", "ended_at")
    list_filter = ("kind", "state")
    list_select_related = ("fit",)
    search_fields = ("fit__key",)
    ordering = ("-pk",)


@admin.register(Measurement)
class MeasurementPage(ReadOnlyAdmin):
    """When the raters of each study were measured."""

    list_display = ("study", "as_of", "n_answers", "median_seconds")
    list_select_related = ("study",)
    search_fields = ("study__slug",)
    ordering = ("study__slug",)


@admin.register(RaterFigures)
class RaterFiguresPage(ReadOnlyAdmin):
    """What was measured of each rater."""

    list_display = ("rater", "n_answers", "n_passed", "n_checks", "infit", "agreement")
    list_select_related = ("rater",)
    search_fields = ("rater__code",)
    ordering = ("rater__code",)


@admin.register(Release)
class ReleaseAdmin(ReadOnlyAdmin):
    """Releases, newest first; the key of the raters' ids is not shown."""

    list_display = ("key", "study", "version", "state", "manifest_hash", "ended_at", "published_at")
    list_filter = ("state",)
    list_select_related = ("study",)
    search_fields = ("key", "study__slug", "manifest_hash")
    exclude = ("secret",)
    ordering = ("-pk",)
