"""Every table refuses what its rules say and nothing more; every rule has a case that breaks it."""

import pytest
from django.db import IntegrityError, transaction

from tests.heart_site.constraints import (
    access,
    calls,
    completions,
    judgments,
    ranking,
    rating_work,
)
from tests.heart_site.constraints.rules import broken_rule, our_models, rules
from tests.heart_site.rows import BUILDERS
from tests.helpers.factories_written_once import make_rating

pytestmark = pytest.mark.django_db

CASES = [
    case
    for part in (access, completions, calls, rating_work, judgments, ranking)
    for case in part.CASES
]


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


def test_every_constraint_and_unique_column_of_our_models_has_a_case():
    assert {case.rule for case in CASES} == set(rules())


def test_every_case_has_a_name_of_its_own():
    names = [case.name for case in CASES]

    assert sorted(names) == sorted(set(names))


def test_every_enumerated_column_is_held_to_its_values():
    """Choices alone bind only forms: a constraint must name the column."""
    unbound = {
        f"{model.__name__}.{field.name}"
        for model in our_models()
        for field in model._meta.local_concrete_fields
        if field.choices and not _names(model, field.name)
    }

    assert unbound == set()


def _names(model, column):
    return any(
        str(key).split("__")[0] == column
        for constraint in model._meta.constraints
        if hasattr(constraint, "condition") and constraint.condition is not None
        for key in _keys(constraint.condition)
    )


def _keys(condition):
    for child in condition.children:
        if isinstance(child, tuple):
            yield child[0]
        else:
            yield from _keys(child)
