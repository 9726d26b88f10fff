"""The API of studies, comparisons and judgments made elsewhere."""

from http import HTTPStatus
from typing import cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from access.api import idempotency
from access.api.errors import ConflictError, TooLargeError
from access.api.permissions import is_member
from access.api.views import ItemView, ListView
from access.choices import Scope
from annotation import models
from annotation.api import queries, serializers
from annotation.api.http import study_of
from annotation.external import queries as external_queries
from annotation.external import serializers as external_serializers
from annotation.external import services


class Studies(ListView):
    """Studies: all of them for the team, for anybody those that were opened."""

    reads = Scope.READ_STUDIES
    is_public = True
    serializer_class = serializers.StudyOut
    filterset_class = queries.StudyFilters
    queryset = models.Study.objects.none()

    def get_queryset(self) -> QuerySet[models.Study]:
        """Return those that whoever asks may know of."""
        return queries.studies(with_all=is_member(self.request))


class StudyView(ItemView):
    """One study, by its slug."""

    reads = Scope.READ_STUDIES
    is_public = True
    serializer_class = serializers.StudyOut
    queryset = models.Study.objects.none()
    lookup_field = "slug"
    lookup_url_kwarg = "study"

    def get_queryset(self) -> QuerySet[models.Study]:
        """Return those that whoever asks may know of."""
        return queries.studies(with_all=is_member(self.request))


class Comparisons(ListView):
    """What a study compares, with who wrote it."""

    reads = Scope.READ_JUDGMENTS
    serializer_class = serializers.ComparisonOut
    filterset_class = queries.ComparisonFilters
    queryset = models.Comparison.objects.none()

    def get_queryset(self) -> QuerySet[models.Comparison]:
        """Return those of the study."""
        return queries.comparisons(study_of(self.kwargs))


class ExternalJudgments(ListView):
    """Judgments made elsewhere, in the batches in which a lab sent them.

    They are kept apart from the study's own: no rating, quota, agreement or exclusion changes.
    """

    reads = Scope.READ_JUDGMENTS
    acts = Scope.WRITE_JUDGMENTS
    serializer_class = external_serializers.ExternalBatchOut
    queryset = models.ExternalBatch.objects.none()

    def get_queryset(self) -> QuerySet[models.ExternalBatch]:
        """Return those of the study."""
        return external_queries.batches_of(study_of(self.kwargs))

    @extend_schema(
        request=external_serializers.ExternalBatchIn,
        responses={
            200: external_serializers.ExternalBatchOut,
            201: external_serializers.ExternalBatchOut,
        },
    )
    def post(self, request: Request, study: str) -> Response:
        """Store a batch, all of it or nothing; 200 if the same was stored before."""
        found = study_of({"study": study})
        content = idempotency.read(request)
        if external_serializers.has_too_many_rows(content):
            most = external_serializers.MOST_ROWS
            msg = f"at most {most} rows at once: send the others as another batch"
            raise TooLargeError(msg)
        sent = external_serializers.ExternalBatchIn(data=content)
        sent.is_valid(raise_exception=True)
        by = cast("User", request.user)
        try:
            batch, is_new = services.store_external(
                study=found,
                provenance=sent.provenance,
                rows=sent.sent_rows,
                by=by,
                now=timezone.now(),
            )
        except services.ExternalConflictError as error:
            raise ConflictError(str(error)) from error
        except services.ExternalRowsError as error:
            raise ValidationError(external_serializers.row_errors(error.problems)) from error
        said = external_serializers.ExternalBatchOut(batch).data
        return Response(said, status=HTTPStatus.CREATED if is_new else HTTPStatus.OK)
