"""What the API lists of contexts, systems and completions; the talks of checks are nobody's."""

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

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
