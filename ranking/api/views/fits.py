"""The API of fits as computations."""

from django.db.models import QuerySet

from access.api.views import ListView
from access.choices import Scope
from ranking import models
from ranking.api import filters
from ranking.api.views.ratings import results_of
from ranking.results import serializers


class Fits(ListView):
    """The fits of a study that have ended; each has its ratings at its own address.

    Until the study is closed, others than its team find those alone that an owner published.
    """

    reads = Scope.READ_STUDIES
    is_public = True
    serializer_class = serializers.FitOut
    filterset_class = filters.FitFilters
    queryset = models.Fit.objects.none()

    def get_queryset(self) -> QuerySet[models.Fit]:
        """Return those of the study."""
        return results_of(self.request, self.kwargs["study"]).fits
