"""What every view of the API is made of, and the pages on the API itself."""

from collections.abc import Mapping
from typing import IO, Any, ClassVar

from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page
from django.views.decorators.vary import vary_on_headers
from django_filters.rest_framework import DjangoFilterBackend, FilterSet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import ParseError
from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.parsers import JSONParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.paging import KeyPagination, hold_to
from access.api.problems import TITLES
from access.choices import Scope
from access.strict_json import DECODER


class OneMeaningParser(JSONParser):
    """JSON in UTF-8, whatever charset the request names, in which no name stands twice."""

    def parse(
        self,
        stream: IO[bytes],
        _media_type: str | None = None,
        _parser_context: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 (any JSON)
        """Return what was sent; ParseError if it cannot be read."""
        try:
            return DECODER.decode(stream.read().decode())
        except (ValueError, RecursionError) as error:
            said = "nested too deep" if isinstance(error, RecursionError) else error
            msg = f"JSON parse error - {said}"
            raise ParseError(msg) from error


@method_decorator(vary_on_headers("Authorization", "Cookie"), name="dispatch")
@method_decorator(cache_control(private=True, no_cache=True), name="dispatch")
@method_decorator(conditional_page, name="dispatch")
class ApiView(GenericAPIView):  # type: ignore[type-arg] # not subscriptable at run time
    """A view that says which scope it takes, and answers ``If-None-Match`` with 304.

    ``reads`` is the scope of GET, ``acts`` that of all other methods. What ``is_public`` anybody
    reads; but a token, where one is sent, needs the scope there as well. ``asks`` names the
    parameters of its address that are no filters; others are refused.
    """

    parser_classes = (OneMeaningParser,)
    reads: ClassVar[Scope | None] = None
    acts: ClassVar[Scope | None] = None
    is_public: ClassVar[bool] = False
    asks: ClassVar[tuple[str, ...]] = ()
    filterset_class: ClassVar[type[FilterSet] | None] = None

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuse what may not be asked, and then what cannot be."""
        super().initial(request, *args, **kwargs)
        filters = self.filterset_class.base_filters if self.filterset_class else ()
        hold_to({*self.asks, *filters}, request.query_params)


class ListView(ListModelMixin, ApiView):
    """A list, page by page in the order of its rows' keys, narrowed by its filters."""

    pagination_class = KeyPagination
    filter_backends = (DjangoFilterBackend,)
    asks = ("limit", "cursor")

    def get(self, request: Request, *_args: object, **_kwargs: object) -> Response:
        """Return a page of the list."""
        return self.list(request)


class ItemView(RetrieveModelMixin, ApiView):
    """One thing by its public name."""

    def get(self, request: Request, *_args: object, **_kwargs: object) -> Response:
        """Return it."""
        return self.retrieve(request)


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
