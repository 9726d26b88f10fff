"""What the API lists of contexts, systems and completions, and the filters of these lists."""

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django_filters import rest_framework as filters

from access.api.paging import NameFilter
from completions.choices import EscalationProfile, Review, Stratum, SystemKind
from completions.models import Completion, Context, System


def contexts() -> QuerySet[Context]:
    """Return contexts with their dataset."""
    found = Context.objects.filter(dataset__is_for_checks=False)
    return found.select_related("dataset", "source_context").defer(
        "source_context__turns", "source_context__provenance", "provenance"
    )


def systems() -> QuerySet[System]:
    """Return systems."""
    return System.objects.all()


def completions() -> QuerySet[Completion]:
    """Return completions with their context and system, and whether the text was deleted."""
    erased = ExpressionWrapper(Q(erased_at__isnull=False), output_field=BooleanField())
    found = Completion.objects.filter(context__dataset__is_for_checks=False)
    return (
        found.select_related("context", "system", "brought")
        .defer("context__turns", "context__provenance", "brought__raw_text")
        .annotate(is_erased=erased)
    )


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
