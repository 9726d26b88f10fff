"""What the API says of itself."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.problems import TITLES
from access.api.views import ApiView
from access.choices import Scope


class Schema(SpectacularAPIView):
    """The OpenAPI schema, as YAML or as JSON."""

    permission_classes = (AllowAny,)


class Docs(SpectacularSwaggerSplitView):
    """The schema as a page, from files of this site alone."""

    permission_classes = (AllowAny,)
    template_name = "api/docs.html"


class Problems(ApiView):
    """What the codes of errors mean."""

    reads = Scope.READ_STUDIES
    is_public = True

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, _request: Request) -> Response:
        """Return each code with its meaning."""
        return Response(TITLES)
