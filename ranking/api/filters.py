"""By what lists of fits and judgments are narrowed."""

from django.db.models import Q, QuerySet
from django.utils import timezone
from django_filters import rest_framework as filters

from access.api.paging import LONGEST, NameFilter, TimeFilter
from annotation.models import Judgment
from annotation.studies import selectors
from completions.choices import Stratum
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.judgments.analysis_set import analysis_set

RATER, JUDGE = "rater", "judge"


class FitFilters(filters.FilterSet):
    """Of fits."""

    pool = filters.ChoiceFilter(choices=EvaluatorPool.choices)
    context_set = filters.ChoiceFilter(choices=ContextSet.choices)
    state = filters.ChoiceFilter(
        choices=[one for one in FitState.choices if one[0] != FitState.RUNNING]
    )


class JudgmentFilters(filters.FilterSet):
    """Of judgments."""

    evaluator = filters.ChoiceFilter(
        method="by_kind", choices=[(RATER, "a person"), (JUDGE, "an LLM judge")]
    )
    rater = NameFilter("rater__code", "Pseudonym of a rater.")
    judge = NameFilter("judge__slug", "Slug of an LLM judge.")
    context = NameFilter("comparison__context__key", "Key of the context.")
    comparison = NameFilter("comparison__key", "Key of the comparison.")
    stratum = filters.ChoiceFilter(
        field_name="comparison__context__stratum", choices=Stratum.choices
    )
    system = filters.CharFilter(
        method="of_system", max_length=LONGEST, help_text="Slug of the system of either side."
    )
    since = TimeFilter("submitted_at", "gte", "Submitted then or later.")
    until = TimeFilter("submitted_at", "lt", "Submitted before.")
    is_simulated = filters.BooleanFilter()
    counts = filters.BooleanFilter(
        method="that_count", help_text="Whether a fit of now would use it."
    )

    def by_kind(self, rows: QuerySet[Judgment], _name: str, kind: str) -> QuerySet[Judgment]:
        """Keep those of people, or those of judges."""
        return rows.filter(rater__isnull=kind != RATER)

    def of_system(self, rows: QuerySet[Judgment], _name: str, slug: str) -> QuerySet[Judgment]:
        """Keep those of pairs of which either is the system's."""
        first, second = "comparison__first__system__slug", "comparison__second__system__slug"
        return rows.filter(Q(**{first: slug}) | Q(**{second: slug}))

    def that_count(self, rows: QuerySet[Judgment], _name: str, counts: bool) -> QuerySet[Judgment]:  # noqa: FBT001 (the library's signature)
        """Keep those in the analysis set of now, or the others."""
        study = selectors.study_by_slug(self.request.parser_context["kwargs"]["study"])
        if study is None:
            return rows.none()
        counted = analysis_set(study=study, as_of=timezone.now()).values("pk")
        return rows.filter(pk__in=counted) if counts else rows.exclude(pk__in=counted)
