"""Many workers who claim the calls of one run at once never reserve more than its budget."""

from decimal import Decimal
from functools import partial

import pytest
from django.db.models import Sum

from completions import llm
from completions.choices import CallState
from completions.generation import services as generating
from completions.models import GenerationCall, GenerationRun
from completions.runs.services import asking, budgeting, calling, running, states
from tests.helpers.factories import NOW
from tests.helpers.factories_of_calls import PRICE, make_run_of
from tests.helpers.threads import together, while_uncommitted

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]
WORKERS = 8
ANSWERLESS = llm.PermanentError("no", kind="empty")


@pytest.fixture
def run():
    """Return a run with money for seven of its forty calls."""
    run = make_run_of(40)
    question = generating.CompletionCalls().question(
        run.calls.earliest("pk"), calling.Claim(1, NOW, 1)
    )
    run.budget_usd = 7 * budgeting.most_usd(question.request, PRICE) + budgeting.CENT
    run.save(update_fields=["budget_usd"])
    return run


def claim():
    return asking.CallQueue(generating.CompletionCalls(), lambda: NOW).claim(5)[0]


def stores_of(claimed):
    """Return what stores that each of these calls has failed."""
    failures = [calling.Failed(one.claim, NOW, ANSWERLESS) for one in claimed]
    return [partial(calling.store_failure, GenerationCall.objects.all(), one) for one in failures]


def reserved() -> Decimal:
    held = GenerationCall.objects.filter(state=CallState.CLAIMED)
    return held.aggregate(sum=Sum("reserved_usd"))["sum"] or Decimal(0)


def test_claims_stay_within_the_budget(run):
    claimed = [one for items in together([claim] * WORKERS) for one in items]

    run.refresh_from_db()
    assert len({one.claim.call_id for one in claimed}) == len(claimed) == 7
    assert run.reserved_usd == reserved() <= run.budget_usd
    assert run.state == "RUNNING"  # what is reserved may come back


def test_a_claimed_call_that_another_worker_holds_for_a_moment_is_waited_for(run):
    calls = GenerationCall.objects.all()
    ids = calling.claim_calls(calls, limit=3, now=NOW)
    desk = generating.CompletionCalls()
    rows = {row.pk: row for row in desk.load(ids)}
    questions = calling.prepare(calls, rows.values(), desk.question, NOW)
    wanted = [budgeting.CallRequest(rows[one.claim.call_id], one.request, 1) for one in questions]

    admitted = while_uncommitted(
        lambda: calls.select_for_update().get(pk=ids[0]),
        partial(budgeting.reserve, wanted, now=NOW),
        has_to_wait=True,
    )

    assert admitted == set(ids)


def test_what_claims_and_answers_move_at_once_adds_up(run):
    first = claim()

    together([*stores_of(first), *[claim] * 3])

    run.refresh_from_db()
    assert run.reserved_usd == reserved()
    assert run.spent_usd == sum(budgeting.most_usd(one.request, PRICE) for one in first)
    assert run.spent_usd + run.reserved_usd <= run.budget_usd


def test_a_run_is_cancelled_while_its_answers_come_in(run):
    stores = stores_of(claim())

    together([partial(running.cancel_run, run, now=NOW), *stores, claim, claim])
    running.finish_all_runs(now=NOW + calling.CLAIM_LENGTH)

    run.refresh_from_db()
    assert run.state == "CANCELLED"
    assert not run.calls.filter(ended_at=None).exists()
    assert run.reserved_usd == 0
    assert run.spent_usd <= run.budget_usd


def test_a_run_ends_once_however_many_notice(run):
    run.calls.update(state=CallState.FAILED, ended_at=NOW, error_kind="x")

    ended = together([partial(states.end_runs, GenerationRun.objects.all(), now=NOW)] * WORKERS)

    assert sum(ended) == 1
