"""What the API hears from labs about judgments made elsewhere, field by field."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator, URLValidator
from django.utils import timezone
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from access.api.paging import EARLIEST, LATEST
from annotation.external.rules import ExternalRow, Opinion, RowProblem
from annotation.external.services import Provenance
from annotation.models import ExternalBatch

MOST_ROWS = 1000
SHA256 = r"^[0-9a-f]{64}$"


class OpinionIn(serializers.Serializer[Opinion]):
    """Which text is better; never by its side."""

    preferred = serializers.RegexField(
        SHA256, required=False, allow_null=True, help_text="SHA-256 of the text; null: neither."
    )
    strength = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=5, help_text="In the study's steps."
    )


class ByDimension(serializers.DictField):
    """Values by the keys of dimensions; errors name these, so each has to be a text."""

    def to_internal_value(self, data: Any) -> dict[Any, Any]:  # noqa: ANN401 (any JSON)
        """Refuse a key that no answer could repeat, before a value below it is looked at."""
        for key in data if isinstance(data, dict) else ():
            ProhibitSurrogateCharactersValidator()(key)
        return super().to_internal_value(data)


class ExternalRowIn(OpinionIn):
    """A verdict of one rater on one comparison."""

    comparison = serializers.CharField(max_length=24, help_text="Key of the comparison.")
    rater = serializers.CharField(
        max_length=120, help_text="What the lab calls the rater; the site keeps a code instead."
    )
    marks = ByDimension(
        child=OpinionIn(), required=False, help_text="By the key of a dimension of the rubric."
    )
    points = ByDimension(
        child=serializers.IntegerField(min_value=1, max_value=5),
        required=False,
        help_text="By dimension, where the study rates messages alone.",
    )
    judged_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        validators=[MinValueValidator(EARLIEST), MaxValueValidator(LATEST)],
    )


class ProvenanceIn(serializers.Serializer[ExternalBatch]):
    """Where judgments that a lab made come from."""

    source = serializers.CharField(max_length=120, help_text="Name of the lab.")  # type: ignore[assignment] # the base has another
    reference = serializers.CharField(
        max_length=80, help_text="The lab's name of the batch: sent again, nothing is stored twice."
    )
    url = serializers.CharField(
        max_length=200,
        validators=[URLValidator(schemes=["http", "https"])],
        help_text="Web page of the lab, or about the data; it is released.",
    )
    licence = serializers.CharField(max_length=60, help_text="Of these judgments, as SPDX has it.")
    recruitment = serializers.CharField(max_length=1000, help_text="How the raters were found.")
    consent = serializers.CharField(max_length=1000, help_text="What the raters agreed to.")
    collected_from = serializers.DateField()
    collected_until = serializers.DateField()
    is_simulated = serializers.BooleanField(help_text="The raters are programs.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse times of collection that cannot be."""
        first, last = attrs["collected_from"], attrs["collected_until"]
        if first < EARLIEST.date():
            raise serializers.ValidationError({"collected_from": ["that is too long ago"]})
        if last < first:
            raise serializers.ValidationError({"collected_until": ["that is before it began"]})
        if last > timezone.now().date() + dt.timedelta(days=1):
            raise serializers.ValidationError({"collected_until": ["that is still to come"]})
        return attrs

    @property
    def provenance(self) -> Provenance:
        """Where what was sent comes from."""
        return {name: value for name, value in self.validated_data.items() if name != "rows"}


class ExternalBatchIn(ProvenanceIn):
    """Judgments that a lab made, with where they come from."""

    rows = serializers.ListField(child=ExternalRowIn(), min_length=1, max_length=MOST_ROWS)

    @property
    def sent_rows(self) -> list[ExternalRow]:
        """The rows that were sent."""
        return [_row(one) for one in self.validated_data["rows"]]


class ExternalBatchOut(serializers.ModelSerializer[ExternalBatch]):
    """A batch of judgments made elsewhere, without its rows: the exports have these."""

    n_judgments = serializers.IntegerField()
    n_raters = serializers.IntegerField()
    is_excluded = serializers.BooleanField(
        source="is_out", help_text="Somebody of the team left it out."
    )

    class Meta:
        model = ExternalBatch
        fields = (
            *("id", "source", "reference", "url", "licence", "recruitment", "consent"),
            *("collected_from", "collected_until", "is_simulated", "content_digest"),
            *("received_at", "n_judgments", "n_raters", "is_excluded"),
        )


def has_too_many_rows(sent: object) -> bool:
    """Say whether a batch is too large to look into row by row."""
    rows = sent.get("rows") if isinstance(sent, dict) else None
    return isinstance(rows, list) and len(rows) > MOST_ROWS


def row_errors(problems: Iterable[RowProblem]) -> dict[str, Any]:
    """Return what is wrong with rows as errors of the request, by row and field."""
    found: dict[str, Any] = {}
    for one in problems:
        at = found.setdefault(str(one.position), {})
        *outer, last = one.field.split("/")
        for name in outer:
            at = at.setdefault(name, {})
        at[last] = [one.says]
    return {"rows": found}


def _row(sent: dict[str, Any]) -> ExternalRow:
    return ExternalRow(
        comparison=sent["comparison"],
        rater=sent["rater"],
        opinion=_opinion(sent),
        marks={name: _opinion(one) for name, one in sent.get("marks", {}).items()},
        points=sent.get("points", {}),
        judged_at=sent.get("judged_at"),
    )


def _opinion(sent: dict[str, Any]) -> Opinion:
    return Opinion(sent.get("preferred"), sent.get("strength"))
