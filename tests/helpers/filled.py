"""Tables with so many rows that the planner has a choice, and the plans that it then makes."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.db import connection, transaction
from django.db.models import Model

from annotation.models import Comparison, Judgment, Lease, Study
from benchmarks.refit_rows import Size, copies, judge, pair
from completions.models import Completion, Context, System
from tests.helpers.factories import (
    make_generation_call,
    make_judge_call,
    make_quality_check,
    make_study,
)
from tests.helpers.factories_of_calls import make_rationale_call, make_scan, make_strategy_call
from tests.helpers.factories_of_people import make_mail
from tests.helpers.factories_of_site import make_delivery
from tests.helpers.factories_written_once import make_log_entry

LARGE = Size(n_judgments=100_000, n_systems=10, n_contexts=1_000)
LARGE_JUDGED = replace(LARGE, n_judgments=40_000, n_raters=1_000)
SMALL = Size(n_judgments=500, n_systems=4, n_contexts=50, n_raters=50)
N_OPEN = 10_000  # comparisons of the large study
N_ROWS = 10_000  # of each queue
N_WAITING = 60
N_HELD = 40  # leases that raters hold
UNCHECKED = (  # what follows by construction is looked up only where that cannot be spared
    "SELECT set_config('session_replication_role', '{}', true) "
    "FROM pg_roles WHERE rolname = current_user AND rolsuper"
)
PLANNED = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE"})
FILLED = (
    *(f"annotation_{name}" for name in ("comparison", "lease", "judgment")),
    *(f"annotation_{name}" for name in ("judgecall", "rationalecall", "rationalescan")),
    *(f"completions_{name}" for name in ("generationcall", "strategycall", "writermail")),
    *("access_hookdelivery", "annotation_rater"),
    *("completions_completion", "completions_context", "completions_dialogue"),
)


@contextmanager
def filled_tables() -> Iterator[tuple[Study, Study]]:
    """Yield a large study, half of it open, and a small one beside it; all is undone then."""
    with transaction.atomic():
        _execute(UNCHECKED.format("replica"))
        studies = make_study(slug="large"), make_study(slug="small")
        for study, size, judged in zip(studies, (LARGE, SMALL), (LARGE_JUDGED, SMALL), strict=True):
            one = pair(study, size)
            judge(one, judged, with_marks=False)
            one.leases.update(quality_check=make_quality_check(comparison=one))
        _open(studies[0])
        _fill_queues()
        _execute(UNCHECKED.format("origin"))
        _execute("ANALYZE")
        _execute("SET LOCAL random_page_cost = 1.1")  # as of a disk without moving parts
        yield studies
        transaction.set_rollback(True)
    _execute(
        f"VACUUM (ANALYZE) {', '.join(FILLED)}"
    )  # the plans of later tests are not to be those of these


def _open(study: Study) -> None:
    """Let half of the comparisons be open, and some raters hold a lease."""
    Comparison.objects.update(shown_first_as_a=5, shown_first_as_b=5)
    Comparison.objects.filter(study=study, position__lte=N_OPEN).update(slots_left=5)
    newest = Lease.objects.filter(rater__study=study).order_by("-pk")
    keys = {lease.rater_id: lease.pk for lease in newest[: 3 * N_HELD]}
    held = list(keys.values())[:N_HELD]
    Lease.objects.filter(pk__in=held).update(closed_at=None, outcome="")


def _fill_queues() -> None:
    """Put a few rows that wait into each queue, beside many that are over."""
    text = _before(Completion, context__key__startswith="large-")
    context = _before(Context, key__startswith="large-")
    system = _before(System, slug__startswith="large-")
    judgment = _before(Judgment, rater__study__slug="large", lease__number__gte=1)
    pairs = _before(Comparison, key__startswith="large-")
    on: dict[Model, Mapping[str, str]] = {
        make_judge_call(): {"comparison_id": f"{pairs} + i"},
        make_generation_call(): {
            "context_id": f"{context} + 1 + (i - 1) / 10",
            "system_id": f"{system} + 1 + (i - 1) % 10",
        },
        make_strategy_call(): {"completion_id": f"{text} + i"},
        make_rationale_call(): {"judgment_id": f"{judgment} + i"},
    }
    is_over = f"i > {N_WAITING}"
    for call, where in on.items():
        over = {"state": "'FAILED'", "ended_at": "t.created_at", "error_kind": "'timeout'"}
        copies(call, N_ROWS, {**_where(is_over, over), **where})
    sent = {"claimed_at": "t.queued_at", "sent_at": "t.queued_at"}
    copies(make_mail(), N_ROWS, _where(is_over, sent))
    told = {"state": "'DELIVERED'", "delivered_at": "t.queued_at", "next_attempt_at": "NULL"}
    copies(make_delivery(), N_ROWS, {**_where(is_over, told), "event_key": "'key ' || i"})
    copies(make_log_entry(), N_ROWS, {"at": "t.at + i * interval '1 second'"})
    scanned = make_scan(judgment=Judgment.objects.get(pk=judgment + LARGE_JUDGED.n_judgments))
    copies(scanned, N_ROWS, {"judgment_id": f"{judgment} + i"})


def _where(condition: str, columns: Mapping[str, str]) -> dict[str, str]:
    return {
        name: f"CASE WHEN {condition} THEN {value} ELSE t.{name} END"
        for name, value in columns.items()
    }


def _before(table: type[Model], **wanted: str | int) -> int:
    """Return the key before that of the first such row."""
    rows: Any = table._default_manager.filter(**wanted)
    return int(rows.order_by("pk").values_list("pk", flat=True)[0]) - 1


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


class Plans:
    """What the database planned for each statement that was executed."""

    def __init__(self) -> None:
        self.found: list[tuple[str, dict[str, Any]]] = []

    def __call__(
        self,
        execute: Callable[..., object],
        sql: str,
        params: object,
        many: bool,
        context: dict[str, Any],
    ) -> object:
        """Ask for the plan of a statement, then have it executed."""
        if sql.partition(" ")[0] in PLANNED:
            with context["connection"].connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
                (plan,) = cursor.fetchone()
            told = plan if isinstance(plan, list) else json.loads(plan)
            self.found.append((sql, told[0]["Plan"]))
        return execute(sql, params, many, context)

    def scanned(self) -> dict[str, list[str]]:
        """Return the tables that were to be read from end to end, each with the statements.

        A scan that costs more than its statement is expected to stop at the first row that fits.
        """
        tables: dict[str, list[str]] = {}
        for sql, plan in self.found:
            for node in _nodes(plan):
                if node["Node Type"] == "Seq Scan" and node["Total Cost"] <= plan["Total Cost"]:
                    tables.setdefault(node["Relation Name"], []).append(sql)
        return tables


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)
