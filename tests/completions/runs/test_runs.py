"""Runs: what starts one, what holds it up, what it costs, and when it is over."""

import datetime as dt
from decimal import Decimal

import pytest

from access.models import LogEntry
from completions.choices import CallState, PauseReason, RunState
from completions.generation import services as generation_services
from completions.models import GenerationRun
from completions.runs import queries
from completions.runs.services import calling, states
from completions.runs.services import running as run_services
from completions.runs.services.budgeting import UnknownPriceError
from tests.completions.runs.conftest import answered, changed, failed, make_talks, queue
from tests.helpers.factories import NOW, make_generation_call, make_system
from tests.helpers.factories_of_calls import (
    make_generation_run,
    make_judge_run,
    make_priced,
    make_run_of,
)
from tests.helpers.factories_written_once import make_user

pytestmark = pytest.mark.django_db
FAILED = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "server_error"}
REFUSED = {"state": RunState.PAUSED, "pause_reason": PauseReason.REFUSED}
LATER = NOW + dt.timedelta(minutes=1)


@pytest.fixture
def dataset():
    return make_talks(3)


class TestStart:
    def start(self, dataset, systems, **fields):
        return generation_services.start_generation_run(
            dataset=dataset, systems=systems, now=NOW, **fields
        )

    def test_plans_a_call_for_each_context_and_system(self, dataset):
        systems = [make_priced(slug="b"), make_priced(slug="a")]

        run = self.start(dataset, systems, budget_usd=Decimal(2), by=make_user())

        assert run.n_planned == run.calls.count() == 6
        assert run.plan == {"dataset": dataset.slug, "systems": ["a", "b"]}
        assert (run.state, run.budget_usd) == (RunState.RUNNING, Decimal(2))
        entry = LogEntry.objects.get(action="run.started")
        assert entry.subject == f"generation run {run.pk}"
        assert entry.after["calls"] == 6

    def test_again_finds_nothing_to_ask_and_leaves_no_run(self, dataset):
        system = make_priced()
        self.start(dataset, [system])

        with pytest.raises(run_services.NothingToAskError):
            self.start(dataset, [system])

        assert GenerationRun.objects.count() == 1

    def test_with_a_budget_that_is_nothing_or_that_nobody_can_keep_is_refused(self, dataset):
        systems = [make_system(slug="dear")]

        with pytest.raises(run_services.BudgetTooSmallError):
            self.start(dataset, [make_priced()], budget_usd=Decimal(0))
        with pytest.raises(UnknownPriceError, match="for dear"):
            self.start(dataset, systems, budget_usd=Decimal(1))

        assert not GenerationRun.objects.exists()
        assert self.start(dataset, systems).budget_usd is None


class TestRefusals:
    def test_of_one_model_pause_the_run_with_their_reason(self):
        run = make_run_of(5)
        questions = queue().claim(9)[0]

        queue().store([failed(one, "authentication") for one in questions[: states.ENOUGH - 1]])
        assert changed(run).state == RunState.RUNNING
        queue().store([failed(questions[states.ENOUGH], "authentication")])

        assert (changed(run).state, run.pause_reason) == (RunState.PAUSED, PauseReason.REFUSED)
        assert run.pause_detail == "authentication: no"

    def test_of_several_models_one_each_and_about_single_texts_do_not(self):
        run, other = make_generation_run(), make_run_of(states.ENOUGH + 2)
        for _ in range(states.ENOUGH + 1):
            make_generation_call(run=run, system=make_priced())
        questions = {one.claim.call_id: one for one in queue().claim(20)[0]}
        of_run, of_other = (
            [questions[pk] for pk in one.calls.order_by("pk").values_list("pk", flat=True)][:-1]
            for one in (run, other)
        )

        queue().store([failed(one, "configuration") for one in of_run])
        queue().store([failed(one, "content_filtered") for one in of_other])

        assert changed(run).state == changed(other).state == RunState.RUNNING

    def test_of_every_call_leave_the_run_to_be_resumed(self):
        run = make_run_of(3)
        queue().store([failed(one, "payment") for one in queue().claim(9)[0]])
        run_services.finish_all_runs(now=NOW)

        run = run_services.resume_run(run, now=LATER)

        assert run.state == RunState.RUNNING
        assert set(run.calls.values_list("state", flat=True)) == {CallState.PENDING}


class TestPauseAndResume:
    def test_stop_and_go_on_where_it_was_and_twice_log_nothing(self):
        run, user = make_run_of(2), make_user()

        for _ in range(2):
            run_services.pause_run(run, now=NOW, by=user)
        assert queue().claim(9)[0] == []
        for _ in range(2):
            run_services.resume_run(run, now=LATER, by=user)

        assert len(queue().claim(9)[0]) == 2
        actions = LogEntry.objects.filter(by=user).values_list("action", flat=True)
        assert list(actions.order_by("pk")) == ["run.paused", "run.running"]

    def test_with_a_larger_budget(self):
        run = make_run_of(1, budget="0.000001")
        queue().claim(9)

        run_services.resume_run(run, now=NOW, budget_usd=Decimal(3))

        assert len(queue().claim(9)[0]) == 1

    def test_with_a_budget_that_is_spent_is_refused(self):
        run = make_run_of(1, budget="2", spent_usd=Decimal(1))

        with pytest.raises(run_services.BudgetTooSmallError, match=r"1\.000000 are spent"):
            run_services.resume_run(run, now=NOW, budget_usd=Decimal(1))

    @pytest.mark.parametrize(
        "act", [run_services.pause_run, run_services.resume_run, run_services.cancel_run]
    )
    def test_a_run_that_is_over_refuses(self, act):
        run = make_generation_run(state=RunState.ENDED, ended_at=NOW)

        with pytest.raises(run_services.RunStateError, match=f"run #{run.pk} has ended"):
            act(run, now=NOW)


class TestCancel:
    def test_gives_up_what_waits_and_lets_calls_in_flight_end(self):
        run = make_run_of(3)
        (question,) = queue().claim(1)[0]

        run = run_services.cancel_run(run, now=NOW)

        assert (run.state, run.ended_at) == (RunState.CANCELLED, NOW)
        assert run.calls.filter(state=CallState.FAILED, error_kind="cancelled").count() == 2
        queue().store([answered(question)])
        assert run.calls.filter(state=CallState.DONE).count() == 1

    def test_gives_up_later_what_came_back_to_the_queue(self):
        run = make_run_of(2)
        questions = queue().claim(2)[0]
        run_services.cancel_run(run, now=NOW)
        queue().release(questions[:1])

        run_services.finish_all_runs(now=NOW)
        assert run.calls.filter(error_kind="cancelled").count() == 1
        run_services.finish_all_runs(now=NOW + calling.CLAIM_LENGTH)

        assert run.calls.filter(error_kind="cancelled").count() == 2


class TestRetry:
    def test_asks_again_what_failed_and_what_was_unusable_if_told_so(self):
        run = make_generation_run()
        lost = make_generation_call(run=run, attempts=8, **FAILED)
        unusable = {"state": CallState.INVALID, "error_kind": "x", "raw_answer": "?"}
        make_generation_call(run=run, ended_at=NOW, **unusable)
        run_services.finish_all_runs(now=NOW)

        assert run_services.retry_failed(run, now=LATER) == 1

        assert (changed(lost).state, lost.attempts, lost.error_kind) == (CallState.PENDING, 0, "")
        assert (changed(run).state, run.ended_at) == (RunState.RUNNING, None)
        assert run_services.retry_failed(run, now=NOW, with_invalid=True) == 1

    def test_with_nothing_to_ask_changes_nothing(self):
        run = make_generation_run(state=RunState.ENDED, ended_at=NOW)

        assert run_services.retry_failed(run, now=LATER) == 0
        assert changed(run).state == RunState.ENDED

    def test_never_asks_about_a_text_that_was_deleted(self):
        run = make_generation_run()
        make_generation_call(run=run, **FAILED | {"error_kind": "erased"})

        assert run_services.retry_failed(run, now=LATER, with_invalid=True) == 0

    def test_takes_up_a_cancelled_run(self):
        run = run_services.cancel_run(make_run_of(2), now=NOW)

        assert run_services.retry_failed(run, now=LATER) == 2
        assert len(queue().claim(9)[0]) == 2


class TestTheEnd:
    def test_comes_with_the_last_answer(self):
        run = make_run_of(2)
        first, last = queue().claim(2)[0]

        queue().store([answered(first)])
        assert changed(run).state == RunState.RUNNING
        queue().store([answered(last)])

        assert (changed(run).state, run.ended_at) == (RunState.ENDED, NOW)

    def test_is_noticed_by_the_tick_once_of_runs_that_nothing_holds_up(self):
        over, refused, judging = (
            make_generation_run(),
            make_generation_run(**REFUSED),
            make_judge_run(),
        )
        for run in (over, refused):
            make_generation_call(run=run, **FAILED)
        make_run_of(1)  # whose call waits

        assert run_services.finish_all_runs(now=LATER) == 2
        assert run_services.finish_all_runs(now=LATER) == 0

        assert changed(over).ended_at == changed(judging).ended_at == LATER
        assert changed(refused).ended_at is None


class TestProgress:
    def test_counts_every_call_once_by_what_became_of_it(self):
        run = make_run_of(2, budget="5")
        make_generation_call(run=run, **FAILED)
        make_generation_call(run=run, **FAILED | {"error_kind": "empty"})
        queue().claim(1)
        make_run_of(3)  # of another run

        progress = queries.progress_of(run, now=NOW)

        assert progress.failed == {"empty": 1, "server_error": 1}
        assert (progress.n_done, progress.n_invalid, progress.n_failed) == (0, 0, 2)
        assert (progress.n_waiting, progress.n_in_flight) == (1, 1)
        assert (progress.n_ended, progress.n_open, progress.n_calls) == (2, 2, 4)

    def test_tells_the_rate_and_the_time_left_by_what_ended_lately(self):
        run = make_run_of(6)
        claimed = {"claimed_at": NOW - dt.timedelta(seconds=30)}
        for _ in range(3):
            make_generation_call(run=run, **FAILED | claimed)

        lately = queries.progress_of(run, now=NOW)
        long_ago = queries.progress_of(run, now=NOW + dt.timedelta(hours=1))

        assert (lately.per_minute, lately.left) == (6, dt.timedelta(minutes=1))
        assert (long_ago.per_minute, long_ago.left) == (None, None)

    def test_of_many_runs_takes_two_queries(self, django_assert_max_num_queries):
        runs = [make_run_of(1) for _ in range(5)]

        with django_assert_max_num_queries(2):
            found = queries.progress_of_each(runs, now=NOW)

        assert {found[run.pk].n_waiting for run in runs} == {1}

    def test_a_run_is_found_by_its_number_with_the_models_of_its_calls(self):
        run, system = make_generation_run(), make_priced()
        for _ in range(2):
            make_generation_call(run=run, system=system)

        assert queries.run_numbered(GenerationRun.objects.all(), run.pk) == run
        assert list(queries.endpoints_of(run)) == [system]
        with pytest.raises(queries.RunNotFoundError, match="no run #0"):
            queries.run_numbered(GenerationRun.objects.all(), 0)
