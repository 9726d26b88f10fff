"""What the API lists of studies and comparisons."""

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from annotation.choices import StudyState
from annotation.models import Comparison, Study


def studies(*, with_all: bool) -> QuerySet[Study]:
    """Return all studies for the team; for others those that were opened, twins left out."""
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
