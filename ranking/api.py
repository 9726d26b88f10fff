"""The API of ratings, fits, analyses, judgments and releases: read-only."""

import datetime as dt
from collections.abc import Iterable

from django.db.models import Case, Q, QuerySet, When
from django.http.response import HttpResponseBase
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.errors import NoFitError, UnknownFilterError
from access.api.paging import LONGEST, FlagFilter, NameFilter, TimeFilter
from access.api.permissions import is_member
from access.api.views import ApiView, ListView
from access.choices import Scope
from annotation.api import study_of
from annotation.models import Judgment, Study
from annotation.models.study import goes_by
from annotation.studies import queries as study_queries
from completions.choices import Stratum
from ranking import models
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits.queries import Results, readable_results
from ranking.judgments.analysis_set import SIMULATED, analysis_set
from ranking.released import http as release_http
from ranking.released import queries as release_queries
from ranking.results import http as result_http
from ranking.results import pages, serializers
from ranking.results.serializers import AnalysesOut, AnalysisOut, BoardOut

NO_FIT = "there are no ratings of these judgments yet"
KEPT_BACK = "the study is not closed: its results are kept back, and none were published"

POOL = OpenApiParameter("pool", enum=[pool.lower() for pool in EvaluatorPool])
CONTEXTS = OpenApiParameter("contexts", enum=[name.lower() for name in ContextSet])


RATER, JUDGE = "rater", "judge"


class FitFilters(filters.FilterSet):
    """Of fits."""

    pool = filters.ChoiceFilter(choices=EvaluatorPool.choices)
    context_set = filters.ChoiceFilter(choices=ContextSet.choices)
    state = filters.ChoiceFilter(
        choices=[one for one in FitState.choices if one[0] != FitState.RUNNING]
    )


class JudgmentFilters(filters.FilterSet):
    """Of judgments."""

    evaluator = filters.ChoiceFilter(
        method="by_kind", choices=[(RATER, "a person"), (JUDGE, "an LLM judge")]
    )
    rater = NameFilter("rater__code", "Pseudonym of a rater.")
    judge = NameFilter("judge__slug", "Slug of an LLM judge.")
    context = NameFilter("comparison__context__key", "Key of the context.")
    comparison = filters.CharFilter(
        method="of_pair", max_length=LONGEST, help_text="Key of the comparison."
    )
    stratum = filters.ChoiceFilter(
        field_name="comparison__context__stratum", choices=Stratum.choices
    )
    system = filters.CharFilter(
        method="of_system", max_length=LONGEST, help_text="Slug of the system of either side."
    )
    since = TimeFilter("submitted_at", "gte", "Submitted then or later.")
    until = TimeFilter("submitted_at", "lt", "Submitted before.")
    is_simulated = FlagFilter()
    counts = FlagFilter(method="that_count", help_text="Whether a fit of now would use it.")

    def by_kind(self, rows: QuerySet[Judgment], _name: str, kind: str) -> QuerySet[Judgment]:
        """Keep those of people, or those of judges."""
        return rows.filter(rater__isnull=kind != RATER)

    def of_pair(self, rows: QuerySet[Judgment], _name: str, key: str) -> QuerySet[Judgment]:
        """Keep those of a comparison."""
        return rows.filter(goes_by(key, "comparison__"))

    def of_system(self, rows: QuerySet[Judgment], _name: str, slug: str) -> QuerySet[Judgment]:
        """Keep those of pairs of which either is the system's."""
        first, second = "comparison__first__system__slug", "comparison__second__system__slug"
        return rows.filter(Q(**{first: slug}) | Q(**{second: slug}))

    def that_count(self, rows: QuerySet[Judgment], _name: str, counts: bool) -> QuerySet[Judgment]:  # noqa: FBT001 (the library's signature)
        """Keep those in the analysis set of now, or the others."""
        study = study_queries.study_by_slug(self.request.parser_context["kwargs"]["study"])
        if study is None:
            return rows.none()
        counted = analysis_set(study=study, as_of=timezone.now()).values("pk")
        return rows.filter(pk__in=counted) if counts else rows.exclude(pk__in=counted)


class Ratings(ApiView):
    """The newest ratings of a study, filtered as its results page is."""

    reads = Scope.READ_STUDIES
    is_public = True
    asks = ("pool", "contexts")

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
        If there is no such study that they may know of.
    """
    found = readable_results(study, is_team=is_member(request))
    if found is None:
        msg = f"there is no study {study}"
        raise NotFound(msg)
    return found


def _fit(results: Results, key: str) -> models.Fit:
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
    filterset_class = FitFilters
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
    filterset_class = JudgmentFilters
    queryset = Judgment.objects.none()

    def get_queryset(self) -> QuerySet[Judgment]:
        """Return those of the study."""
        return judgments_to_list(study_of(self.kwargs))

    def paginate_queryset(  # type: ignore[override] # the stub has a type variable of its own
        self, queryset: QuerySet[Judgment]
    ) -> list[Judgment]:
        """Return a page, each judgment with whether it counts now."""
        rows = list(super().paginate_queryset(queryset) or ())
        study = study_of(self.kwargs)
        return with_counts(rows, study=study, now=timezone.now())


def judgments_to_list(study: Study) -> QuerySet[Judgment]:
    """Return the judgments of a study with what is said of them, in two queries."""
    pair = "comparison__"
    texts = ("context__turns", "context__provenance", "first__text", "second__text")
    return (
        Judgment.objects.filter(comparison__study=study)
        .select_related(
            *(f"{pair}{name}" for name in ("context", "first__system", "second__system")),
            *("rater", "judge", "judge_call", "lease"),
        )
        .defer(*(f"{pair}{name}" for name in texts), "judge_call__asked")
        .prefetch_related("marks")
        .annotate(
            is_simulated=Case(When(SIMULATED, then=True), default=False),
            is_check=Case(When(lease__quality_check__isnull=False, then=True), default=False),
            is_repeat=Case(When(lease__repeats__isnull=False, then=True), default=False),
            # Joined: for a subquery, the planner may read all judgments for a page of them.
            is_revised=Case(When(revision__isnull=False, then=True), default=False),
        )
    )


def with_counts(rows: list[Judgment], *, study: Study, now: dt.datetime) -> list[Judgment]:
    """Return the judgments of a page, each with ``counts``: whether a fit of now would use it."""
    keys = [row.pk for row in rows]
    among = analysis_set(study=study, as_of=now).filter(pk__in=keys)
    counted = frozenset(among.values_list("pk", flat=True))
    for row in rows:
        row.counts = row.pk in counted  # type: ignore[attr-defined] # like an annotation
    return rows


class AsItIs(BaseContentNegotiation):
    """Files have one form, whatever is asked for; problems are JSON."""

    def select_parser(self, _request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """Return the first: nothing is sent to these addresses."""
        return next(iter(parsers), None)

    def select_renderer(
        self,
        _request: Request,
        renderers: Iterable[BaseRenderer],
        _format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Return that of problems."""
        (of_problems, *_others) = renderers
        return of_problems, str(of_problems.media_type)


class Releases(ListView):
    """The releases of a study: all for the team, for anybody those that are published."""

    reads = Scope.READ_RELEASES
    is_public = True
    serializer_class = serializers.ReleaseOut
    queryset = models.Release.objects.none()

    def get_queryset(self) -> QuerySet[models.Release]:
        """Return those that whoever asks may know of."""
        results = results_of(self.request, self.kwargs["study"])
        return release_queries.releases_of(results.study, with_all=results.is_team)


class ReleaseView(ApiView):
    """One release, with the list of its files."""

    reads = Scope.READ_RELEASES
    is_public = True

    @extend_schema(responses=serializers.ReleaseWithFilesOut)
    def get(self, _request: Request, study: str, release: str) -> Response:
        """Return it."""
        found = _release_of(self, study, release)
        said = dict(serializers.ReleaseOut(found).data)
        return Response(said | {"files": release_queries.files_of(found)})


class ReleaseArchive(ApiView):
    """All files of a release in one."""

    reads = Scope.READ_RELEASES
    is_public = True
    content_negotiation_class = AsItIs

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, _request: Request, study: str, release: str) -> HttpResponseBase:
        """Return them as a zip, in the same bytes each time."""
        return release_http.zip_answer(_release_of(self, study, release))


class ReleaseFile(ApiView):
    """One file of a release, by its path there."""

    reads = Scope.READ_RELEASES
    is_public = True
    content_negotiation_class = AsItIs

    @extend_schema(responses={(200, release_http.BYTES): OpenApiTypes.BINARY})
    def get(self, _request: Request, study: str, release: str, path: str) -> HttpResponseBase:
        """Return its bytes; the list of the release's files has their SHA-256."""
        return release_http.file_answer(_release_of(self, study, release), path)


def _release_of(view: ApiView, study: str, key: str) -> models.Release:
    """Return the release that an address names, if whoever asks may know of it.

    Raises
    ------
    NotFound
        If there is none, or it is not published and somebody else asks.
    """
    results = results_of(view.request, study)
    known = release_queries.releases_of(results.study, with_all=results.is_team)
    release = known.filter(key=key).first()
    if release is None:
        msg = f"there is no release {key} of a study {study}"
        raise NotFound(msg)
    return release
