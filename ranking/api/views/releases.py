"""The API of releases: which there are, what is in them, and their files."""

from collections.abc import Iterable
from dataclasses import asdict

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.permissions import is_member
from access.api.views import ApiView, ListView
from access.choices import Scope
from annotation.api import study_of
from ranking import models
from ranking.released import http, queries
from ranking.results import serializers


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
        study = study_of(self.kwargs)
        return queries.releases_of(study, with_all=is_member(self.request))


class ReleaseView(ApiView):
    """One release, with the list of its files."""

    reads = Scope.READ_RELEASES
    is_public = True

    @extend_schema(responses=serializers.ReleaseWithFilesOut)
    def get(self, _request: Request, study: str, release: str) -> Response:
        """Return it."""
        found = _release_of(self, study, release)
        said = dict(serializers.ReleaseOut(found).data)
        files = [asdict(one) for one in queries.files_of(found)]
        return Response(said | {"files": files})


class ReleaseArchive(ApiView):
    """All files of a release in one."""

    reads = Scope.READ_RELEASES
    is_public = True
    content_negotiation_class = AsItIs

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, _request: Request, study: str, release: str) -> HttpResponseBase:
        """Return them as a zip, in the same bytes each time."""
        return http.zip_answer(_release_of(self, study, release))


class ReleaseFile(ApiView):
    """One file of a release, by its path there."""

    reads = Scope.READ_RELEASES
    is_public = True
    content_negotiation_class = AsItIs

    @extend_schema(responses={(200, http.BYTES): OpenApiTypes.BINARY})
    def get(self, _request: Request, study: str, release: str, path: str) -> HttpResponseBase:
        """Return its bytes; the list of the release's files has their SHA-256."""
        return http.file_answer(_release_of(self, study, release), path)


def _release_of(view: ApiView, study: str, key: str) -> models.Release:
    """Return the release that an address names, if whoever asks may know of it.

    Raises
    ------
    NotFound
        If there is none, or it is not published and somebody else asks.
    """
    found = study_of({"study": study})
    known = queries.releases_of(found, with_all=is_member(view.request))
    release = known.filter(key=key).first()
    if release is None:
        msg = f"there is no release {key} of a study {study}"
        raise NotFound(msg)
    return release
