"""The API of ratings, of fits as computations, and of judgments: read-only."""

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.errors import NoFitError, UnknownFilterError
from access.api.permissions import is_member
from access.api.views import ApiView, ListView
from access.choices import Scope
from annotation.api import study_of
from annotation.models import Judgment
from ranking import models
from ranking.api import filters as api_filters
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits.selectors import Results
from ranking.judgments import queries
from ranking.models import Fit
from ranking.results import http as result_http
from ranking.results import pages, serializers
from ranking.results.serializers import AnalysesOut, AnalysisOut, BoardOut

NO_FIT = "there are no ratings of these judgments yet"
KEPT_BACK = "the study is not closed: its results are kept back, and none were published"

POOL = OpenApiParameter("pool", enum=[pool.lower() for pool in EvaluatorPool])
CONTEXTS = OpenApiParameter("contexts", enum=[name.lower() for name in ContextSet])


class Ratings(ApiView):
    """The newest ratings of a study, filtered as its results page is."""

    reads = Scope.READ_STUDIES
    is_public = True

    @extend_schema(parameters=[POOL, CONTEXTS], responses=BoardOut)
    def get(self, request: Request, study: str) -> Response:
        """Return the ratings and their conditions."""
        results = results_of(request, study)
        try:
            fitted = results.selections()
            chosen = result_http.read_filters(request.query_params, fitted=fitted)
        except result_http.UnknownSelectionError as error:
            raise UnknownFilterError(str(error)) from error
        fit = results.latest(*chosen.selected)
        if fit is None:
            raise NoFitError(NO_FIT if results.has_all else KEPT_BACK)
        return Response(BoardOut(pages.board_with_analyses(fit, results)).data)


class FitRatings(ApiView):
    """The ratings of one fit, which never change."""

    reads = Scope.READ_STUDIES
    is_public = True

    @extend_schema(responses=BoardOut)
    def get(self, request: Request, study: str, key: str) -> Response:
        """Return the ratings and their conditions."""
        results = results_of(request, study)
        fit = _fit(results, key)
        return Response(BoardOut(pages.board_with_analyses(fit, results)).data)


class FitAnalyses(ApiView):
    """The analyses of one fit: what was looked into, and where it stands."""

    reads = Scope.READ_STUDIES
    is_public = True

    @extend_schema(operation_id="studies_fits_analyses_list", responses=AnalysesOut)
    def get(self, request: Request, study: str, key: str) -> Response:
        """Return them; the findings of each are at its own address."""
        fit = _fit(results_of(request, study), key)
        said = [AnalysisOut(link).data for link in pages.links_of(fit)]
        return Response({"results": said})


class AnalysisView(ApiView):
    """What one analysis of a fit found."""

    reads = Scope.READ_STUDIES
    is_public = True

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, study: str, key: str, kind: str) -> Response:
        """Return the findings; people are in them together, never one by one."""
        fit = _fit(results_of(request, study), key)
        found = pages.analysis_findings(fit, kind, shows_people=False)
        if not found:
            msg = f"there is no analysis {kind} of a fit {key}"
            raise NotFound(msg)
        return Response(pages.as_json(found, fit=fit, kind=kind))


def results_of(request: Request, study: str) -> Results:
    """Return what whoever asks may read of the results of the study of that slug.

    Raises
    ------
    NotFound
        If there is no such study.
    """
    return Results(study_of({"study": study}), is_team=is_member(request))


def _fit(results: Results, key: str) -> Fit:
    fit = results.by_key(key)
    if fit is None:
        msg = f"there is no fit {key} of a study {results.study.slug}"
        raise NotFound(msg)
    return fit


class Fits(ListView):
    """The fits of a study that have ended; each has its ratings at its own address.

    Until the study is closed, others than its team find those alone that an owner published.
    """

    reads = Scope.READ_STUDIES
    is_public = True
    serializer_class = serializers.FitOut
    filterset_class = api_filters.FitFilters
    queryset = models.Fit.objects.none()

    def get_queryset(self) -> QuerySet[models.Fit]:
        """Return those of the study."""
        return results_of(self.request, self.kwargs["study"]).fits


class Judgments(ListView):
    """Judgments in the order in which they were stored, those that do not count included.

    Raters go by their pseudonym. Verdicts and marks are positive when the first completion is
    ahead.
    """

    reads = Scope.READ_JUDGMENTS
    serializer_class = serializers.JudgmentOut
    filterset_class = api_filters.JudgmentFilters
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
