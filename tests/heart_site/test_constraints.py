"""Every named constraint and unique column refuses what it should, and nothing more."""

import pytest
from django.db import IntegrityError, transaction

from tests.heart_site.constraints.cases import CASES
from tests.heart_site.constraints.rules import broken_rule, rules
from tests.helpers.factories_written_once import make_rating

pytestmark = pytest.mark.django_db


def test_the_database_refuses_every_row_that_breaks_a_rule(each):
    says = rules()
    for case in CASES:
        with each(case.name):
            with pytest.raises(IntegrityError) as caught, transaction.atomic():
                case.breaks()
            assert broken_rule(caught.value) in {
                says[rule] for rule in (case.rule, case.or_says) if rule
            }


def test_the_database_allows_the_nearest_row_that_keeps_the_rule(each):
    for case in CASES:
        if case.allows:
            with each(case.name):
                assert case.allows()


def test_the_database_refuses_a_rating_that_is_not_a_number(each):
    """SQLite stores it as NULL, which the column refuses; PostgreSQL as a number beyond all."""
    for column in ("theta", "elo", "elo_se", "elo_low", "elo_high"):
        with each(column), pytest.raises(IntegrityError), transaction.atomic():
            make_rating(**{column: float("nan")})
