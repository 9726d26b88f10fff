"""What is asked all day is answered from indexes: no large table is read from end to end."""

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Model
from django.test import Client

from access.choices import Scope
from access.webhooks import services as hook_services
from annotation.judging.services import leasing
from annotation.models import Comparison, JudgeCall, Judgment, Lease, RationaleCall, Study
from annotation.quality.queries import raters
from annotation.rationales import passages
from annotation.rationales import queries as rationales_queries
from benchmarks.refit_rows import Size, copies, judge, pair
from completions.models import Completion, Context, GenerationCall, StrategyCall, System
from completions.runs.services import calling
from completions.writers.services import emailing
from heart_site.monitoring import metrics
from ranking.judgments.analysis_set import n_given, newest_judgment
from tests.helpers.factories import (
    NOW,
    make_generation_call,
    make_judge_call,
    make_quality_check,
    make_study,
)
from tests.helpers.factories_of_calls import make_rationale_call, make_scan, make_strategy_call
from tests.helpers.factories_of_people import make_mail
from tests.helpers.factories_of_site import bearing, make_delivery, make_secret
from tests.helpers.factories_written_once import make_log_entry, make_member
from tests.helpers.visits import ANSWERS, HTMX, enrol, url

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans in another way"),
    pytest.mark.xdist_group("plans"),  # so that the tables are filled once
    pytest.mark.django_db,
]

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
LATER = NOW + dt.timedelta(days=1)
LATE = NOW + dt.timedelta(seconds=LARGE_JUDGED.n_judgments - 100)  # few judgments are younger
FEW = {"annotation_rater", "completions_completion", "completions_context", "completions_dialogue"}
LARGE_TABLES = set(FILLED) - FEW
CALLS = (GenerationCall, JudgeCall, RationaleCall, StrategyCall)


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


@pytest.fixture(scope="module")
def studies(django_db_setup, django_db_blocker):
    """Return a large study and a small one beside it."""
    with django_db_blocker.unblock(), filled_tables() as found:
        yield found


@pytest.fixture
def member():
    client = Client()
    client.force_login(make_member())
    return client


def read_from_end_to_end(ask: Callable[[], object]) -> dict[str, list[str]]:
    plans = Plans()
    with connection.execute_wrapper(plans):
        ask()
    assert plans.found
    return {table: sql for table, sql in plans.scanned().items() if table in LARGE_TABLES}


def judge_pairs(client: Client, study: Study, *, n: int) -> None:
    """Let somebody come in and answer n pairs."""
    rater = enrol(client, study)
    client.get(url(study, "judge"))
    for _ in range(n):
        token = Lease.objects.get(rater=rater, closed_at=None).token
        answer = client.post(url(study, "submit", token), ANSWERS["preference"], headers=HTMX)
        assert answer.status_code == 200


def test_a_table_that_is_read_whole_is_seen(studies):
    found = read_from_end_to_end(Judgment.objects.filter(rationale="x").first)

    assert list(found) == ["annotation_judgment"]


def test_a_rater_comes_in_and_judges(studies):
    large, _small = studies
    client = Client()

    def judge() -> None:
        judge_pairs(client, large, n=3)

    assert read_from_end_to_end(judge) == {}


def test_what_a_rater_asks_is_planned_once_for_any_values(studies):
    large, _small = studies
    judge_pairs(Client(), large, n=12)  # more often than a plan for given values is made

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(
            "SELECT name, statement, parameter_types::text[] FROM pg_prepared_statements"
        )
        kept = cursor.fetchall()
        plans = {}
        for name, statement, kinds in kept:
            nothing = ", ".join(["NULL"] * len(kinds))
            cursor.execute(f"EXPLAIN EXECUTE {name}({nothing})")
            plans[statement] = "\n".join(line for (line,) in cursor.fetchall())

    assert len(plans) == len(kept)  # each is kept once, whatever numbers it was given
    claims = [plan for text, plan in plans.items() if "SKIP LOCKED" in text]
    assert [plan for plan in claims if "Index Scan using comparison_open" not in plan] == []
    assert claims
    read_whole = {
        table for plan in plans.values() for table in re.findall(r"Seq Scan on (\w+)", plan)
    }
    assert read_whole & LARGE_TABLES == set()


def test_leases_that_ran_out_are_swept(studies):
    swept = []

    found = read_from_end_to_end(lambda: swept.append(leasing.release_expired_leases(now=LATER)))

    assert found == {}
    assert swept[0] > 0


@pytest.mark.parametrize("table", CALLS, ids=lambda table: table.__name__)
def test_calls_are_claimed(studies, table):
    calls, claimed = table.objects.all(), []

    def claim() -> None:
        assert calling.claimable(calls, now=LATER).exists()
        claimed.extend(calling.claim_calls(calls, limit=10, now=LATER))
        calling.seconds_to_retry(calls, now=LATER)

    assert read_from_end_to_end(claim) == {}
    assert len(claimed) == 10


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda: emailing._claim(LATER), id="mails"),
        pytest.param(lambda: hook_services._claim(LATER), id="hooks"),
        pytest.param(
            lambda: list(rationales_queries.unscanned(rules=passages.version(), after=0)[:500]),
            id="scans of reasons",
        ),
        pytest.param(lambda: list(raters.recently_judged(since=LATE)), id="studies to review"),
    ],
)
def test_what_waits_is_found(studies, ask):
    found = []

    assert read_from_end_to_end(lambda: found.extend(ask())) == {}
    assert found


def test_judgments_that_came_since_are_counted(studies):
    large, _small = studies
    newest = newest_judgment()

    assert read_from_end_to_end(lambda: n_given(study=large, after=newest - 100, as_of=LATER)) == {}


@pytest.mark.parametrize("gauge", sorted(set(metrics.GAUGES) - {"open_slots"}))
def test_metrics_are_read(studies, gauge):
    """The slots of open studies are a sum over all that is open, which has to be read."""
    assert read_from_end_to_end(lambda: list(metrics.GAUGES[gauge].read(LATER))) == {}


@pytest.mark.parametrize("which", [0, 1], ids=["large", "small"])
@pytest.mark.parametrize("rows", ["judgments", "comparisons"])
def test_the_api_lists_a_page(studies, rows, which):
    study = studies[which]
    address = f"/api/v1/studies/{study.slug}/{rows}/"
    headers, client = bearing(make_secret(*Scope)), Client()
    first = client.get(address, headers=headers).json()

    assert first["next"]
    assert read_from_end_to_end(lambda: client.get(first["next"], headers=headers)) == {}


@pytest.mark.parametrize(
    "page", ["comparisons/", "judgments/", "raters/{rater}/answers/", "ratings/"]
)
def test_a_page_of_a_small_study_reads_no_other(studies, member, page):
    _large, small = studies
    address = f"/console/{small.slug}/" + page.format(rater=f"B{small.pk}-1")

    def ask() -> None:
        assert member.get(address).status_code == 200

    assert read_from_end_to_end(ask) == {}
