"""docs/api.md explains exactly the fields and columns that leave the site."""

import re
from pathlib import Path

import pytest

from ranking.downloads import tables
from ranking.results import serializers

PAGE = (Path(__file__).resolve().parents[2] / "docs/api.md").read_text(encoding="utf-8")
TABLE = re.compile(r"^\| (field|column) \|.*\n\|.*\n((?:\|.*\n)+)", re.MULTILINE)
ANSWER, CONDITIONS, RATING, PEOPLE, RATINGS_CSV, ENSEMBLE_CSV = (
    [name for row in rows.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    for _, rows in TABLE.findall(PAGE)
)


@pytest.mark.parametrize(
    ("explained", "serializer"),
    [
        (ANSWER, serializers.BoardOut),
        (CONDITIONS, serializers.ConditionsOut),
        (RATING, serializers.RatingOut),
        (PEOPLE, serializers.PeopleOut),
    ],
    ids=["the answer", "the conditions", "a rating", "people"],
)
def test_the_page_explains_the_json_fields_of(explained, serializer):
    assert explained == list(serializer().fields)


def test_the_page_explains_the_columns_of_ensemble_csv():
    assert [*tables.ENSEMBLE_COLUMNS, "judge_<name>"] == ENSEMBLE_CSV


def test_the_page_explains_the_columns_of_ratings_csv():
    assert [*tables.RATING_COLUMNS, "win_per_cent_<dimension>"] == RATINGS_CSV
