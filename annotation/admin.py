"""Tables of the annotation app in Django's admin: to read, not to change."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from access.console.admin_parts import ReadOnlyAdmin, part, show
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
    Judge,
    JudgeCall,
    JudgeRun,
    Judgment,
    Lease,
    PlatformEvent,
    PlatformStudy,
    PlatformSubmission,
    QualityCheck,
    Rater,
    RationaleCall,
    RationaleDecision,
    RationaleRun,
    RationaleScan,
    Report,
    ReportAlert,
    ReportDecision,
    SourceGuess,
    Study,
    ThemeCheck,
    ThemeCheckItem,
    ThemeLabel,
    ThemeLabelling,
)
from annotation.models.study import goes_by
from annotation.rationales.services.labelling import THEMES
from completions.admin_parts import CALL_NUMBERS, RUN_COLUMNS, SAMPLED, FindingsAdmin
from completions.models import ProviderCall

# Studies, people and their judgments.


class PairedAdmin(ReadOnlyAdmin):
    """Rows about comparisons, which are found by public keys; ``at`` leads to the comparison."""

    at = "comparison__"

    def get_list_select_related(self, request: HttpRequest) -> list[str]:
        """Ask for the texts with the rows: the public key depends on whether they are there."""
        related: Any = super().get_list_select_related(request)
        return [*related, f"{self.at}first", f"{self.at}second"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find what was asked for among the fields, and by the public key."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        return found | queryset.filter(goes_by(search_term.strip(), self.at)), may_repeat


show(
    Study,
    "slug title dataset protocol state judgments_per_pair",
    filters="state protocol dataset",
    search="slug title protocol_hash",
    exclude=("seed",),
)
show(
    Comparison,
    "public_key study context first__system__slug second__system__slug slots_left",
    base=PairedAdmin,
    at="",
    filters="study purpose",
    search="context__key",
    order="study position pk",
    exclude=("key",),
    readonly_fields=("public_key",),
)
show(
    Rater,
    "code study platform state is_simulated entered_at ended_at",
    filters="study platform state is_simulated",
    search="code external_id",
    exclude=("draw_key", "bound_by"),
)
show(Consent, "rater version given_at", filters="version", search="rater__code")
show(
    Lease,
    "rater comparison__public_key first_side issued_at closed_at outcome",
    base=PairedAdmin,
    filters="outcome skip_reason rater__study",
    search="rater__code",
)
show(
    Judgment,
    "submitted_at comparison__study__slug comparison__public_key rater judge verdict is_surplus",
    base=PairedAdmin,
    filters="comparison__study protocol judge is_surplus",
    search="rater__code rationale",
    inlines=(part(DimensionMark, "dimension advantage"),),
)
show(
    DimensionMark,
    "judgment dimension advantage",
    filters="dimension",
    base=PairedAdmin,
    at="judgment__comparison__",
    search="judgment__rater__code",
)
show(
    QualityCheck,
    "comparison kind expected dimension is_active",
    base=PairedAdmin,
    filters="kind is_active comparison__study",
    search="comparison__context__key",
)
show(
    Exclusion,
    "decided_at rater judge is_excluded rule decided_by",
    filters="is_excluded rule",
    search="rater__code judge__slug reason",
)
show(
    Report,
    "reported_at rater context kind text",
    filters="kind rater__study",
    search="rater__code context__key text",
)
show(
    ReportDecision,
    "decided_at study context outcome decided_by",
    filters="outcome study",
    search="context__key reason",
)
show(
    ReportAlert,
    "report created_at claimed_at sent_at attempts error",
    filters="report__rater__study",
    search="report__context__key error",
)
show(
    SourceGuess,
    "guessed_at rater completion guess",
    filters="guess rater__study",
    search="rater__code",
)


# Crowd platforms, audits, and what was judged elsewhere.

show(
    PlatformEvent,
    "received_at study platform kind status rater",
    filters="platform kind study",
    search="event_id rater__code",
)
show(
    PlatformSubmission,
    "rater number state n_before code opened_at changed_at",
    filters="state rater__study rater__platform",
    search="rater__code session_id",
)
show(PlatformStudy, "created_at study key n_places", search="key study__slug")
show(
    FailedArrival,
    "hour study platform n last_at alerted_at",
    filters="platform study",
    search="study__slug",
    order="-hour -pk",
)
show(
    BlindingAudit,
    "started_at study state holds n_done n_total started_by",
    filters="state holds study",
    search="study__slug",
)
show(
    ExternalBatch,
    "received_at study source reference licence is_simulated",
    filters="study source is_simulated",
    search="source reference",
)
show(
    ExternalJudgment,
    "batch comparison__public_key rater verdict judged_at",
    base=PairedAdmin,
    filters="batch__study batch__source",
    search="batch__reference",
)
show(
    ExternalDecision,
    "decided_at batch is_excluded reason decided_by",
    filters="is_excluded batch__study",
    search="batch__reference reason",
)


# LLM judges, what they were asked, and what was found in rationales.


class AddressedFilter(admin.SimpleListFilter):
    """Calls with a text that speaks to the model, and the others."""

    title = "addresses the model"
    parameter_name = "addressed"

    def lookups(self, *_args: object) -> list[tuple[str, str]]:
        """Offer both."""
        return [("yes", "Yes"), ("no", "No")]

    def queryset(self, _request: HttpRequest, calls: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the calls that were chosen."""
        if self.value() not in {"yes", "no"}:
            return calls
        flagged = Q(asked__has_key="addressed")
        return calls.filter(flagged if self.value() == "yes" else ~flagged)


def addressed(call: ProviderCall) -> str:
    """Say which texts speak to the model, and how."""
    found: dict[str, list[str]] = call.asked.get("addressed", {})
    return "; ".join(f"{place}: {', '.join(ways)}" for place, ways in found.items())


show(
    Judge,
    "name slug family model_id is_simulated",
    filters="is_simulated",
    search="slug name family model_id",
    order="slug",
)
show(
    JudgeRun,
    f"pk study both_orders samples {RUN_COLUMNS}",
    filters="state study",
    search="study__slug pause_detail",
)
show(
    JudgeCall,
    "judge comparison__public_key first_side sample state attempts error_kind error_detail",
    addressed,
    base=PairedAdmin,
    filters=("state", "error_kind", AddressedFilter, "judge"),
    search="provider_id error_detail",
)
show(
    RationaleRun,
    f"pk study {RUN_COLUMNS}",
    filters="state study",
    search="study__slug pause_detail",
)
show(
    RationaleCall,
    f"judgment assistant codebook state attempts error_kind {CALL_NUMBERS}",
    addressed,
    base=FindingsAdmin,
    kind=THEMES,
    of="judgment",
    filters=("state", "error_kind", AddressedFilter, "assistant", "codebook"),
    search="provider_id error_detail",
)
show(
    ThemeLabel,
    "call theme presence probability quote",
    base=FindingsAdmin,
    kind=THEMES,
    of="call__judgment",
    filters="presence theme",
    search="theme quote",
)
show(
    ThemeCheck,
    "study assistant codebook seed created_at created_by",
    filters="study",
    search="seed codebook",
)
show(ThemeCheckItem, **SAMPLED)
show(
    ThemeLabelling,
    "item labeller is_adjudication themes labelled_at",
    base=FindingsAdmin,
    kind=THEMES,
    of="item__judgment",
    filters="is_adjudication",
    search="labeller__username",
)
show(
    RationaleScan,
    "judgment state n_passages rules scanned_at",
    filters="state rules",
    search="judgment__rater__code",
)
show(
    RationaleDecision,
    "judgment outcome reason decided_at decided_by",
    filters="outcome",
    search="judgment__rater__code reason",
)
