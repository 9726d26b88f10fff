"""Tables of the ranking app in Django's admin: to look at, not to change."""

from access.console.admin_parts import part, show
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

show(
    Fit,
    "key study pool context_set state n_judgments ended_at",
    filters="state pool context_set",
    search="key study__slug",
    order="-as_of -pk",
    inlines=(
        part(Rating, "system rank rank_low rank_high elo elo_low elo_high", order="rank pk"),
        part(HumanRating, "kind elo elo_low elo_high n_judgments n_contexts", order="kind"),
        part(Analysis, "kind state refusal claimed_at ended_at"),
    ),
)
show(
    Rating,
    "fit system rank elo elo_low elo_high n_judgments",
    search="fit__key system__slug",
    order="-fit rank pk",
    inlines=(part(DimensionRate, "dimension wins n_marks", order="dimension"),),
)
show(
    HumanRating,
    "fit kind elo elo_low elo_high n_judgments n_contexts",
    filters="kind",
    search="fit__key",
    order="-fit kind pk",
)
show(
    Analysis,
    "fit kind state begun code_version claimed_at ended_at",
    filters="kind state",
    search="fit__key",
)
show(
    Measurement,
    "study as_of n_answers median_seconds",
    search="study__slug",
    order="study__slug",
)
show(
    RaterFigures,
    "rater n_answers n_passed n_checks infit agreement",
    search="rater__code",
    order="rater__code",
)
show(
    Release,
    "key study version state manifest_hash ended_at published_at",
    filters="state",
    search="key study__slug manifest_hash",
    exclude=("secret",),
)
