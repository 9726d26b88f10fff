"""No rule of the database is without a test that breaks it."""

import pytest

from tests.heart_site.constraints.cases import CASES
from tests.heart_site.constraints.rules import our_models, rules

pytestmark = pytest.mark.django_db  # the names of unique columns are read from the database


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
