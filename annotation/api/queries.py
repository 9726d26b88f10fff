"""What the API lists of studies and comparisons, and the filters of these lists."""

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django_filters import rest_framework as filters

from access.api.paging import LONGEST, NameFilter
from annotation.choices import Protocol, Purpose, StudyState
from annotation.models import Comparison, Study
from completions.choices import Stratum


def studies(*, with_all: bool) -> QuerySet[Study]:
    """Return all studies for the team; for others those that were opened, no shadow studies."""
    found = Study.objects.select_related("dataset").defer("content")
    if with_all:
        return found
    opened = found.filter(locked_at__isnull=False, is_simulated=False)
    return opened.exclude(state__in=(StudyState.DRAFT, StudyState.LOCKED))


def comparisons(study: Study) -> QuerySet[Comparison]:
    """Return a study's comparisons with their systems, and whether reports hold them."""
    held = ExpressionWrapper(Q(held_at__isnull=False), output_field=BooleanField())
    texts = ("context__turns", "context__provenance", "first__text", "second__text")
    return (
        study.comparisons.select_related("context", "first__system", "second__system")
        .defer(*texts)
        .annotate(is_held=held)
    )


class StudyFilters(filters.FilterSet):
    """Of studies."""

    state = filters.ChoiceFilter(choices=StudyState.choices)
    protocol = filters.ChoiceFilter(choices=Protocol.choices)
    dataset = NameFilter("dataset__slug", "Slug of the dataset.")
    is_simulated = filters.BooleanFilter()


class ComparisonFilters(filters.FilterSet):
    """Of comparisons."""

    context = NameFilter("context__key", "Key of the context.")
    stratum = filters.ChoiceFilter(field_name="context__stratum", choices=Stratum.choices)
    purpose = filters.ChoiceFilter(choices=Purpose.choices)
    system = filters.CharFilter(
        method="of_system", max_length=LONGEST, help_text="Slug of the system of either side."
    )

    def of_system(self, rows: QuerySet[Comparison], _name: str, slug: str) -> QuerySet[Comparison]:
        """Keep the pairs of which either is the system's."""
        return rows.filter(Q(first__system__slug=slug) | Q(second__system__slug=slug))
