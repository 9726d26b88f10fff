"""JSON endpoints of ratings: read-only."""

from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import selectors as annotation_selectors
from ranking import filters, selectors
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
        return Response(BoardOut(selectors.board_of(fit)).data)


def _error(code: str, message: str, http_status: int = status.HTTP_404_NOT_FOUND) -> Response:
    return Response({"error": {"code": code, "message": message}}, status=http_status)
