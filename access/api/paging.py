"""Lists of the API: their pages, and filters that refuse what no database could hold."""

import base64
import binascii
import datetime as dt
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Model
from django.http import QueryDict
from django_filters import rest_framework as filters
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

if TYPE_CHECKING:
    from rest_framework.views import APIView

DEFAULT = 100
MOST = 500
_LARGEST = 2**63 - 1


class KeyPagination(BasePagination):
    """Pages in the order of keys, each beginning after the last row of the one before.

    However deep a page is, it costs what the first does, and rows that are added meanwhile shift
    nothing.
    """

    def paginate_queryset(
        self,
        queryset: Any,  # noqa: ANN401 (DRF's signature)
        request: Request,
        view: "APIView | None" = None,  # noqa: ARG002 (DRF's signature)
    ) -> list[Any]:
        """Return the rows of the page that the address asks for.

        Raises
        ------
        ValidationError
            If ``limit`` or ``cursor`` is none.
        """
        self._request = request
        limit = _limit(request.query_params.get("limit"))
        after = _after(request.query_params.get("cursor"))
        rows = list(queryset.filter(pk__gt=after).order_by("pk")[: limit + 1])
        self._next = _cursor(rows[limit - 1]) if len(rows) > limit else None
        return rows[:limit]

    def get_paginated_response(self, data: Any) -> Response:  # noqa: ANN401 (DRF's signature)
        """Return the page with the address of the next, or null."""
        address = self._request.build_absolute_uri()
        following = replace_query_param(address, "cursor", self._next) if self._next else None
        return Response({"next": following, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe a page, given the schema of its list."""
        following = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {"next": following, "results": schema},
        }

    def get_schema_operation_parameters(self, _view: "APIView") -> list[dict[str, Any]]:
        """Describe what an address may ask for."""
        number = {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT}
        return [
            {"name": "limit", "in": "query", "required": False, "schema": number},
            {
                "name": "cursor",
                "in": "query",
                "required": False,
                "description": "From `next`; opaque.",
                "schema": {"type": "string"},
            },
        ]


def _limit(text: str | None) -> int:
    if text is None:
        return DEFAULT
    is_short = text.isascii() and text.isdecimal() and len(text) <= len(str(MOST))
    if not (is_short and 1 <= int(text) <= MOST):
        raise ValidationError({"limit": [f"a whole number from 1 to {MOST}"]})
    return int(text)


def _after(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        text = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True).decode()
        after = int(text) if text.isascii() and text.isdecimal() else -1
    except (ValueError, binascii.Error):
        after = -1
    if not 0 <= after <= _LARGEST:
        raise ValidationError({"cursor": ["not a cursor that was given out"]})
    return after


def _cursor(row: Model) -> str:
    return base64.urlsafe_b64encode(str(row.pk).encode()).decode()


def hold_to(known: Collection[str], asked: QueryDict) -> None:
    """Refuse parameters that are not known, are empty or stand twice: none is passed over.

    Raises
    ------
    ValidationError
        With a pointer to each.
    """
    unknown = {name: ["no parameter of this address"] for name in asked if name not in known}
    unclear = {
        name: ["one value, or leave the parameter out"]
        for name, values in asked.lists()
        if len(values) > 1 or not values[0]
    }
    if faults := unclear | unknown:
        raise ValidationError(faults)


EARLIEST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
LATEST = dt.datetime(2200, 1, 1, tzinfo=dt.UTC)
LONGEST = 120
FLAGS = {"": None, "true": True, "1": True, "false": False, "0": False}


class NameFilter(filters.CharFilter):
    """By a name, exactly as it is."""

    def __init__(self, field_name: str, help_text: str = "") -> None:
        super().__init__(field_name=field_name, max_length=LONGEST, help_text=help_text)


class FlagField(forms.NullBooleanField):
    """Yes or no, or neither where nothing is said."""

    def to_python(self, value: object) -> bool | None:  # type: ignore[override] # the stub's bool
        """Return what it says; Django's field takes an unknown word for none."""
        word = str(value or "").lower()
        if word not in FLAGS:
            msg = "true or false"
            raise forms.ValidationError(msg)
        return FLAGS[word]


class FlagFilter(filters.BooleanFilter):
    """By yes or no."""

    field_class = FlagField

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 (the library's)
        super().__init__(widget=forms.TextInput, **kwargs)


class TimeFilter(filters.IsoDateTimeFilter):
    """By a time that a study could have been."""

    def __init__(self, field_name: str, lookup_expr: str, help_text: str = "") -> None:
        super().__init__(
            field_name=field_name,
            lookup_expr=lookup_expr,
            help_text=help_text,
            validators=[MinValueValidator(EARLIEST), MaxValueValidator(LATEST)],
        )
