"""docs/api.md explains exactly the fields and columns that leave the site."""

import re
from pathlib import Path

import pytest

from annotation.selectors import dimension_keys
from ranking import export, serializers
from tests.factories import NOW, make_study

PAGE = (Path(__file__).resolve().parents[2] / "docs/api.md").read_text(encoding="utf-8")
TABLE = re.compile(r"^\| (field|column) \|.*\n\|.*\n((?:\|.*\n)+)", re.MULTILINE)
ANSWER, CONDITIONS, RATING, PEOPLE, RATINGS_CSV, JUDGMENTS_CSV, ENSEMBLE_CSV = (
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


@pytest.mark.django_db
def test_the_page_explains_the_columns_of_judgments_csv():
    study = make_study()

    header = next(export.judgment_rows(study=study, now=NOW))

    marks = [f"mark_{key}" for key in dimension_keys(study)]
    assert [*JUDGMENTS_CSV[:-1], *marks] == list(header)
    assert JUDGMENTS_CSV[-1] == "mark_<dimension>"


def test_the_page_explains_the_columns_of_ensemble_csv():
    assert [*export.ENSEMBLE_COLUMNS, "judge_<name>"] == ENSEMBLE_CSV


def test_the_page_explains_the_columns_of_ratings_csv():
    assert [*export.RATING_COLUMNS, "win_per_cent_<dimension>"] == RATINGS_CSV
