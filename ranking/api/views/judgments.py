"""The API of judgments."""

from django.db.models import QuerySet
from django.utils import timezone

from access.api.views import ListView
from access.choices import Scope
from annotation.api.http import study_of
from annotation.models import Judgment
from ranking.api import filters
from ranking.judgments import queries
from ranking.results import serializers


class Judgments(ListView):
    """Judgments in the order in which they were stored, those that do not count included.

    Raters go by their pseudonym. Verdicts and marks are positive when the first completion is
    ahead.
    """

    reads = Scope.READ_JUDGMENTS
    serializer_class = serializers.JudgmentOut
    filterset_class = filters.JudgmentFilters
    queryset = Judgment.objects.none()

    def get_queryset(self) -> QuerySet[Judgment]:
        """Return those of the study."""
        return queries.judgments(study_of(self.kwargs))

    def paginate_queryset(  # type: ignore[override] # the stub has a type variable of its own
        self, queryset: QuerySet[Judgment]
    ) -> list[Judgment]:
        """Return a page, each judgment with whether it counts now."""
        rows = list(super().paginate_queryset(queryset) or ())
        study = study_of(self.kwargs)
        return queries.with_counts(rows, study=study, now=timezone.now())
