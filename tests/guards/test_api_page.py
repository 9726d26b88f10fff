"""The schema explains the fields of ratings, and docs/api.md the columns of their tables."""

import re
from pathlib import Path

from ranking import downloads
from ranking.results import serializers

PAGE = (Path(__file__).resolve().parents[2] / "docs/api.md").read_text(encoding="utf-8")
TABLE = re.compile(r"^\| column \|.*\n\|.*\n((?:\|.*\n)+)", re.MULTILINE)
RATINGS_CSV, ENSEMBLE_CSV = (
    [name for row in rows.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    for rows in TABLE.findall(PAGE)
)


def fields_of(serializer):
    """Yield the fields of a serializer and of those inside it."""
    for field in serializer.fields.values():
        yield field
        inner = getattr(field, "child", field)
        if hasattr(inner, "fields"):
            yield from fields_of(inner)


def test_the_schema_says_what_each_field_of_ratings_means():
    assert [str(one) for one in fields_of(serializers.BoardOut()) if not one.help_text] == []


def test_the_page_explains_the_columns_of_ensemble_csv():
    assert [*downloads.ENSEMBLE_COLUMNS, "judge_<name>"] == ENSEMBLE_CSV


def test_the_page_explains_the_columns_of_ratings_csv():
    assert [*downloads.RATING_COLUMNS, "win_per_cent_<dimension>"] == RATINGS_CSV
