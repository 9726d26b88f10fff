"""By what lists of contexts, systems and completions are narrowed."""

from django_filters import rest_framework as filters

from access.api.filters import NameFilter
from completions.choices import EscalationProfile, Review, Stratum, SystemKind


class ContextFilters(filters.FilterSet):
    """Of contexts."""

    dataset = NameFilter("dataset__slug", "Slug of the dataset.")
    stratum = filters.ChoiceFilter(choices=Stratum.choices)
    escalation_profile = filters.ChoiceFilter(choices=EscalationProfile.choices)
    review = filters.ChoiceFilter(choices=Review.choices)
    is_simulated = filters.BooleanFilter()


class SystemFilters(filters.FilterSet):
    """Of systems."""

    kind = filters.ChoiceFilter(choices=SystemKind.choices)
    family = NameFilter("family")
    is_simulated = filters.BooleanFilter()


class CompletionFilters(filters.FilterSet):
    """Of completions."""

    dataset = NameFilter("context__dataset__slug", "Slug of the dataset.")
    context = NameFilter("context__key", "Key of the context.")
    system = NameFilter("system__slug", "Slug of the system.")
    is_simulated = filters.BooleanFilter(field_name="system__is_simulated")
