"""The rows of a study's exports, one function a table: judgments, raters, external, texts."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import (
    BooleanField,
    Case,
    CharField,
    Count,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.fields import IntegerField
from django.db.models.functions import Cast, Coalesce, Length

from access.console.csv_cells import Cell
from annotation.choices import Protocol, Side
from annotation.models import (
    Comparison,
    DimensionMark,
    Exclusion,
    ExternalDecision,
    ExternalJudgment,
    Judgment,
    Lease,
    Rater,
    Study,
)
from annotation.models.study import is_deleted, public_name
from annotation.studies.queries import content_of
from completions.choices import LeaseOutcome, SystemKind
from completions.dialogues.licences import allows_texts
from completions.models import Completion, Context
from ranking.exports.data_dictionary import ExportColumn
from ranking.judgments import analysis_set
from ranking.judgments.method import graded_strengths

BATCH = 2000
"""Rows that are fetched at once."""
Row = TypeVar("Row")


def when(holds: Q) -> Combinable:
    """Return whether something holds, as a column."""
    return Case(When(holds, then=True), default=False, output_field=BooleanField())


def same(*names: str, at: str = "") -> dict[str, Combinable]:
    """Return columns that are called as the fields behind them, which are at a path."""
    return {name: F(f"{at}{name}") for name in names}


def hash_of(at: str = "") -> Combinable:
    """Return the hash of the completion at a path; of a deleted one it would confirm a guess."""
    is_there = When(**{f"{at}erased_at": None}, then=F(f"{at}content_hash"))
    return Case(is_there, default=Value(""), output_field=CharField())


def of_pair(at: str = "") -> dict[str, Combinable]:
    """Return the columns that tell of the comparison at a path."""
    return {
        "comparison": public_name(at),
        "context": F(f"{at}context__key"),
        "dialogue": F(f"{at}context__dialogue__content_hash"),
        "stratum": F(f"{at}context__stratum"),
        "purpose": F(f"{at}purpose"),
        "first_system": F(f"{at}first__system__slug"),
        "second_system": F(f"{at}second__system__slug"),
        "first_completion": hash_of(f"{at}first__"),
        "second_completion": hash_of(f"{at}second__"),
    }


MARK = "mark_"
NOTHING = Value(None, output_field=CharField())  # told when the row is there
# Nothing of a judgment leaves that is not named here and in the dictionary. Raters go by their
# pseudonym; platform ids, sessions and time zones stay.
OF_JUDGMENT: dict[str, Combinable] = {
    **of_pair("comparison__"),
    **same("protocol", "protocol_hash", "verdict", "shown_at", "submitted_at", "hidden_ms"),
    **same("paused_ms", "opened_earlier", "is_surplus", "rationale", "chips"),
    "is_simulated_context": F("comparison__context__is_simulated"),
    "rater": F("rater__code"),
    "judge": F("judge__name"),
    "is_simulated": when(analysis_set.SIMULATED),
    "side_of_first": F("first_side"),
    "is_check": when(Q(lease__quality_check__isnull=False)),
    "is_repeat": when(Q(lease__repeats__isnull=False)),
    "plan": F("comparison__study__plan"),
    "sampling_probability": F("lease__sampling_probability"),
    "sample": F("judge_call__sample"),
    "first_probability": F("judge_call__first_probability"),
    "addresses_judge": when(Q(judge_call__asked__has_key="addressed")),
    "prompt_hash": F("judge_call__prompt_hash"),
    "is_revised": when(Q(revision__isnull=False)),
    "check_kind": F("lease__quality_check__kind"),
    "check_expected": F("lease__quality_check__expected"),
    "is_screening": when(Q(lease__is_screening=True)),
    "is_simulated_system": when(
        Q(comparison__first__system__is_simulated=True)
        | Q(comparison__second__system__is_simulated=True)
    ),
    "context_id": F("comparison__context__key"),
    "pair_id": public_name("comparison__"),
    "rater_id": Coalesce("rater__code", "judge__name"),
    "judge_kind": Case(When(judge__isnull=True, then=Value("human")), default=Value("llm")),
}


def judgments(
    study: Study, columns: tuple[ExportColumn, ...], *, now: dt.datetime
) -> Iterator[tuple[Cell, ...]]:
    """Yield one row per judgment of the study. Three queries, the long one read in batches."""
    why = analysis_set.why_left_out(study=study, as_of=now)
    known = OF_JUDGMENT | {"why_not": why} | _as_drawn(study) | study_columns(study)
    names = [column.name for column in columns]
    chosen = [
        _mark(name.removeprefix(MARK)) if name.startswith(MARK) else known.get(name, NOTHING)
        for name in names
    ]
    given = Judgment.objects.filter(comparison__study=study).order_by("pk")
    rules = analysis_set.excluded_by(study=study, as_of=now)
    # Two cells follow from others of the row: told here, the database need not think twice.
    counts, exclusion = names.index("counts"), names.index("exclusion")
    why_not, rater, judge = (names.index(one) for one in ("why_not", "rater", "judge"))
    for found in streamed(given.values_list(*chosen)):
        row = list(found)
        row[counts] = not row[why_not]
        row[exclusion] = rules.get((row[rater], row[judge]))
        yield tuple(row)


def _as_drawn(study: Study) -> dict[str, Combinable]:
    """Return the columns in the order of the screen, as files of judgments have them."""
    slightly, much = graded_strengths(content_of(study))
    is_ahead = Q(verdict__gt=0, first_side=Side.A) | Q(verdict__lt=0, first_side=Side.B)
    graded = Q(protocol=Protocol.PREFERENCE)
    winner = Case(
        When(verdict=0, then=Value("tie")),
        When(is_ahead, then=Value("a")),
        When(verdict__isnull=False, then=Value("b")),
        output_field=CharField(),
    )
    strength = Case(
        When(Q(verdict=0) | Q(verdict__isnull=True), then=Value(None)),
        When(graded & Q(verdict__in=(-1, 1)), then=Value(slightly)),
        When(graded, then=Value(much)),
        When(verdict__lt=0, then=-F("verdict")),
        default=F("verdict"),
        output_field=IntegerField(),
    )
    first, second = F("comparison__first__system__slug"), F("comparison__second__system__slug")
    return {
        "system_a": Case(When(first_side=Side.A, then=first), default=second),
        "system_b": Case(When(first_side=Side.A, then=second), default=first),
        "winner": winner,
        "strength": strength,
    }


def _mark(dimension: str) -> Subquery:
    marks = DimensionMark.objects.filter(judgment=OuterRef("pk"), dimension=dimension)
    return Subquery(marks.values("advantage"))


OF_EXTERNAL: dict[str, Combinable] = {
    **same("source", "reference", "url", "licence", "is_simulated", "received_at", at="batch__"),
    **same("rater", "verdict", "judged_at"),
    "collected_from": Cast("batch__collected_from", CharField()),
    "collected_until": Cast("batch__collected_until", CharField()),
    **of_pair("comparison__"),
}


def external(
    study: Study, columns: tuple[ExportColumn, ...], *, now: dt.datetime
) -> Iterator[tuple[Cell, ...]]:
    """Yield one row per verdict in the order of arrival; one query, read in batches."""
    decisions = ExternalDecision.objects.filter(batch=OuterRef("batch"), decided_at__lte=now)
    newest = decisions.order_by("-decided_at", "-pk").values("is_excluded")[:1]
    known = OF_EXTERNAL | study_columns(study)
    known["is_excluded"] = Coalesce(Subquery(newest), Value(False))  # noqa: FBT003 (only by position)
    names = [column.name for column in columns]
    marks = [(place, name) for place, name in enumerate(names) if name.startswith(MARK)]
    found = ExternalJudgment.objects.filter(batch__study=study).order_by("pk")
    chosen = [known.get(name, NOTHING) for name in names]
    for *cells, given in streamed(found.values_list(*chosen, F("marks"))):
        for place, name in marks:
            cells[place] = given.get(name.removeprefix(MARK))
        yield tuple(cells)


def raters(
    study: Study, columns: tuple[ExportColumn, ...], *, now: dt.datetime
) -> Iterator[tuple[Cell, ...]]:
    """Yield one row per rater of the study; one query, read in batches."""
    decisions = Exclusion.objects.filter(rater=OuterRef("pk"), decided_at__lte=now)
    newest = decisions.order_by("-decided_at", "-pk")
    checks = Judgment.objects.filter(lease__quality_check__isnull=False, revises__isnull=True)
    known: dict[str, Combinable] = {
        "rater": F("code"),
        **same("is_simulated", "is_team", "state", "stage", "platform"),
        **same("entered_at", "ended_at", "data_kept"),
        "n_judgments": _n_of(Judgment.objects.all(), "rater"),
        "n_checks": _n_of(checks, "rater"),
        "n_skipped": _n_of(Lease.objects.filter(outcome=LeaseOutcome.SKIPPED), "rater"),
        "is_excluded": Subquery(newest.values("is_excluded")[:1]),
        "exclusion": Subquery(newest.values("rule")[:1]),
        "exclusion_reason": Subquery(newest.values("reason")[:1]),
        "decided_at": Subquery(newest.values("decided_at")[:1]),
        **study_columns(study),
    }
    found = Rater.objects.filter(Q(study=study)).order_by("pk")
    yield from streamed(found.values_list(*(known[column.name] for column in columns)))


def _n_of(found: QuerySet[Any], whose: str) -> Combinable:
    """Return how many of the rows are of the rater, or of the comparison."""
    own = found.filter(**{whose: OuterRef("pk")}).order_by().values(whose)
    return Coalesce(Subquery(own.annotate(n=Count("pk")).values("n")), Value(0))


Rows = Iterator[tuple[Cell, ...]]


def has_texts(study: Study) -> bool:
    """Say whether the licence of the study's dataset lets its texts be passed on."""
    return allows_texts(study.dataset.licence, is_authored=study.dataset.is_authored)


def contexts(study: Study, columns: tuple[ExportColumn, ...]) -> Rows:
    """Yield one row per context that the study compares texts of; one query, read in batches."""
    is_given = has_texts(study)
    known: dict[str, Combinable] = {
        "context": F("key"),
        **same("content_hash", "stratum", "escalation_profile", "is_simulated", "review"),
        **same("turn_index", "turns"),
        "dialogue": F("dialogue__content_hash"),
        "dataset": F("dataset__name"),
        "licence": F("dataset__licence"),
        "source_context": F("source_context__key"),
        "language": F("dialogue__language"),
        "emotion_type": F("dialogue__emotion_type"),
        "problem_type": F("dialogue__problem_type"),
        "n_turns": F("turns"),
        "situation": F("dialogue__situation"),
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
        "completion": hash_of(),
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
    found = Completion.objects.filter(compared).order_by("context__key", hash_of(), "pk")
    yield from streamed(found.values_list(*(known[column.name] for column in columns)))


def comparisons(study: Study, columns: tuple[ExportColumn, ...]) -> Rows:
    """Yield one row per comparison of the plan; one query, read in batches."""
    simulated = (
        Q(context__is_simulated=True)
        | Q(first__system__is_simulated=True)
        | Q(second__system__is_simulated=True)
    )
    known: dict[str, Combinable] = {
        **of_pair(),
        **same("slots_left", "shown_first_as_a", "shown_first_as_b", "weight", "held_at"),
        "position": Case(When(is_deleted(), then=Value(None)), default=F("position")),
        "is_simulated": when(simulated),
        "is_held": when(Q(held_at__isnull=False)),
        "n_people": _n_of(Judgment.objects.filter(judge__isnull=True), "comparison"),
        "n_judges": _n_of(Judgment.objects.filter(judge__isnull=False), "comparison"),
        **study_columns(study),
    }
    found = Comparison.objects.filter(study=study).order_by("position", "pk")
    yield from streamed(found.values_list(*(known[column.name] for column in columns)))


def streamed(rows: QuerySet[Any, Row]) -> Iterator[Row]:
    """Yield rows as the database gives them, a batch at a time.

    On PostgreSQL a cursor outside of a transaction would have the server write all rows to a file
    first. On SQLite a transaction would keep everybody else from writing meanwhile.
    """
    with _cursor_to_the_end() if connection.vendor == "postgresql" else nullcontext():
        yield from rows.iterator(chunk_size=BATCH)


@contextmanager
def _cursor_to_the_end() -> Iterator[None]:
    """Have PostgreSQL plan for all rows of a cursor, and compile nothing: hundreds of small terms.

    Otherwise a cursor is planned for its first tenth.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL cursor_tuple_fraction = 1.0; SET LOCAL jit = off")
        yield


def study_columns(study: Study) -> dict[str, Combinable]:
    """Return the columns that every export ends with."""
    return {
        "study": Value(study.slug),
        "is_simulated_study": ExpressionWrapper(
            Value(study.is_simulated), output_field=BooleanField()
        ),
    }
