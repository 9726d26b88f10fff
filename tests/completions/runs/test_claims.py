"""Claims of calls: one worker's at a time, within the run's budget, answered and paid once."""

import asyncio
import datetime as dt
from dataclasses import replace
from decimal import Decimal
from functools import partial

import pytest
from django.db import connection
from django.db.models import Sum

from access.models import LogEntry
from completions import llm
from completions.choices import CallState, PauseReason, RunState
from completions.generation import services as generating
from completions.llm.exchange import LONGEST_TIMEOUT_S
from completions.models import Completion, GenerationCall, GenerationRun, System
from completions.runs.pulling import PullLimits
from completions.runs.services import asking, budgeting, calling, running, states
from tests.completions.runs.conftest import REPLY, answered, changed, failed, queue
from tests.helpers.factories import NOW, make_generation_call, make_system
from tests.helpers.factories_of_calls import (
    PRICE,
    make_call_in_flight,
    make_generation_run,
    make_priced,
    make_run_of,
    most_of_one,
)
from tests.helpers.threads import together, while_uncommitted

pytestmark = pytest.mark.django_db
needs_writers = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="SQLite has one writer at a time"
)
LATER = NOW + calling.CLAIM_LENGTH
NOTHING = Decimal(0)


class TestAClaim:
    def test_is_of_calls_in_order_and_free_again_only_when_it_is_lost(self):
        first, second, third = make_run_of(3).calls.order_by("pk")
        ended = {"state": CallState.FAILED, "error_kind": "x", "ended_at": NOW}
        make_generation_call(system=first.system, **ended)

        def claim(limit, at):
            return list(calling.claim_calls(GenerationCall.objects.all(), limit=limit, now=at))

        assert claim(2, NOW) == [first.pk, second.pk]
        assert claim(9, NOW + dt.timedelta(minutes=1)) == [third.pk]
        assert claim(9, NOW + dt.timedelta(minutes=1)) == []
        assert claim(2, LATER) == [first.pk, second.pk]
        assert changed(first).attempts == 2

    def test_without_a_budget_reserves_nothing_but_counts_what_is_spent(self):
        run = make_run_of(2)

        question, _ = queue().claim(9)[0]

        assert changed(run).reserved_usd == 0
        queue().store([answered(question)])
        assert (changed(run).spent_usd, run.reserved_usd) == (Decimal("0.0005"), NOTHING)

    def test_reserves_the_most_that_calls_can_cost_and_takes_as_many_as_fit(self):
        most = most_of_one()
        run = make_run_of(4, budget=str(2 * most))

        assert len(queue().claim(9)[0]) == 2

        assert changed(run).reserved_usd == 2 * most
        assert run.state == RunState.RUNNING  # what is in flight may cost less
        held = run.calls.order_by("pk").values_list("state", "attempts", "reserved_usd")
        assert list(held) == [(CallState.CLAIMED, 1, most)] * 2 + [(CallState.PENDING, 0, 0)] * 2

    def test_pauses_a_run_whose_next_call_might_not_fit(self):
        most = most_of_one()
        run = make_run_of(2, budget=str(most), spent_usd=Decimal("0.000001"))

        assert queue().claim(9)[0] == []

        assert (changed(run).state, run.pause_reason) == (RunState.PAUSED, PauseReason.BUDGET)
        assert f"could cost {most} US dollars" in run.pause_detail
        assert LogEntry.objects.filter(action="run.paused", by=None).count() == 1

    @pytest.mark.parametrize(
        "lost",
        [
            {"parameters": {}, "is_simulated": False, "api_base": "http://192.0.2.1/v1"},
            {"parameters": {"price": PRICE, "leave_out": ["max_tokens"]}},
        ],
        ids=["price", "limit"],
    )
    def test_pauses_a_run_whose_model_has_lost_its_price_or_limit(self, lost):
        run = make_run_of(1, budget="5")
        System.objects.update(**lost)

        assert queue().claim(9)[0] == []

        assert changed(run).pause_reason == PauseReason.BUDGET
        assert "Nobody says what" in run.pause_detail

    def test_leaves_the_calls_of_runs_that_stand_still_and_takes_others(self):
        paused, over = make_run_of(1), make_run_of(1)
        running.pause_run(paused, now=NOW)
        GenerationRun.objects.filter(pk=over.pk).update(state="CANCELLED", ended_at=NOW)
        free = make_generation_call(system=make_priced())
        going = make_run_of(1).calls.get()

        claimed = [one.claim.call_id for one in queue().claim(9)[0]]

        assert claimed == [free.pk, going.pk]

    def test_is_of_a_call_whose_time_is_limited(self):
        system = make_priced(parameters={"timeout_s": 3600.0})  # from before there was a bound

        assert calling.request_to(system, messages=()).timeout_s == LONGEST_TIMEOUT_S

    def test_outlives_a_database_that_is_away(self):
        longest = dt.timedelta(seconds=PullLimits.renew_s + sum(asking.AWAY_S))

        assert longest < calling.CLAIM_LENGTH

    def test_that_is_renewed_is_not_lost_and_ends_by_who_holds_it(self):
        run = make_run_of(3, budget="5")
        kept, left, taken = queue().claim(3)[0]
        run.calls.filter(pk=taken.claim.call_id).update(attempts=2)  # by another, meanwhile
        half = NOW + calling.CLAIM_LENGTH / 2

        queue(half).renew([kept, taken])

        lost = {left.claim.call_id, taken.claim.call_id}
        assert {one.claim.call_id for one in queue(LATER).claim(3)[0]} == lost
        queue(LATER).store([failed(kept), failed(left), failed(taken)])
        assert run.calls.get(ended_at=NOW).pk == kept.claim.call_id

    def test_that_was_lost_counts_what_it_had_reserved_as_spent(self):
        run = make_generation_run(budget_usd=Decimal(5))
        call = make_call_in_flight(run, "0.25", system=make_priced())

        assert running.is_waiting(GenerationRun, now=LATER)
        (question,) = queue(LATER).claim(9)[0]

        assert question.claim.call_id == call.pk
        assert changed(run).spent_usd == Decimal("0.25")
        assert run.reserved_usd == changed(call).reserved_usd == most_of_one()

    def test_that_was_lost_too_often_is_given_up_and_paid(self):
        run = make_generation_run(budget_usd=Decimal(5))
        call = make_call_in_flight(run, "0.25", attempts=calling.MAX_ATTEMPTS)

        assert queue(LATER).claim(9)[0] == []

        assert (changed(call).state, call.error_kind) == (CallState.FAILED, "lost")
        assert not running.is_waiting(GenerationRun, now=LATER)
        assert (changed(run).spent_usd, run.reserved_usd) == (Decimal("0.25"), NOTHING)

    def test_of_dead_workers_is_paid_when_it_is_forgotten(self):
        run = make_generation_run(budget_usd=Decimal(5))
        make_call_in_flight(run, "0.25")

        assert running.forget_claims() == 1

        assert (changed(run).spent_usd, run.reserved_usd) == (Decimal("0.25"), NOTHING)


class TestWhatACallCosts:
    @pytest.fixture
    def run(self):
        return make_run_of(2, budget="5")

    def claim(self, n=1):
        return queue().claim(n)[0]

    def settled(self, run):
        """Return what was spent, and what is still reserved."""
        run.refresh_from_db()
        return run.spent_usd, run.reserved_usd

    @pytest.mark.parametrize(
        ("end", "spent"),
        [
            (answered, Decimal("0.0005")),
            (lambda question: answered(question, replace(REPLY, cost_usd=None)), None),
            (lambda question: failed(question, "rate_limited"), NOTHING),
            (lambda question: failed(question, "server_error"), None),
        ],
        ids=["counted", "counted by nobody", "refused", "failed and perhaps paid"],
    )
    def test_is_what_the_provider_counts_or_all_that_was_reserved(self, run, end, spent):
        (question,) = self.claim()

        queue().store([end(question)])

        assert self.settled(run) == (most_of_one() if spent is None else spent, NOTHING)
        assert run.calls.get(pk=question.claim.call_id).reserved_usd == 0

    @pytest.mark.parametrize("is_sent", [False, True], ids=["given back", "broken off"])
    def test_of_a_claim_that_is_let_go_is_all_that_was_reserved_if_it_was_sent(self, run, is_sent):
        (question,) = self.claim()
        pull = queue()
        if is_sent:
            pull.sent.add(question.claim)

        pull.release([question])

        assert self.settled(run) == (most_of_one() if is_sent else NOTHING, NOTHING)
        assert set(run.calls.values_list("state", "attempts")) == {(CallState.PENDING, 0)}

    def test_is_counted_once_whatever_comes_after_the_answer(self, run):
        (question,) = self.claim()

        for ended in (answered(question), answered(question), failed(question)):
            queue().store([ended])

        assert self.settled(run) == (Decimal("0.0005"), NOTHING)
        assert Completion.objects.count() == 1
        assert str(GenerationCall.objects.get(state=CallState.DONE).cost_usd) == "0.000500"

    def test_of_two_workers_is_what_both_may_have_been_paid_and_the_answer_counts(self, run):
        (slow,) = self.claim()
        queue(LATER).claim(1)

        queue().store([failed(slow)])
        assert run.calls.get(pk=slow.claim.call_id).state == CallState.CLAIMED
        queue().store([answered(slow)])

        assert run.calls.get(pk=slow.claim.call_id).state == CallState.DONE
        assert self.settled(run) == (2 * most_of_one(), NOTHING)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
class TestWorkersAtTheSameMoment:
    N = 8

    @pytest.fixture
    def run(self):
        """Return a run with money for seven of its forty calls."""
        most = most_of_one()
        return make_run_of(40, budget=str(7 * most + budgeting.CENT))

    def claim(self):
        return queue().claim(5)[0]

    def stores_of(self, claimed):
        """Return what stores that each of these calls has failed."""
        calls = GenerationCall.objects.all()
        return [partial(calling.store_failure, calls, failed(one)) for one in claimed]

    def reserved(self):
        held = GenerationCall.objects.filter(state=CallState.CLAIMED)
        return held.aggregate(sum=Sum("reserved_usd"))["sum"] or NOTHING

    def test_stay_within_the_budget(self, run):
        claimed = [one for items in together([self.claim] * self.N) for one in items]

        assert len({one.claim.call_id for one in claimed}) == len(claimed) == 7
        assert changed(run).reserved_usd == self.reserved() <= run.budget_usd
        assert run.state == RunState.RUNNING  # what is reserved may come back

    def test_wait_for_a_claimed_call_that_another_holds_for_a_moment(self, run):
        calls = GenerationCall.objects.all()
        ids = calling.claim_calls(calls, limit=3, now=NOW)
        desk = generating.CompletionCalls()
        rows = {row.pk: row for row in desk.load(ids)}
        questions = calling.prepare(calls, rows.values(), desk.question, NOW)
        wanted = [
            budgeting.CallRequest(rows[one.claim.call_id], one.request, 1) for one in questions
        ]

        admitted = while_uncommitted(
            lambda: calls.select_for_update().get(pk=ids[0]),
            partial(budgeting.reserve, wanted, now=NOW),
            has_to_wait=True,
        )

        assert admitted == set(ids)

    def test_leave_sums_that_add_up(self, run):
        first = self.claim()

        together([*self.stores_of(first), *[self.claim] * 3])

        assert changed(run).reserved_usd == self.reserved()
        assert run.spent_usd == sum(budgeting.most_usd(one.request, PRICE) for one in first)
        assert run.spent_usd + run.reserved_usd <= run.budget_usd

    def test_answer_while_the_run_is_cancelled(self, run):
        stores = self.stores_of(self.claim())

        together([partial(running.cancel_run, run, now=NOW), *stores, self.claim, self.claim])
        running.finish_all_runs(now=LATER)

        assert changed(run).state == RunState.CANCELLED
        assert not run.calls.filter(ended_at=None).exists()
        assert run.reserved_usd == 0
        assert run.spent_usd <= run.budget_usd

    def test_end_a_run_once_however_many_notice(self, run):
        run.calls.update(state=CallState.FAILED, ended_at=NOW, error_kind="x")

        ended = together([partial(states.end_runs, GenerationRun.objects.all(), now=NOW)] * self.N)

        assert sum(ended) == 1

    @needs_writers
    def test_claim_no_call_twice(self):
        system = make_system()
        for _ in range(60):
            make_generation_call(system=system)
        claim = partial(calling.claim_calls, GenerationCall.objects.all(), limit=5, now=NOW)

        claimed = [pk for claim in together([claim] * self.N) for pk in claim]

        assert len(claimed) == len(set(claimed)) == 40
        assert GenerationCall.objects.filter(state=CallState.CLAIMED, attempts=1).count() == 40

    @needs_writers
    def test_ask_a_provider_when_the_claim_is_committed(self, monkeypatch):
        make_generation_call(system=make_system(model_id="openai/any"))
        seen: list[str] = []

        def look() -> None:
            seen.extend(GenerationCall.objects.values_list("state", flat=True))
            connection.close()

        async def complete(_request: llm.Request) -> llm.Reply:
            await asyncio.to_thread(look)
            msg = "enough"
            raise llm.PermanentError(msg, kind="x")

        monkeypatch.setattr(llm, "complete", complete)
        generating.generate_completions(clock=lambda: NOW)

        assert seen == [CallState.CLAIMED]
