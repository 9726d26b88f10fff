"""Tables of the annotation app in Django's admin: to read, not to change."""

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from annotation.models import (
    Comparison,
    Consent,
    DimensionMark,
    Exclusion,
    Judge,
    JudgeCall,
    JudgeRun,
    Judgment,
    Lease,
    PlatformEvent,
    QualityCheck,
    Rater,
    Report,
    ReportAlert,
    ReportDecision,
    SourceGuess,
    Study,
)
from completions.admin_parts import RUN_COLUMNS, Part, Table, clip


@admin.register(Study)
class StudyAdmin(Table):
    """Studies with their numbers; the console opens, pauses and closes them."""

    list_display = ("slug", "title", "dataset", "protocol", "state", "judgments_per_pair")
    list_filter = ("state", "protocol", "dataset")
    list_select_related = ("dataset",)
    search_fields = ("slug", "title", "protocol_hash")
    ordering = ("-created_at", "-pk")


@admin.register(Comparison)
class ComparisonAdmin(Table):
    """Pairs of completions, and how many judgments by people each still wants."""

    list_display = ("key", "study", "context", "first_system", "second_system", "slots_left")
    list_filter = ("study", "purpose")
    list_select_related = ("study", "context", "first__system", "second__system")
    search_fields = ("key", "context__key")
    ordering = ("study", "position", "pk")

    def first_system(self, row: Comparison) -> str:
        """Show what produced the first completion."""
        return row.first.system.slug

    def second_system(self, row: Comparison) -> str:
        """Show what produced the second completion."""
        return "" if row.second is None else row.second.system.slug


@admin.register(Rater)
class RaterAdmin(Table):
    """Raters by pseudonym."""

    list_display = ("code", "study", "platform", "state", "is_simulated", "entered_at", "ended_at")
    list_filter = ("study", "platform", "state", "is_simulated")
    list_select_related = ("study",)
    search_fields = ("code", "external_id")
    ordering = ("-entered_at", "-pk")


@admin.register(Consent)
class ConsentAdmin(Table):
    """What raters agreed to."""

    list_display = ("rater", "version", "given_at")
    list_filter = ("version",)
    list_select_related = ("rater",)
    search_fields = ("rater__code",)
    ordering = ("-given_at", "-pk")


@admin.register(Lease)
class LeaseAdmin(Table):
    """Which pair was shown to which rater, on which sides, and how that ended."""

    list_display = ("rater", "pair", "first_side", "issued_at", "closed_at", "outcome")
    list_filter = ("outcome", "skip_reason", "rater__study")
    list_select_related = ("rater", "comparison")
    search_fields = ("rater__code", "comparison__key")
    ordering = ("-issued_at", "-pk")

    def pair(self, row: Lease) -> str:
        """Show the comparison's public name."""
        return row.comparison.key


class MarkPart(Part):
    """The marks of a judgment, on the judgment's page."""

    model = DimensionMark
    fields = ("dimension", "advantage")
    ordering = ("pk",)


@admin.register(Judgment)
class JudgmentAdmin(Table):
    """Every judgment of raters and judges, revisions and surplus ones included."""

    list_display = ("submitted_at", "study", "pair", "rater", "judge", "verdict", "is_surplus")
    list_filter = ("comparison__study", "protocol", "judge", "is_surplus")
    list_select_related = ("comparison__study", "rater", "judge")
    search_fields = ("rater__code", "comparison__key", "rationale")
    ordering = ("-pk",)
    inlines = (MarkPart,)

    def study(self, row: Judgment) -> str:
        """Show the study's slug."""
        return row.comparison.study.slug

    def pair(self, row: Judgment) -> str:
        """Show the comparison's public name."""
        return row.comparison.key


@admin.register(DimensionMark)
class DimensionMarkAdmin(Table):
    """Marks by dimension."""

    list_display = ("judgment", "dimension", "advantage")
    list_filter = ("dimension",)
    list_select_related = ("judgment",)
    search_fields = ("judgment__comparison__key",)
    ordering = ("-pk",)


@admin.register(Judge)
class JudgeAdmin(Table):
    """LLM judges."""

    list_display = ("name", "slug", "family", "model_id", "is_simulated")
    list_filter = ("is_simulated",)
    search_fields = ("slug", "name", "family", "model_id")
    ordering = ("slug",)


class AddressedFilter(admin.SimpleListFilter):
    """Calls with a text that speaks to the judge, and the others."""

    title = "addresses the judge"
    parameter_name = "addressed"

    def lookups(self, *_args: object) -> list[tuple[str, str]]:
        """Offer both."""
        return [("yes", "Yes"), ("no", "No")]

    def queryset(self, _request: HttpRequest, calls: QuerySet[JudgeCall]) -> QuerySet[JudgeCall]:
        """Keep the calls that were chosen."""
        if self.value() not in {"yes", "no"}:
            return calls
        flagged = Q(asked__has_key="addressed")
        return calls.filter(flagged if self.value() == "yes" else ~flagged)


@admin.register(JudgeRun)
class JudgeRunAdmin(Table):
    """Runs that put a study's comparisons to judges."""

    list_display = ("pk", "study", "both_orders", "samples", *RUN_COLUMNS)
    list_filter = ("state", "study")
    list_select_related = ("study",)
    search_fields = ("study__slug", "pause_detail")
    ordering = ("-pk",)


@admin.register(JudgeCall)
class JudgeCallAdmin(Table):
    """Verdicts wanted from judges, and what the providers said."""

    list_display = (
        "judge",
        "pair",
        "first_side",
        "sample",
        "state",
        "attempts",
        "error_kind",
        "detail",
        "addressed",
    )
    list_filter = ("state", "error_kind", AddressedFilter, "judge")
    list_select_related = ("judge", "comparison")
    search_fields = ("comparison__key", "provider_id", "error_detail")
    ordering = ("-pk",)

    def pair(self, row: JudgeCall) -> str:
        """Show the comparison's public name."""
        return row.comparison.key

    def detail(self, row: JudgeCall) -> str:
        """Show how the error's description begins."""
        return clip(row.error_detail)

    def addressed(self, row: JudgeCall) -> str:
        """Show which texts speak to the judge, and how."""
        found: dict[str, list[str]] = row.asked.get("addressed", {})
        return "; ".join(f"{place}: {', '.join(ways)}" for place, ways in found.items())


@admin.register(QualityCheck)
class QualityCheckAdmin(Table):
    """Planted comparisons with a known answer."""

    list_display = ("comparison", "kind", "expected", "dimension", "is_active")
    list_filter = ("kind", "is_active", "comparison__study")
    list_select_related = ("comparison",)
    search_fields = ("comparison__key",)
    ordering = ("-pk",)


@admin.register(Exclusion)
class ExclusionAdmin(Table):
    """Decisions to leave an evaluator out, or to take them back, with the evidence."""

    list_display = ("decided_at", "rater", "judge", "is_excluded", "rule", "decided_by")
    list_filter = ("is_excluded", "rule")
    list_select_related = ("rater", "judge", "decided_by")
    search_fields = ("rater__code", "judge__slug", "reason")
    ordering = ("-decided_at", "-pk")


@admin.register(Report)
class ReportAdmin(Table):
    """What raters reported; the console decides about it."""

    list_display = ("reported_at", "rater", "context", "kind", "words")
    list_filter = ("kind", "rater__study")
    list_select_related = ("rater", "context")
    search_fields = ("rater__code", "context__key", "text")
    ordering = ("-reported_at", "-pk")

    def words(self, row: Report) -> str:
        """Show how the rater's words begin."""
        return clip(row.text)


@admin.register(ReportDecision)
class ReportDecisionAdmin(Table):
    """What admins decided about reported talks; the newest of a talk holds."""

    list_display = ("decided_at", "study", "context", "outcome", "decided_by")
    list_filter = ("outcome", "study")
    list_select_related = ("study", "context", "decided_by")
    search_fields = ("context__key", "reason")
    ordering = ("-decided_at", "-pk")


@admin.register(ReportAlert)
class ReportAlertAdmin(Table):
    """E-mails about reports that wait to be sent, or were."""

    list_display = ("report", "created_at", "claimed_at", "sent_at", "attempts", "trouble")
    list_filter = ("report__rater__study",)
    list_select_related = ("report",)
    search_fields = ("report__context__key", "error")
    ordering = ("-pk",)

    def trouble(self, row: ReportAlert) -> str:
        """Show how the last error begins."""
        return clip(row.error)


@admin.register(SourceGuess)
class SourceGuessAdmin(Table):
    """Who raters guessed to have written what they judged, when asked at the end."""

    list_display = ("guessed_at", "rater", "completion", "guess")
    list_filter = ("guess", "rater__study")
    list_select_related = ("rater", "completion")
    search_fields = ("rater__code",)
    ordering = ("-guessed_at", "-pk")


@admin.register(PlatformEvent)
class PlatformEventAdmin(Table):
    """Verified events of crowd platforms."""

    list_display = ("received_at", "study", "platform", "kind", "status", "rater")
    list_filter = ("platform", "kind", "study")
    list_select_related = ("study", "rater")
    search_fields = ("event_id", "rater__code")
    ordering = ("-received_at", "-pk")
