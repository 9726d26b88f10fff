"""JSON endpoints of ratings: read-only."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.errors import NoFitError, UnknownFilterError
from access.api.permissions import is_member
from access.api.views import ApiView
from access.choices import Scope
from annotation.api.http import study_of
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits.selectors import Results
from ranking.models import Fit
from ranking.results import filters, pages
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
            chosen = filters.read_filters(request.query_params, fitted=fitted)
        except filters.UnknownFilterError as error:
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


class Analysis(ApiView):
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
