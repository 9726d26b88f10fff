"""What is judged: contexts, completions and comparisons, texts as far as the licence lets them."""

from collections.abc import Iterator

from django.db.models import Case, CharField, Count, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Length

from access.console.csv_cells import Cell
from annotation.models import Comparison, Judgment, Study
from completions.choices import SystemKind
from completions.dialogues.licences import allows_texts
from completions.models import Completion, Context
from ranking.exports.data_dictionary import ExportColumn
from ranking.exports.rows.facts import streamed, study_columns, when

Rows = Iterator[tuple[Cell, ...]]


def has_texts(study: Study) -> bool:
    """Say whether the licence of the study's dataset lets its texts be passed on."""
    return allows_texts(study.dataset.licence, is_authored=study.dataset.is_authored)


def contexts(study: Study, columns: tuple[ExportColumn, ...]) -> Rows:
    """Yield one row per context that the study compares texts of; one query, read in batches."""
    is_given = has_texts(study)
    known: dict[str, Combinable] = {
        "context": F("key"),
        "content_hash": F("content_hash"),
        "dialogue": F("dialogue__content_hash"),
        "dataset": F("dataset__name"),
        "licence": F("dataset__licence"),
        "stratum": F("stratum"),
        "escalation_profile": F("escalation_profile"),
        "source_context": F("source_context__key"),
        "is_simulated": F("is_simulated"),
        "review": F("review"),
        "language": F("dialogue__language"),
        "emotion_type": F("dialogue__emotion_type"),
        "problem_type": F("dialogue__problem_type"),
        "turn_index": F("turn_index"),
        "n_turns": F("turns"),
        "situation": F("dialogue__situation"),
        "turns": F("turns"),
        "has_text": when(Q(pk__isnull=not is_given)),
        **study_columns(study),
    }
    compared = Comparison.objects.filter(study=study).values("context")
    found = Context.objects.filter(pk__in=compared).order_by("key")
    names = [column.name for column in columns]
    n_turns, turns, situation = (names.index(one) for one in ("n_turns", "turns", "situation"))
    for cells in streamed(found.values_list(*(known[name] for name in names))):
        row = list(cells)
        row[n_turns] = len(cells[turns])
        if not is_given:
            row[turns] = row[situation] = None
        yield tuple(row)


def completions(study: Study, columns: tuple[ExportColumn, ...]) -> Rows:
    """Yield one row per completion that the study compares; one query, read in batches."""
    is_kept = Q(system__kind=SystemKind.ORIGINAL) if not has_texts(study) else Q(pk__isnull=True)
    known: dict[str, Combinable] = {
        "completion": F("content_hash"),
        "context": F("context__key"),
        "system": F("system__slug"),
        "kind": F("system__kind"),
        "family": F("system__family"),
        "is_simulated": F("system__is_simulated"),
        "is_erased": when(Q(erased_at__isnull=False)),
        "is_brought_in": when(Q(brought__isnull=False)),
        "source": F("brought__source"),
        "model_version": F("brought__model_version"),
        "n_characters": Length("text"),
        "text": Case(When(is_kept, then=Value(None)), default=F("text"), output_field=CharField()),
        **study_columns(study),
    }
    pairs = Comparison.objects.filter(study=study)
    compared = Q(pk__in=pairs.values("first")) | Q(
        pk__in=pairs.filter(second__isnull=False).values("second")
    )
    found = Completion.objects.filter(compared).order_by("context__key", "content_hash", "pk")
    yield from streamed(found.values_list(*(known[column.name] for column in columns)))


def comparisons(study: Study, columns: tuple[ExportColumn, ...]) -> Rows:
    """Yield one row per comparison of the plan; one query, read in batches."""
    simulated = (
        Q(context__is_simulated=True)
        | Q(first__system__is_simulated=True)
        | Q(second__system__is_simulated=True)
    )
    known: dict[str, Combinable] = {
        "comparison": F("key"),
        "context": F("context__key"),
        "dialogue": F("context__dialogue__content_hash"),
        "stratum": F("context__stratum"),
        "purpose": F("purpose"),
        "position": F("position"),
        "first_system": F("first__system__slug"),
        "second_system": F("second__system__slug"),
        "first_completion": F("first__content_hash"),
        "second_completion": F("second__content_hash"),
        "is_simulated": when(simulated),
        "slots_left": F("slots_left"),
        "shown_first_as_a": F("shown_first_as_a"),
        "shown_first_as_b": F("shown_first_as_b"),
        "weight": F("weight"),
        "is_held": when(Q(held_at__isnull=False)),
        "n_people": _judged(Judgment.objects.filter(judge__isnull=True)),
        "n_judges": _judged(Judgment.objects.filter(judge__isnull=False)),
        "held_at": F("held_at"),
        **study_columns(study),
    }
    found = Comparison.objects.filter(study=study).order_by("position", "pk")
    yield from streamed(found.values_list(*(known[column.name] for column in columns)))


def _judged(given: QuerySet[Judgment]) -> Combinable:
    """Return how many of the judgments are of the comparison."""
    own = given.filter(comparison=OuterRef("pk")).order_by().values("comparison")
    return Coalesce(Subquery(own.annotate(n=Count("pk")).values("n")), Value(0))
