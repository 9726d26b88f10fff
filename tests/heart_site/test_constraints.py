"""Every table refuses what its rules say and nothing more; every rule has a case that breaks it.

Rows that are written once cannot be changed or deleted in any of the usual ways.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, models, transaction

from access.models import AppendOnlyError, AppendOnlyModel
from annotation.models import DimensionMark
from tests.heart_site.constraints import access, calls, completions, judgments, ranking, rating_work
from tests.heart_site.constraints.rules import broken_rule, rules
from tests.helpers.factories import make_judge, make_llm_judgment, make_rater
from tests.helpers.factories_written_once import make_exclusion, make_mark, make_rating, make_user
from tests.helpers.rows import BUILDERS, our_models

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


@pytest.mark.parametrize("model", [*our_models()], ids=lambda model: model.__name__)
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


WRITTEN_ONCE = [model for model in our_models() if issubclass(model, AppendOnlyModel)]
WITH_PARENTS: dict[str, Callable[[], dict[str, object]]] = {
    "AdmissionDecision": lambda: {"decided_by": make_user()},
    "Exclusion": lambda: {"decided_by": make_user()},
    "LogEntry": lambda: {"by": make_user()},
    "MessageDecision": lambda: {"decided_by": make_user()},
    "PlatformEvent": lambda: {"rater": make_rater()},
    "RationaleDecision": lambda: {"decided_by": make_user()},
}
"""What rows hang on that the usual builder leaves out."""
OF_PARENT: dict[str, Callable[[], AppendOnlyModel]] = {
    "annotation.Judgment.judge": make_llm_judgment,
    "annotation.Exclusion.judge": lambda: make_exclusion(judge=make_judge()),
}
"""Rows that hang on one thing or another."""


def build(model) -> Any:
    return BUILDERS[model.__name__](**WITH_PARENTS.get(model.__name__, dict)())


def some_column(model) -> str:
    return next(field.attname for field in model._meta.concrete_fields if not field.primary_key)


def values(row) -> dict[str, object]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


ATTEMPTS = {
    "save": lambda row: row.save(),
    "save some columns": lambda row: row.save(update_fields=[some_column(type(row))]),
    "force an update": lambda row: row.save(force_update=True),
    "delete": lambda row: row.delete(),
    "update a queryset": lambda row: type(row).objects.filter(pk=row.pk).update(pk=row.pk),
    "delete a queryset": lambda row: type(row).objects.filter(pk=row.pk).delete(),
    "update in bulk": lambda row: type(row).objects.bulk_update([row], [some_column(type(row))]),
    "overwrite in bulk": lambda row: type(row).objects.bulk_create(
        [row], update_conflicts=True, update_fields=[some_column(type(row))], unique_fields=["id"]
    ),
    "update or create": lambda row: type(row).objects.update_or_create(
        pk=row.pk, defaults={some_column(type(row)): getattr(row, some_column(type(row)))}
    ),
    "update by the base manager": lambda row: type(row)._base_manager.update(pk=row.pk),
    "force an update of a new object": lambda row: type(row)(**values(row)).save(force_update=True),
}


def relations(models_) -> list[Any]:
    fields = [field for model in models_ for field in model._meta.local_fields]
    return [field for field in fields if field.remote_field is not None]


def foreign_keys():
    """Return the foreign keys by which a related manager reaches an append-only model."""
    return [
        field
        for field in relations(WRITTEN_ONCE)
        if field.many_to_one and not field.remote_field.hidden
    ]


def test_what_people_said_and_what_follows_from_it_is_written_once():
    assert {model.__name__ for model in WRITTEN_ONCE} == {
        *("AdmissionDecision", "BroughtCompletion", "Consent", "ConsentEvidence", "DimensionMark"),
        *("DimensionRate", "Exclusion", "ExternalBatch", "ExternalDecision", "ExternalJudgment"),
        *("HumanLabelling", "HumanRating", "Judgment", "LogEntry", "MessageDecision"),
        *("MessageRevision", "PlatformEvent", "RationaleDecision", "Rating", "Report"),
        *("ReportDecision", "SourceGuess", "StrategyLabel", "ThemeLabel", "ThemeLabelling"),
        "WriterConsent",
    }


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_stored_row_refuses_to(attempt, each):
    for model in WRITTEN_ONCE:
        with each(model.__name__):
            row = build(model)
            with pytest.raises(AppendOnlyError, match=f"{model.__name__} rows are append-only"):
                ATTEMPTS[attempt](row)

            assert values(model.objects.get()) == values(row)


def test_a_new_object_with_the_key_of_a_stored_row_does_not_overwrite_it(each):
    for model in WRITTEN_ONCE:
        with each(model.__name__):
            row = build(model)
            with pytest.raises(IntegrityError), transaction.atomic():
                model(**values(row)).save()


def manager_of_another_row(field):
    row = OF_PARENT[str(field)]() if str(field) in OF_PARENT else build(field.model)
    return getattr(getattr(row, field.name), field.remote_field.get_accessor_name())


BY_MANAGER = {
    "update": lambda manager, field: manager.update(**{field.attname: manager.instance.pk}),
    "delete": lambda manager, _field: manager.all().delete(),
    "move a row to another parent": lambda manager, field: manager.add(
        manager_of_another_row(field).get()
    ),
    "let its rows go": lambda manager, _field: manager.clear(),
}


@pytest.mark.parametrize("attempt", BY_MANAGER)
def test_a_related_manager_refuses_to(attempt, each):
    for field in foreign_keys():
        with each(field):
            manager = manager_of_another_row(field)
            if attempt == "let its rows go" and not field.null:
                assert not hasattr(manager, "clear")
                continue
            with pytest.raises(AppendOnlyError):
                BY_MANAGER[attempt](manager, field)


def test_rows_are_added_one_by_one_and_in_bulk():
    mark = make_mark(dimension="H")

    DimensionMark.objects.bulk_create(
        [DimensionMark(judgment=mark.judgment, dimension="E", advantage=-1)]
    )

    assert {stored.dimension for stored in mark.judgment.marks.all()} == {"H", "E"}


def test_deleting_never_cascades_to_any_row_of_ours():
    keys = relations(our_models())

    assert [key for key in keys if key.remote_field.on_delete is not models.PROTECT] == []
