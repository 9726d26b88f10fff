"""Judgments, in the canonical frame and as they were drawn."""

import datetime as dt
from collections.abc import Iterator

from django.db.models import Case, CharField, F, OuterRef, Q, Subquery, Value, When
from django.db.models.expressions import Combinable
from django.db.models.fields import IntegerField
from django.db.models.functions import Coalesce

from access.console.csv_cells import Cell
from annotation.choices import Protocol, Side
from annotation.models import DimensionMark, Judgment, Study
from annotation.studies.selectors import content_of
from ranking.exports.data_dictionary import ExportColumn
from ranking.exports.rows.facts import streamed, study_columns, when
from ranking.judgments import analysis_set
from ranking.judgments.method import graded_strengths

MARK = "mark_"
NOTHING = Value(None, output_field=CharField())  # told when the row is there
# Nothing of a judgment leaves that is not named here and in the dictionary. Raters go by their
# pseudonym; platform ids, sessions and time zones stay.
PLAIN: dict[str, Combinable] = {
    "comparison": F("comparison__key"),
    "context": F("comparison__context__key"),
    "stratum": F("comparison__context__stratum"),
    "is_simulated_context": F("comparison__context__is_simulated"),
    "purpose": F("comparison__purpose"),
    "first_system": F("comparison__first__system__slug"),
    "second_system": F("comparison__second__system__slug"),
    "rater": F("rater__code"),
    "judge": F("judge__name"),
    "is_simulated": when(analysis_set.SIMULATED),
    "protocol": F("protocol"),
    "protocol_hash": F("protocol_hash"),
    "verdict": F("verdict"),
    "side_of_first": F("first_side"),
    "is_check": when(Q(lease__quality_check__isnull=False)),
    "is_repeat": when(Q(lease__repeats__isnull=False)),
    "plan": F("comparison__study__plan"),
    "sampling_probability": F("lease__sampling_probability"),
    "sample": F("judge_call__sample"),
    "first_probability": F("judge_call__first_probability"),
    "addresses_judge": when(Q(judge_call__asked__has_key="addressed")),
    "prompt_hash": F("judge_call__prompt_hash"),
    "shown_at": F("shown_at"),
    "submitted_at": F("submitted_at"),
    "hidden_ms": F("hidden_ms"),
    "paused_ms": F("paused_ms"),
    "opened_earlier": F("opened_earlier"),
    "is_surplus": F("is_surplus"),
    "is_revised": when(Q(revision__isnull=False)),
    "rationale": F("rationale"),
    "chips": F("chips"),
    "first_completion": F("comparison__first__content_hash"),
    "second_completion": F("comparison__second__content_hash"),
    "check_kind": F("lease__quality_check__kind"),
    "check_expected": F("lease__quality_check__expected"),
    "is_screening": when(Q(lease__is_screening=True)),
    "is_simulated_system": when(
        Q(comparison__first__system__is_simulated=True)
        | Q(comparison__second__system__is_simulated=True)
    ),
    "context_id": F("comparison__context__key"),
    "dialogue": F("comparison__context__dialogue__content_hash"),
    "pair_id": F("comparison__key"),
    "rater_id": Coalesce("rater__code", "judge__name"),
    "judge_kind": Case(When(judge__isnull=True, then=Value("human")), default=Value("llm")),
}


def rows(
    study: Study, columns: tuple[ExportColumn, ...], *, now: dt.datetime
) -> Iterator[tuple[Cell, ...]]:
    """Yield one row per judgment of the study. Three queries, the long one read in batches."""
    why = analysis_set.why_left_out(study=study, as_of=now)
    known = PLAIN | {"why_not": why} | _as_drawn(study) | study_columns(study)
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
