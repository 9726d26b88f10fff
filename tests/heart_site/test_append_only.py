"""Rows that are written once cannot be changed or deleted in any of the usual ways."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, models, transaction

from access.models import AppendOnlyError, AppendOnlyModel, ConsentEvidence, LogEntry
from annotation.models import (
    Consent,
    DimensionMark,
    Exclusion,
    ExternalBatch,
    ExternalDecision,
    ExternalJudgment,
    Judgment,
    PlatformEvent,
    RationaleDecision,
    Report,
    ReportDecision,
    SourceGuess,
    ThemeLabel,
    ThemeLabelling,
)
from completions.models import (
    AdmissionDecision,
    BroughtCompletion,
    HumanLabelling,
    MessageDecision,
    MessageRevision,
    StrategyLabel,
    WriterConsent,
)
from ranking.models import DimensionRate, HumanRating, Rating
from tests.heart_site.constraints.rules import our_models
from tests.helpers.factories import make_judge, make_judgment, make_llm_judgment, make_rater
from tests.helpers.factories_of_calls import (
    make_human_labelling,
    make_strategy_label,
    make_text_decision,
    make_theme_label,
    make_theme_labelling,
)
from tests.helpers.factories_of_people import (
    make_admission,
    make_decision,
    make_event,
    make_guess,
    make_message_decision,
    make_report,
    make_revision,
)
from tests.helpers.factories_of_site import make_batch, make_batch_decision, make_external
from tests.helpers.factories_written_once import (
    make_consent,
    make_dimension_rate,
    make_evidence,
    make_exclusion,
    make_human_rating,
    make_imported_completion,
    make_log_entry,
    make_mark,
    make_rating,
    make_user,
    make_writer_consent,
)

pytestmark = pytest.mark.django_db

BUILDERS: dict[type[AppendOnlyModel], Callable[[], AppendOnlyModel]] = {
    AdmissionDecision: lambda: make_admission(decided_by=make_user()),
    BroughtCompletion: make_imported_completion,
    Consent: make_consent,
    ConsentEvidence: make_evidence,
    DimensionMark: make_mark,
    DimensionRate: make_dimension_rate,
    Exclusion: lambda: make_exclusion(decided_by=make_user()),
    ExternalBatch: make_batch,
    ExternalDecision: make_batch_decision,
    ExternalJudgment: make_external,
    HumanLabelling: make_human_labelling,
    HumanRating: make_human_rating,
    Judgment: make_judgment,
    LogEntry: lambda: make_log_entry(by=make_user()),
    MessageDecision: lambda: make_message_decision(decided_by=make_user()),
    MessageRevision: make_revision,
    PlatformEvent: lambda: make_event(rater=make_rater()),
    RationaleDecision: lambda: make_text_decision(decided_by=make_user()),
    Rating: make_rating,
    Report: make_report,
    ReportDecision: make_decision,
    SourceGuess: make_guess,
    StrategyLabel: make_strategy_label,
    ThemeLabel: make_theme_label,
    ThemeLabelling: make_theme_labelling,
    WriterConsent: make_writer_consent,
}
# Where the usual builder leaves a parent out.
WITH_PARENT: dict[str, Callable[[], AppendOnlyModel]] = {
    "annotation.Judgment.judge": make_llm_judgment,
    "annotation.Exclusion.judge": lambda: make_exclusion(judge=make_judge()),
}


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
        [row],
        update_conflicts=True,
        update_fields=[some_column(type(row))],
        unique_fields=["id"],
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
        for field in relations(BUILDERS)
        if field.many_to_one and not field.remote_field.hidden
    ]


def test_every_append_only_model_is_tried_here():
    assert {model for model in our_models() if issubclass(model, AppendOnlyModel)} == set(BUILDERS)


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_stored_row_refuses_to(attempt, each):
    for model, build in BUILDERS.items():
        with each(model.__name__):
            row = build()
            with pytest.raises(AppendOnlyError, match=f"{model.__name__} rows are append-only"):
                ATTEMPTS[attempt](row)

            assert values(model.objects.get()) == values(row)


def test_a_new_object_with_the_key_of_a_stored_row_does_not_overwrite_it(each):
    for model, build in BUILDERS.items():
        with each(model.__name__):
            row = build()
            with pytest.raises(IntegrityError), transaction.atomic():
                model(**values(row)).save()


def manager_of_another_row(field):
    row = (WITH_PARENT.get(str(field)) or BUILDERS[field.model])()
    return getattr(getattr(row, field.name), field.remote_field.get_accessor_name())


class TestARelatedManager:
    def test_refuses_to_update(self, each):
        for field in foreign_keys():
            with each(field):
                manager = manager_of_another_row(field)
                with pytest.raises(AppendOnlyError):
                    manager.update(**{field.attname: manager.instance.pk})

    def test_refuses_to_delete(self, each):
        for field in foreign_keys():
            with each(field):
                manager = manager_of_another_row(field)
                with pytest.raises(AppendOnlyError):
                    manager.all().delete()

    def test_refuses_to_move_a_row_to_another_parent(self, each):
        for field in foreign_keys():
            with each(field):
                ours, theirs = manager_of_another_row(field), manager_of_another_row(field)
                with pytest.raises(AppendOnlyError):
                    theirs.add(ours.get())

    def test_refuses_to_let_its_rows_go(self, each):
        for field in foreign_keys():
            with each(field):
                manager = manager_of_another_row(field)
                if not field.null:
                    assert not hasattr(manager, "clear")
                    continue
                with pytest.raises(AppendOnlyError):
                    manager.clear()


def test_rows_are_added_one_by_one_and_in_bulk():
    mark = make_mark(dimension="H")

    DimensionMark.objects.bulk_create(
        [DimensionMark(judgment=mark.judgment, dimension="E", advantage=-1)]
    )

    assert {stored.dimension for stored in mark.judgment.marks.all()} == {"H", "E"}


def test_deleting_never_cascades_to_any_row_of_ours():
    keys = relations(our_models())

    assert [key for key in keys if key.remote_field.on_delete is not models.PROTECT] == []
