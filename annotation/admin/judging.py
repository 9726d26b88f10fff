"""Studies, people, their judgments, and those made elsewhere, in Django's admin."""

from django.contrib import admin

from access.console.admin_parts import Part, ReadOnlyAdmin, clip
from annotation.models import (
    BlindingAudit,
    Comparison,
    Consent,
    DimensionMark,
    Exclusion,
    ExternalBatch,
    ExternalDecision,
    ExternalJudgment,
    FailedArrival,
    Judgment,
    Lease,
    PlatformEvent,
    PlatformStudy,
    PlatformSubmission,
    QualityCheck,
    Rater,
    Report,
    ReportAlert,
    ReportDecision,
    SourceGuess,
    Study,
)


@admin.register(Study)
class StudyAdmin(ReadOnlyAdmin):
    """Studies with their numbers; the console opens, pauses and closes them."""

    list_display = ("slug", "title", "dataset", "protocol", "state", "judgments_per_pair")
    list_filter = ("state", "protocol", "dataset")
    list_select_related = ("dataset",)
    search_fields = ("slug", "title", "protocol_hash")
    exclude = ("seed",)
    ordering = ("-created_at", "-pk")


@admin.register(Comparison)
class ComparisonAdmin(ReadOnlyAdmin):
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
class RaterAdmin(ReadOnlyAdmin):
    """Raters by pseudonym."""

    list_display = ("code", "study", "platform", "state", "is_simulated", "entered_at", "ended_at")
    list_filter = ("study", "platform", "state", "is_simulated")
    list_select_related = ("study",)
    search_fields = ("code", "external_id")
    exclude = ("draw_key", "bound_by")
    ordering = ("-entered_at", "-pk")


@admin.register(Consent)
class ConsentAdmin(ReadOnlyAdmin):
    """What raters agreed to."""

    list_display = ("rater", "version", "given_at")
    list_filter = ("version",)
    list_select_related = ("rater",)
    search_fields = ("rater__code",)
    ordering = ("-given_at", "-pk")


@admin.register(Lease)
class LeaseAdmin(ReadOnlyAdmin):
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
class JudgmentAdmin(ReadOnlyAdmin):
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
class DimensionMarkAdmin(ReadOnlyAdmin):
    """Marks by dimension."""

    list_display = ("judgment", "dimension", "advantage")
    list_filter = ("dimension",)
    list_select_related = ("judgment",)
    search_fields = ("judgment__comparison__key",)
    ordering = ("-pk",)


@admin.register(QualityCheck)
class QualityCheckAdmin(ReadOnlyAdmin):
    """Planted comparisons with a known answer."""

    list_display = ("comparison", "kind", "expected", "dimension", "is_active")
    list_filter = ("kind", "is_active", "comparison__study")
    list_select_related = ("comparison",)
    search_fields = ("comparison__key",)
    ordering = ("-pk",)


@admin.register(Exclusion)
class ExclusionAdmin(ReadOnlyAdmin):
    """Decisions to leave an evaluator out, or to take them back, with the evidence."""

    list_display = ("decided_at", "rater", "judge", "is_excluded", "rule", "decided_by")
    list_filter = ("is_excluded", "rule")
    list_select_related = ("rater", "judge", "decided_by")
    search_fields = ("rater__code", "judge__slug", "reason")
    ordering = ("-decided_at", "-pk")


@admin.register(Report)
class ReportAdmin(ReadOnlyAdmin):
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
class ReportDecisionAdmin(ReadOnlyAdmin):
    """What admins decided about reported dialogues; the newest of a dialogue holds."""

    list_display = ("decided_at", "study", "context", "outcome", "decided_by")
    list_filter = ("outcome", "study")
    list_select_related = ("study", "context", "decided_by")
    search_fields = ("context__key", "reason")
    ordering = ("-decided_at", "-pk")


@admin.register(ReportAlert)
class ReportAlertAdmin(ReadOnlyAdmin):
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
class SourceGuessAdmin(ReadOnlyAdmin):
    """Who raters guessed to have written what they judged, when asked at the end."""

    list_display = ("guessed_at", "rater", "completion", "guess")
    list_filter = ("guess", "rater__study")
    list_select_related = ("rater", "completion")
    search_fields = ("rater__code",)
    ordering = ("-guessed_at", "-pk")


@admin.register(PlatformEvent)
class PlatformEventAdmin(ReadOnlyAdmin):
    """Verified events of crowd platforms."""

    list_display = ("received_at", "study", "platform", "kind", "status", "rater")
    list_filter = ("platform", "kind", "study")
    list_select_related = ("study", "rater")
    search_fields = ("event_id", "rater__code")
    ordering = ("-received_at", "-pk")


@admin.register(PlatformSubmission)
class PlatformSubmissionAdmin(ReadOnlyAdmin):
    """Submissions and assignments with which raters came from a platform."""

    list_display = ("rater", "number", "state", "n_before", "code", "opened_at", "changed_at")
    list_filter = ("state", "rater__study", "rater__platform")
    list_select_related = ("rater",)
    search_fields = ("rater__code", "session_id")
    ordering = ("-opened_at", "-pk")


@admin.register(PlatformStudy)
class PlatformStudyAdmin(ReadOnlyAdmin):
    """Studies as they stand on crowd platforms."""

    list_display = ("created_at", "study", "key", "n_places")
    list_select_related = ("study",)
    search_fields = ("key", "study__slug")
    ordering = ("-created_at", "-pk")


@admin.register(FailedArrival)
class FailedArrivalAdmin(ReadOnlyAdmin):
    """Visits by broken links of crowd platforms, counted by the hour."""

    list_display = ("hour", "study", "platform", "n", "last_at", "alerted_at")
    list_filter = ("platform", "study")
    list_select_related = ("study",)
    search_fields = ("study__slug",)
    ordering = ("-hour", "-pk")


@admin.register(BlindingAudit)
class BlindingAuditAdmin(ReadOnlyAdmin):
    """Audits of the blinding of studies."""

    list_display = ("started_at", "study", "state", "holds", "n_done", "n_total", "started_by")
    list_filter = ("state", "holds", "study")
    list_select_related = ("study", "started_by")
    search_fields = ("study__slug",)
    ordering = ("-started_at", "-pk")


@admin.register(ExternalBatch)
class ExternalBatchAdmin(ReadOnlyAdmin):
    """Batches with where they come from; the console leaves one out."""

    list_display = ("received_at", "study", "source", "reference", "licence", "is_simulated")
    list_filter = ("study", "source", "is_simulated")
    list_select_related = ("study",)
    search_fields = ("source", "reference")
    ordering = ("-received_at", "-pk")


@admin.register(ExternalJudgment)
class ExternalJudgmentAdmin(ReadOnlyAdmin):
    """Verdicts of other labs' raters."""

    list_display = ("batch", "pair", "rater", "verdict", "judged_at")
    list_filter = ("batch__study", "batch__source")
    list_select_related = ("batch", "comparison")
    search_fields = ("comparison__key", "batch__reference")
    ordering = ("-pk",)

    def pair(self, row: ExternalJudgment) -> str:
        """Show the comparison's public name."""
        return row.comparison.key


@admin.register(ExternalDecision)
class ExternalDecisionAdmin(ReadOnlyAdmin):
    """Decisions to leave a batch out, or to take it back; the newest of a batch holds."""

    list_display = ("decided_at", "batch", "is_excluded", "reason", "decided_by")
    list_filter = ("is_excluded", "batch__study")
    list_select_related = ("batch", "decided_by")
    search_fields = ("batch__reference", "reason")
    ordering = ("-decided_at", "-pk")
