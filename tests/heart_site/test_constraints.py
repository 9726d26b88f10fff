"""Every table refuses what its rules say and nothing more, and every row has its own name."""

import pytest
from django.db import IntegrityError, transaction

from tests.heart_site.constraints.cases import CASES
from tests.heart_site.constraints.rules import broken_rule, our_models, rules
from tests.heart_site.rows import BUILDERS
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


@pytest.mark.parametrize("model", our_models(), ids=lambda model: model.__name__)
def test_two_rows_have_two_names(model):
    build = BUILDERS[model.__name__]

    assert str(build()) != str(build()) != ""
