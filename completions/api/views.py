"""The API of contexts, systems and completions."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from access.api import idempotency
from access.api.views import ItemView, ListView
from access.choices import Scope
from completions.api import intake, queries, serializers


class Contexts(ListView):
    """Contexts with their turns."""

    reads = Scope.READ_TEXTS
    serializer_class = serializers.ContextOut
    filterset_class = queries.ContextFilters
    queryset = queries.contexts()


class ContextView(ItemView):
    """One context, by its key."""

    reads = Scope.READ_TEXTS
    serializer_class = serializers.ContextOut
    queryset = queries.contexts()
    lookup_field = "key"


class Systems(ListView):
    """Systems: models, people, original replies."""

    reads = Scope.READ_STUDIES
    serializer_class = serializers.SystemOut
    filterset_class = queries.SystemFilters
    queryset = queries.systems()


class SystemView(ItemView):
    """One system, by its slug."""

    reads = Scope.READ_STUDIES
    serializer_class = serializers.SystemOut
    queryset = queries.systems()
    lookup_field = "slug"


class Completions(ListView):
    """Completions with their texts and systems."""

    reads = Scope.READ_TEXTS
    acts = Scope.WRITE_COMPLETIONS
    serializer_class = serializers.CompletionOut
    filterset_class = queries.CompletionFilters
    queryset = queries.completions()

    @extend_schema(
        request=intake.CompletionBatch,
        parameters=[idempotency.PARAMETER],
        responses={201: serializers.IntakeOut, 200: serializers.IntakeOut},
    )
    def post(self, request: Request, *_args: object, **_kwargs: object) -> Response:
        """Bring in completions of models that were made elsewhere: all of them, or none.

        201 if something was added; 200 if all of it was there with the same texts. A refusal names
        every row and field that is wrong, and what to do.
        """
        return idempotency.once(
            request,
            lambda: intake.import_rows(
                idempotency.read(request), by=request.user, now=timezone.now()
            ),
        )
