"""The API of fits as computations."""

from django.db.models import QuerySet

from access.api_http.views import ListView
from access.scopes import Scope
from annotation.api_http import study_of
from ranking import api_filters, models, selectors, serializers


class Fits(ListView):
    """The fits of a study that have ended; each has its ratings at its own address."""

    reads = Scope.READ_STUDIES
    is_public = True
    serializer_class = serializers.FitOut
    filterset_class = api_filters.FitFilters
    queryset = models.Fit.objects.none()

    def get_queryset(self) -> QuerySet[models.Fit]:
        """Return those of the study."""
        return selectors.ended_fits(study_of(self.kwargs))
