"""JSON endpoints of ratings: read-only."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from access.api_http.errors import NoFitError, UnknownFilterError
from access.api_http.views import ApiView
from access.scopes import Scope
from annotation import selectors as annotation_selectors
from ranking import filters, results_pages, selectors
from ranking.choices import ContextSet, EvaluatorPool
from ranking.models import Fit
from ranking.serializers import AnalysesOut, AnalysisOut, BoardOut

POOL = OpenApiParameter("pool", enum=[pool.lower() for pool in EvaluatorPool])
CONTEXTS = OpenApiParameter("contexts", enum=[name.lower() for name in ContextSet])


class Ratings(ApiView):
    """The newest ratings of a study, filtered as its results page is."""

    reads = Scope.READ_STUDIES
    is_public = True

    @extend_schema(parameters=[POOL, CONTEXTS], responses=BoardOut)
    def get(self, request: Request, study: str) -> Response:
        """Return the ratings and their conditions."""
        found = annotation_selectors.study_by_slug(study)
        if found is None:
            msg = f"there is no study {study}"
            raise NotFound(msg)
        try:
            fitted = selectors.fitted_selections(found)
            chosen = filters.read_filters(request.query_params, fitted=fitted)
        except filters.UnknownFilterError as error:
            raise UnknownFilterError(str(error)) from error
        pool, context_set = chosen.selected
        fit = selectors.latest_fit(study=found, pool=pool, context_set=context_set)
        if fit is None:
            msg = "there are no ratings of these judgments yet"
            raise NoFitError(msg)
        return Response(BoardOut(results_pages.board_with_analyses(fit)).data)


class FitRatings(ApiView):
    """The ratings of one fit, which never change."""

    reads = Scope.READ_STUDIES
    is_public = True

    @extend_schema(responses=BoardOut)
    def get(self, _request: Request, study: str, key: str) -> Response:
        """Return the ratings and their conditions."""
        fit = _fit(study, key)
        if fit is None:
            msg = f"there is no fit {key} of a study {study}"
            raise NotFound(msg)
        return Response(BoardOut(results_pages.board_with_analyses(fit)).data)


class FitAnalyses(ApiView):
    """The analyses of one fit: what was looked into, and where it stands."""

    reads = Scope.READ_STUDIES
    is_public = True

    @extend_schema(operation_id="studies_fits_analyses_list", responses=AnalysesOut)
    def get(self, _request: Request, study: str, key: str) -> Response:
        """Return them; the findings of each are at its own address."""
        fit = _fit(study, key)
        if fit is None:
            msg = f"there is no fit {key} of a study {study}"
            raise NotFound(msg)
        said = [AnalysisOut(link).data for link in results_pages.links_of(fit)]
        return Response({"results": said})


class Analysis(ApiView):
    """What one analysis of a fit found."""

    reads = Scope.READ_STUDIES
    is_public = True

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, _request: Request, study: str, key: str, kind: str) -> Response:
        """Return the findings; people are in them together, never one by one."""
        fit = _fit(study, key)
        found = fit and results_pages.analysis_findings(fit, kind, shows_people=False)
        if not fit or not found:
            msg = f"there is no analysis {kind} of a fit {key}"
            raise NotFound(msg)
        return Response(results_pages.as_json(found, fit=fit, kind=kind))


def _fit(study: str, key: str) -> Fit | None:
    found = annotation_selectors.study_by_slug(study)
    return None if found is None else selectors.fit_by_key(study=found, key=key)
