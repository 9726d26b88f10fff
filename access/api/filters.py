"""Filters of lists, which refuse what could not be in the database."""

import datetime as dt

from django.core.validators import MaxValueValidator, MinValueValidator
from django_filters import rest_framework as filters

EARLIEST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
LATEST = dt.datetime(2200, 1, 1, tzinfo=dt.UTC)
LONGEST = 120


class NameFilter(filters.CharFilter):
    """By a name, exactly as it is."""

    def __init__(self, field_name: str, help_text: str = "") -> None:
        super().__init__(field_name=field_name, max_length=LONGEST, help_text=help_text)


class TimeFilter(filters.IsoDateTimeFilter):
    """By a time that a study could have been."""

    def __init__(self, field_name: str, lookup_expr: str, help_text: str = "") -> None:
        super().__init__(
            field_name=field_name,
            lookup_expr=lookup_expr,
            help_text=help_text,
            validators=[MinValueValidator(EARLIEST), MaxValueValidator(LATEST)],
        )
