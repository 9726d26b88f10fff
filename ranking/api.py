"""JSON endpoints of ratings: read-only."""

from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import selectors as annotation_selectors
from ranking import filters, results_pages, selectors
from ranking.models import Fit
from ranking.serializers import BoardOut


class Ratings(APIView):
    """The newest ratings of a study, filtered as its results page is."""

    permission_classes = (AllowAny,)

    def get(self, request: Request, study: str) -> Response:
        """Return the ratings and their conditions."""
        found = annotation_selectors.study_by_slug(study)
        if found is None:
            return _error("not_found", f"there is no study {study}")
        try:
            fitted = selectors.fitted_selections(found)
            chosen = filters.read_filters(request.query_params, fitted=fitted)
        except filters.UnknownFilterError as error:
            return _error("unknown_filter", str(error), status.HTTP_400_BAD_REQUEST)
        pool, context_set = chosen.selected
        fit = selectors.latest_fit(study=found, pool=pool, context_set=context_set)
        if fit is None:
            return _error("no_fit", "there are no ratings of these judgments yet")
        return Response(BoardOut(results_pages.board_with_analyses(fit)).data)


class FitRatings(APIView):
    """The ratings of one fit, which never change."""

    permission_classes = (AllowAny,)

    def get(self, _request: Request, study: str, key: str) -> Response:
        """Return the ratings and their conditions."""
        fit = _fit(study, key)
        if fit is None:
            return _error("not_found", f"there is no fit {key} of a study {study}")
        return Response(BoardOut(results_pages.board_with_analyses(fit)).data)


class Analysis(APIView):
    """What one analysis of a fit found."""

    permission_classes = (AllowAny,)

    def get(self, _request: Request, study: str, key: str, kind: str) -> Response:
        """Return the findings; people are in them together, never one by one."""
        fit = _fit(study, key)
        found = fit and results_pages.analysis_findings(fit, kind, shows_people=False)
        if not fit or not found:
            return _error("not_found", f"there is no analysis {kind} of a fit {key}")
        return Response(results_pages.as_json(found, fit=fit, kind=kind))


def _fit(study: str, key: str) -> Fit | None:
    found = annotation_selectors.study_by_slug(study)
    return None if found is None else selectors.fit_by_key(study=found, key=key)


def _error(code: str, message: str, http_status: int = status.HTTP_404_NOT_FOUND) -> Response:
    return Response({"error": {"code": code, "message": message}}, status=http_status)
