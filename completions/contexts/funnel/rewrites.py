"""The rows behind the counts of rewrites."""

from dataclasses import dataclass

from completions.choices import EscalationProfile, RewriteState
from completions.models import Dataset, Rewrite


@dataclass(frozen=True)
class RewriteRow:
    """One rewrite as the funnel's page lists it."""

    source_key: str
    context_key: str | None
    profile_label: str
    state: str
    state_label: str
    reason: str
    is_simulated: bool


def rewrite_rows(dataset: Dataset) -> list[RewriteRow]:
    """Return every rewrite of the dataset's contexts, in one query."""
    rewrites = Rewrite.objects.filter(source_context__dataset=dataset)
    parties = ("source_context", "context", "rewriter", "hostility_rater")
    return [
        RewriteRow(
            source_key=one.source_context.key,
            context_key=one.context.key if one.context else None,
            profile_label=str(EscalationProfile(one.profile).label),
            state=one.state,
            state_label=str(RewriteState(one.state).label),
            reason=one.reason,
            is_simulated=one.rewriter.is_simulated or one.hostility_rater.is_simulated,
        )
        for one in rewrites.select_related(*parties).order_by("state", "profile", "pk")
    ]
