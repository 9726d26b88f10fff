"""By what lists of studies and comparisons are narrowed."""

from django.db.models import Q, QuerySet
from django_filters import rest_framework as filters

from access.api.filters import LONGEST, NameFilter
from annotation.choices import Protocol, Purpose, StudyState
from annotation.models import Comparison
from completions.choices import Stratum


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
