"""The API of contexts, systems and completions."""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from pydantic import BaseModel, Field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from access.api import idempotency
from access.api.errors import TooLargeError
from access.api.paging import FlagFilter, NameFilter
from access.api.stored_answers import StoredAnswer
from access.api.views import ItemView, ListView
from access.choices import Scope
from completions.choices import EscalationProfile, Review, Stratum, SystemKind, Way
from completions.dialogues import queries
from completions.files.refusals import Refused, printable
from completions.models import BroughtCompletion, Completion, Context, Dataset, System
from completions.systems.importing import CompletionIn, ImportedRow, checked
from completions.systems.services import importing
from completions.systems.services.importing import IntakeReport, Kept

MOST_ROWS = 1_000
SLUG = r"[A-Za-z0-9_-]{1,50}"
MEMBERS = frozenset({"dataset", "completions"})


class TurnOut(serializers.Serializer[dict[str, str]]):
    """One turn of a dialogue."""

    role = serializers.CharField()
    text = serializers.CharField()


class ContextOut(serializers.ModelSerializer[Context]):
    """What a completion answers."""

    dataset = serializers.SlugField(source="dataset.slug")
    turns = TurnOut(many=True)
    source_context = serializers.SlugField(
        source="source_context.key", default=None, allow_null=True
    )

    class Meta:
        model = Context
        fields = (
            *("key", "dataset", "turn_index", "turns", "stratum", "escalation_profile"),
            *("source_context", "is_simulated", "review", "created_at"),
        )


class SystemOut(serializers.ModelSerializer[System]):
    """A producer of completions; where it is reached and with which key stays here."""

    facts = serializers.DictField()

    class Meta:
        model = System
        fields = ("slug", "name", "kind", "family", "model_id", "is_simulated", "facts")


class BroughtOut(serializers.ModelSerializer[BroughtCompletion]):
    """Where a completion is from that was not made here, as far as somebody said."""

    class Meta:
        model = BroughtCompletion
        fields = ("way", "brought_at", "model_version", "source", "produced_at")


class CompletionOut(serializers.ModelSerializer[Completion]):
    """A reply to a context. Who wrote it is not said but by its system."""

    context = serializers.SlugField(  # type: ignore[assignment] # the base has another
        source="context.key"
    )
    content_hash = serializers.SerializerMethodField(
        help_text="SHA-256 of the text; empty if that was deleted."
    )
    system = serializers.SlugField(source="system.slug")
    is_simulated = serializers.BooleanField(source="system.is_simulated")
    is_erased = serializers.BooleanField(
        help_text="Its text was deleted at its writer's wish and is empty."
    )

    brought = BroughtOut(
        default=None,
        allow_null=True,
        help_text="Set if a model gave it elsewhere and somebody brought it in; else null.",
    )

    class Meta:
        model = Completion
        fields = (
            *("id", "context", "system", "is_simulated", "text", "content_hash", "created_at"),
            *("is_erased", "brought"),
        )

    def get_content_hash(self, completion: Completion) -> str:
        """Return it, but of a deleted text nothing that would confirm a guess."""
        return "" if completion.erased_at else completion.content_hash


class KeptOut(serializers.Serializer[Kept]):
    """What became of one row."""

    position = serializers.IntegerField(source="row.position", help_text="Its index in the batch.")
    id = serializers.IntegerField(source="pk", help_text="Of the completion.")
    is_new = serializers.BooleanField(help_text="No if it was there with the same text.")
    held = serializers.ListField(
        child=serializers.CharField(),
        help_text="Why it is kept out of pairs until a person decides; empty if it is not.",
    )


class IntakeOut(serializers.Serializer[IntakeReport]):
    """What became of a batch: every row, in its order."""

    n_new = serializers.IntegerField()
    n_known = serializers.IntegerField(help_text="There before, with the same text.")
    n_held = serializers.IntegerField()
    completions = KeptOut(many=True, source="kept")


def contexts() -> QuerySet[Context]:
    """Return contexts with their dataset."""
    found = Context.objects.filter(dataset__is_for_checks=False)
    return found.select_related("dataset", "source_context").defer(
        "source_context__turns", "source_context__provenance", "provenance"
    )


def completions() -> QuerySet[Completion]:
    """Return completions with their context and system, and whether the text was deleted."""
    erased = ExpressionWrapper(Q(erased_at__isnull=False), output_field=BooleanField())
    found = Completion.objects.filter(context__dataset__is_for_checks=False)
    return (
        found.select_related("context", "system", "brought")
        .defer("context__turns", "context__provenance", "brought__raw_text")
        .annotate(is_erased=erased)
    )


class ContextFilters(filters.FilterSet):
    """Of contexts."""

    dataset = NameFilter("dataset__slug", "Slug of the dataset.")
    stratum = filters.ChoiceFilter(choices=Stratum.choices)
    escalation_profile = filters.ChoiceFilter(choices=EscalationProfile.choices)
    review = filters.ChoiceFilter(choices=Review.choices)
    is_simulated = FlagFilter()


class SystemFilters(filters.FilterSet):
    """Of systems."""

    kind = filters.ChoiceFilter(choices=SystemKind.choices)
    family = NameFilter("family")
    is_simulated = FlagFilter()


class CompletionFilters(filters.FilterSet):
    """Of completions."""

    dataset = NameFilter("context__dataset__slug", "Slug of the dataset.")
    context = NameFilter("context__key", "Key of the context.")
    system = NameFilter("system__slug", "Slug of the system.")
    is_simulated = FlagFilter(field_name="system__is_simulated")


class CompletionBatch(BaseModel):
    """Completions to bring in, all of them or none."""

    dataset: str | None = Field(
        default=None, description="If given, every context has to be of this dataset."
    )
    completions: list[CompletionIn] = Field(min_length=1, max_length=MOST_ROWS)


def import_rows(sent: object, *, by: User | AnonymousUser, now: dt.datetime) -> StoredAnswer:
    """Store a batch, and say what became of each row.

    Raises
    ------
    ValidationError
        If the batch is none, or one of its rows cannot be used; with a pointer to each fault.
    TooLargeError
        If it has too many rows.
    """
    if not isinstance(by, User):
        msg = "nobody in particular brings nothing in"
        raise TypeError(msg)
    rows, dataset = _read(sent)
    try:
        report = importing.import_completions(
            rows=rows, way=Way.API, by=by, now=now, dataset=dataset
        )
    except importing.RowsRefusedError as error:
        raise _told(error.refused) from error
    return StoredAnswer(201 if report.n_new else 200, IntakeOut(report).data)


def _read(sent: object) -> tuple[list[ImportedRow | Refused], Dataset | None]:
    if not isinstance(sent, dict):
        raise ValidationError(["Send an object with the member completions."])
    if unknown := sorted(sent.keys() - MEMBERS):
        raise ValidationError({printable(name): ["Not known: take it out."] for name in unknown})
    found = sent.get("completions")
    if not isinstance(found, list) or not found:
        raise ValidationError({"completions": ["Send a list of at least one completion."]})
    if len(found) > MOST_ROWS:
        msg = f"At most {MOST_ROWS:,} completions at once: send smaller batches."
        raise TooLargeError(msg)
    rows = list[ImportedRow | Refused]()
    for position, value in enumerate(found):
        row = checked(value, position)
        rows.extend([row] if isinstance(row, ImportedRow) else row)
    return rows, _dataset(sent.get("dataset"))


def _dataset(slug: object) -> Dataset | None:
    if slug is None:
        return None
    is_slug = isinstance(slug, str) and re.fullmatch(SLUG, slug) is not None
    dataset = queries.dataset_by_slug(str(slug)) if is_slug else None
    if dataset is None:
        raise ValidationError({"dataset": ["There is no such dataset. Mend it, or leave it out."]})
    return dataset


def _told(refused: Sequence[Refused]) -> ValidationError:
    """Return the error whose pointers lead to each row and field."""
    return ValidationError({"completions": _nested(refused)})


def _nested(refused: Iterable[Refused]) -> dict[str, dict[str, list[str]]]:
    by_row = defaultdict[str, defaultdict[str, list[str]]](lambda: defaultdict(list))
    for one in refused:
        said = f"{one.why[:1].upper()}{one.why[1:]}. {one.remedy}"
        by_row[str(one.position)][one.field or "non_field_errors"].append(said)
    return {row: dict(fields) for row, fields in by_row.items()}


class Contexts(ListView):
    """Contexts with their turns."""

    reads = Scope.READ_TEXTS
    serializer_class = ContextOut
    filterset_class = ContextFilters
    queryset = contexts()


class ContextView(ItemView):
    """One context, by its key."""

    reads = Scope.READ_TEXTS
    serializer_class = ContextOut
    queryset = contexts()
    lookup_field = "key"


class Systems(ListView):
    """Systems: models, people, original replies."""

    reads = Scope.READ_STUDIES
    serializer_class = SystemOut
    filterset_class = SystemFilters
    queryset = System.objects.all()


class SystemView(ItemView):
    """One system, by its slug."""

    reads = Scope.READ_STUDIES
    serializer_class = SystemOut
    queryset = System.objects.all()
    lookup_field = "slug"


class Completions(ListView):
    """Completions with their texts and systems."""

    reads = Scope.READ_TEXTS
    acts = Scope.WRITE_COMPLETIONS
    serializer_class = CompletionOut
    filterset_class = CompletionFilters
    queryset = completions()

    @extend_schema(
        request=CompletionBatch,
        parameters=[idempotency.PARAMETER],
        responses={201: IntakeOut, 200: IntakeOut},
    )
    def post(self, request: Request, *_args: object, **_kwargs: object) -> Response:
        """Bring in completions of models that were made elsewhere: all of them, or none.

        201 if something was added; 200 if all of it was there with the same texts. A refusal names
        every row and field that is wrong, and what to do.
        """
        return idempotency.once(
            request,
            lambda: import_rows(request.data, by=request.user, now=timezone.now()),
        )
