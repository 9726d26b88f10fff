"""Rows for benchmarks: a study of many judgments, made inside the database."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

from annotation.choices import Protocol, Purpose
from annotation.models import Comparison, DimensionMark, Study
from tests.helpers.factories import make_comparison, make_judgment, make_study

N_EACH = 5  # judgments of each comparison
N_OPEN_SYSTEMS = 30  # of a study that is not all judged
PER_CONTEXT = 285  # its comparisons: two in three pairs of systems
SEED = 0.20260105
SPREAD = 0.8  # systems' strengths run from minus this to this, in natural-log units
DIMENSIONS = ("H", "E", "A", "R", "T")
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Size:
    """How large the study is; each dialogue has one context."""

    n_judgments: int
    n_systems: int
    n_contexts: int
    n_raters: int = 0  # as many as make sense of the size

    @property
    def n_pairs(self) -> int:
        """Return how many pairs of each context are compared."""
        return self.n_judgments // (N_EACH * self.n_contexts)


def fill(size: Size, *, with_marks: bool) -> Study:
    """Make the study: every comparison judged by several people, on the five-point scale.

    Row number i of each table is a copy of one row that the tests' builders made, with what
    differs put in by an expression. Foreign keys are right by construction and not checked.
    """
    protocol = Protocol.RUBRIC if with_marks else Protocol.PREFERENCE
    study = make_study(slug="bench", judgments_per_pair=N_EACH, protocol=protocol)
    with unchecked():
        judge(pair(study, size), size, with_marks=with_marks)
    return study


def fill_open(n_judgments: int, n_comparisons: int, *, n_raters: int) -> Study:
    """Make a study of many comparisons; each has five judgments or none."""
    study = make_study(slug="bench", name="bench", judgments_per_pair=N_EACH)
    n_contexts = max(1, n_comparisons // PER_CONTEXT)
    planned = Size(n_contexts * PER_CONTEXT * N_EACH, N_OPEN_SYSTEMS, n_contexts)
    given = replace(planned, n_judgments=min(n_judgments, planned.n_judgments), n_raters=n_raters)
    with unchecked():
        judge(pair(study, planned), given, with_marks=False)
        mains = Comparison.objects.filter(study=study, purpose=Purpose.MAIN)
        mains.filter(position__gt=given.n_judgments // N_EACH).update(slots_left=N_EACH)
    return study


@contextmanager
def unchecked() -> Iterator[None]:
    """Let rows in without a look at foreign keys and triggers, drawn by chance from the seed."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SELECT setseed(%s)", [SEED])
        yield
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE")


def pair(study: Study, size: Size) -> Comparison:
    """Make systems, contexts, completions and comparisons; return the comparison copied."""
    name = study.slug
    one = make_comparison(study=study, slots_left=0, purpose=Purpose.CHECK)
    system = copies(
        one.first.system, size.n_systems, {"slug": f"'{name}-' || i", "name": f"'{name} ' || i"}
    )
    unique = {"content_hash": "md5(i::text) || md5(i::text)"}
    dialogue = copies(one.context.dialogue, size.n_contexts, {"position": "i"} | unique)
    context = copies(
        one.context,
        size.n_contexts,
        {"dialogue_id": f"{dialogue} + i", "key": f"'{name}-' || i"} | unique,
    )
    n = size.n_systems
    completion = copies(
        one.first,
        size.n_contexts * n,
        {
            "context_id": f"{context} + 1 + (i - 1) / {n}",
            "system_id": f"{system} + 1 + (i - 1) % {n}",
        },
    )
    where, place = f"((i - 1) / {size.n_pairs})", f"((i - 1) % {size.n_pairs})"
    left = f"({where} * 7 + {place}) % {n}"
    right = f"({left} + 1 + ({where} + {place} / {n}) % {n // 2 - 1}) % {n}"
    base = f"{completion} + 1 + {where} * {n}"
    copies(
        one,
        size.n_contexts * size.n_pairs,
        {
            "context_id": f"{context} + 1 + {where}",
            "first_id": f"{base} + least({left}, {right})",
            "second_id": f"{base} + greatest({left}, {right})",
            "key": f"'{name}-' || i",
            "position": "i",
            "purpose": f"'{Purpose.MAIN}'",
        },
    )
    return one


def judge(one: Comparison, size: Size, *, with_marks: bool) -> None:
    """Let each comparison that was made be judged, with a mark on each dimension if wanted."""
    given = make_judgment(comparison=one, verdict=0)
    n_raters = size.n_raters or max(N_EACH * 40, size.n_judgments // 5_000)
    rater = copies(given.rater, n_raters, {"code": f"'B{one.study_id}-' || i"})
    judged = f"{one.pk} + 1 + (i - 1) / {N_EACH}"
    who = f"{rater} + 1 + ((i - 1) / {N_EACH} + (i - 1) % {N_EACH} * 37) % {n_raters}"
    lease = copies(
        given.lease,
        size.n_judgments,
        {"comparison_id": judged, "rater_id": who, "number": "i", "token": "gen_random_uuid()"},
    )
    step = 2.0 * SPREAD / (size.n_systems - 1)
    apart = f"{step} * (pair.second_id - pair.first_id)"  # completions are in the order of systems
    chance = "ln(1.0 / (0.000001 + 0.999998 * random()) - 1.0)"
    judgment = copies(
        given,
        size.n_judgments,
        {
            "comparison_id": "pair.id",
            "rater_id": who,
            "lease_id": f"{lease} + i",
            "verdict": f"width_bucket({apart} + {chance}, ARRAY[-1.5, -0.5, 0.5, 1.5]) - 2",
            "submitted_at": "t.submitted_at + i * interval '1 second'",
            "rationale": "repeat('It takes up what was said. ', 3 + i % 5)",
        },
        join=f"JOIN annotation_comparison AS pair ON pair.id = {judged}",
    )
    if with_marks:
        mark = DimensionMark.objects.create(judgment=given, dimension="H", advantage=1)
        n = len(DIMENSIONS)
        names = ", ".join(f"'{name}'" for name in DIMENSIONS)
        copies(
            mark,
            size.n_judgments * n,
            {
                "judgment_id": f"{judgment} + 1 + (i - 1) / {n}",
                "dimension": f"(ARRAY[{names}])[1 + (i - 1) % {n}]",
                "advantage": "floor(random() * 3) - 1",
            },
        )


def copies(row: Model | None, n: int, changed: Mapping[str, str], *, join: str = "") -> int:
    """Copy a row n times, with expressions of the copy's number i; return the last key before.

    Copy i has that key and i more; a ``join`` may leave some out.
    """
    if row is None:
        msg = "there is no row to copy"
        raise ValueError(msg)
    rows: QuerySet[Model] = QuerySet(type(row))
    query = rows.all().query
    meta, key = query.get_meta(), rows.latest("pk").pk
    table = meta.db_table
    fields = [field for field in meta.concrete_fields if not field.primary_key]
    columns = [str(field.column) for field in fields]
    values = [f"({changed[column]})" if column in changed else f"t.{column}" for column in columns]
    chosen = f"SELECT {key} + i, {', '.join(values)} FROM {table} AS t"  # noqa: S608 (our words)
    copies = f"CROSS JOIN generate_series(1, {n}) AS i {join} WHERE t.id = {row.pk}"
    statement = f"INSERT INTO {table} (id, {', '.join(columns)}) {chosen} {copies}"
    newest = f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(statement)
        cursor.execute(newest)
    return int(key)
