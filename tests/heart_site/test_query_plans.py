"""What is asked all day is answered from indexes: no large table is read from end to end."""

import datetime as dt
import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client

from access.choices import Scope
from access.webhooks import services as hook_services
from annotation.judging.services import leasing
from annotation.models import JudgeCall, Judgment, Lease, RationaleCall, Study
from annotation.quality.queries import raters
from annotation.rationales import passages
from annotation.rationales import queries as rationales_queries
from completions.models import GenerationCall, StrategyCall
from completions.runs.services import calling
from completions.writers.services import emailing
from heart_site.monitoring import metrics
from ranking.judgments.analysis_set import n_given, newest_judgment
from tests.helpers.factories import NOW
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member
from tests.helpers.filled import FILLED, LARGE_JUDGED, Plans, filled_tables
from tests.helpers.visits import ANSWERS, HTMX, enrol, url

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans in another way"),
    pytest.mark.xdist_group("plans"),  # so that the tables are filled once
    pytest.mark.django_db,
]

LATER = NOW + dt.timedelta(days=1)
LATE = NOW + dt.timedelta(seconds=LARGE_JUDGED.n_judgments - 100)  # few judgments are younger
FEW = {"annotation_rater", "completions_completion", "completions_context", "completions_dialogue"}
LARGE_TABLES = set(FILLED) - FEW
CALLS = (GenerationCall, JudgeCall, RationaleCall, StrategyCall)


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
