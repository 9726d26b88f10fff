"""The API of studies, comparisons and judgments made elsewhere."""

from http import HTTPStatus
from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.errors import ConflictError, TooLargeError
from access.api.paging import LONGEST, FlagFilter, NameFilter
from access.api.permissions import is_member
from access.api.views import ItemView, ListView
from access.choices import Scope
from annotation.choices import Protocol, Purpose, StudyState
from annotation.external import queries as external_queries
from annotation.external import serializers as external_serializers
from annotation.external import services
from annotation.models import Comparison, ExternalBatch, Study
from annotation.studies import queries as study_queries
from completions.choices import Stratum


def study_of(kwargs: dict[str, Any]) -> Study:
    """Return the study that an address names.

    Raises
    ------
    NotFound
        If there is none.
    """
    found = study_queries.study_by_slug(kwargs["study"])
    if found is None:
        msg = f"there is no study {kwargs['study']}"
        raise NotFound(msg)
    return found


class StudyOut(serializers.ModelSerializer[Study]):
    """A study, without what would tell how its draws fall."""

    dataset = serializers.SlugField(source="dataset.slug")

    class Meta:
        model = Study
        fields = (
            *("slug", "name", "version", "title", "dataset", "protocol", "plan", "state"),
            *("is_simulated", "judgments_per_pair", "protocol_hash", "locked_at", "created_at"),
        )


class ComparisonOut(serializers.ModelSerializer[Comparison]):
    """A pair of completions in canonical order, or the one that is rated alone."""

    key = serializers.CharField(
        source="public_key", help_text="Stable public name, derived from the two contents."
    )
    context = serializers.SlugField(  # type: ignore[assignment] # the base has another
        source="context.key"
    )
    first = serializers.IntegerField(source="first_id", help_text="Id of a completion.")
    second = serializers.IntegerField(source="second_id", allow_null=True)
    first_system = serializers.SlugField(source="first.system.slug")
    second_system = serializers.SlugField(
        source="second.system.slug", default=None, allow_null=True
    )
    is_held = serializers.BooleanField(help_text="Reports keep it from everybody.")

    class Meta:
        model = Comparison
        fields = (
            *("key", "context", "purpose", "first", "second", "first_system", "second_system"),
            *("slots_left", "is_held"),
        )


def studies(*, with_all: bool) -> QuerySet[Study]:
    """Return all studies for the team; for others those that were opened, no shadow studies."""
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


class StudyFilters(filters.FilterSet):
    """Of studies."""

    state = filters.ChoiceFilter(choices=StudyState.choices)
    protocol = filters.ChoiceFilter(choices=Protocol.choices)
    dataset = NameFilter("dataset__slug", "Slug of the dataset.")
    is_simulated = FlagFilter()


class ComparisonFilters(filters.FilterSet):
    """Of comparisons."""

    context = NameFilter("context__key", "Key of the context.")
    stratum = filters.ChoiceFilter(field_name="context__stratum", choices=Stratum.choices)
    purpose = filters.ChoiceFilter(choices=Purpose.choices)
    system = filters.CharFilter(
        method="of_system", max_length=LONGEST, help_text="Slug of the system of either side."
    )

    def of_system(self, rows: QuerySet[Comparison], _name: str, slug: str) -> QuerySet[Comparison]:
        """Keep the pairs of which either is the system's."""
        return rows.filter(Q(first__system__slug=slug) | Q(second__system__slug=slug))


class Studies(ListView):
    """Studies: all of them for the team, for anybody those that were opened."""

    reads = Scope.READ_STUDIES
    is_public = True
    serializer_class = StudyOut
    filterset_class = StudyFilters
    queryset = Study.objects.none()

    def get_queryset(self) -> QuerySet[Study]:
        """Return those that whoever asks may know of."""
        return studies(with_all=is_member(self.request))


class StudyView(ItemView):
    """One study, by its slug."""

    reads = Scope.READ_STUDIES
    is_public = True
    serializer_class = StudyOut
    queryset = Study.objects.none()
    lookup_field = "slug"
    lookup_url_kwarg = "study"

    def get_queryset(self) -> QuerySet[Study]:
        """Return those that whoever asks may know of."""
        return studies(with_all=is_member(self.request))


class Comparisons(ListView):
    """What a study compares, with who wrote it."""

    reads = Scope.READ_JUDGMENTS
    serializer_class = ComparisonOut
    filterset_class = ComparisonFilters
    queryset = Comparison.objects.none()

    def get_queryset(self) -> QuerySet[Comparison]:
        """Return those of the study."""
        return comparisons(study_of(self.kwargs))


class ExternalJudgments(ListView):
    """Judgments made elsewhere, in the batches in which a lab sent them.

    They are kept apart from the study's own: no rating, quota, agreement or exclusion changes.
    """

    reads = Scope.READ_JUDGMENTS
    acts = Scope.WRITE_JUDGMENTS
    serializer_class = external_serializers.ExternalBatchOut
    queryset = ExternalBatch.objects.none()

    def get_queryset(self) -> QuerySet[ExternalBatch]:
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
        content = request.data
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
