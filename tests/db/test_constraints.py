"""Every named constraint and unique column refuses what it should, and nothing more."""

import pytest
from django.db import IntegrityError, transaction

from tests.db.constraints import CASES
from tests.db.constraints.rules import broken_rule, rules
from tests.factories_written_once import make_rating

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_database_refuses(case):
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        case.breaks()

    assert broken_rule(caught.value) in {
        rules()[rule] for rule in (case.rule, case.or_says) if rule
    }


@pytest.mark.parametrize("case", [case for case in CASES if case.allows], ids=lambda c: c.name)
def test_the_database_allows_the_neighbour_of(case):
    assert case.allows()


@pytest.mark.parametrize("column", ["theta", "elo", "elo_se", "elo_low", "elo_high"])
def test_the_database_refuses_a_rating_that_is_not_a_number_as(column):
    """SQLite stores it as NULL, which the column refuses; PostgreSQL as a number beyond all."""
    with pytest.raises(IntegrityError), transaction.atomic():
        make_rating(**{column: float("nan")})
