"""Runs that ask an assistant about rationales: their plan, budget and end, and the command."""

import datetime as dt
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from access.nudges import Work
from annotation import tasks
from annotation.models import RationaleCall, RationaleRun, ThemeLabel
from annotation.rationales import themes
from annotation.rationales.services import labelling
from completions.choices import CallState, PauseReason, RunState
from completions.runs import view_data
from completions.runs.services import budgeting, calling
from completions.runs.services import running as completions
from completions.runs.services.budgeting import UnknownPriceError
from completions.tasks import look_after_runs
from tests.annotation.rationales.asked import ABSENT, KEYS, judge
from tests.helpers.factories import (
    NOW,
    make_assistant,
)
from tests.helpers.factories_of_calls import (
    make_rationale_call,
    make_rationale_run,
)
from tests.helpers.observed import nudged
from tests.helpers.providers import ASKS_LITELLM

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]
PRICE = {"input": 1.0, "output": 10.0}


def most_of(call):
    """Return the most that a call can cost, asked twice."""
    question = labelling.Desk().question(call, calling.Claim(call.pk, NOW, 1))
    return budgeting.most_usd(question.request, PRICE, tries=question.tries)


class TestARun:
    def test_says_what_was_asked_for_is_asked_alone_on_request_and_ends_with_its_last_call(
        self, study, start, provider, clock, coder
    ):
        judge(study)
        make_rationale_call(assistant=coder)

        run = start()

        codebook = themes.load_codebook()
        assert run.plan == {
            "study": study.slug,
            "assistant": "simulated-coder",
            "codebook": "heart-1",
            "codebook_sha256": codebook.sha256,
            "prompt": "coder-1",
            "prompt_sha256": themes.coder_prompt(codebook).hash,
        }
        assert (run.calls.count(), run.state) == (1, RunState.RUNNING)
        assert labelling.find_themes(clock=clock, run=run) == 1
        run.refresh_from_db()
        assert run.state == RunState.ENDED

    def test_that_was_left_behind_is_ended_by_the_tick(self, clock):
        run = make_rationale_run()

        look_after_runs()
        look_after_runs()

        run.refresh_from_db()
        assert run.state == RunState.ENDED

    def test_that_stands_still_makes_no_call_until_it_goes_on(self, study, start, provider, clock):
        judge(study)
        run = completions.pause_run(start(), now=clock())

        assert labelling.find_themes(clock=clock) == 0
        assert not completions.is_waiting(RationaleRun, now=clock())
        completions.resume_run(run, now=clock())
        assert labelling.find_themes(clock=clock) == 1

    def test_takes_over_from_a_worker_that_was_killed(self, study, start, provider, clock):
        judge(study)
        judge(study)
        run = start()
        held = run.calls.first()
        ids = calling.claim_calls(run.calls.filter(pk=held.pk), limit=1, now=clock())
        assert ids == [held.pk]

        assert labelling.find_themes(clock=clock, run=run) == 1
        clock.at += calling.CLAIM_LENGTH + dt.timedelta(seconds=1)
        assert labelling.find_themes(clock=clock, run=run) == 1

        assert set(run.calls.values_list("state", flat=True)) == {CallState.DONE}
        assert len(provider.calls) == 2
        assert ThemeLabel.objects.count() == 2 * len(KEYS)

    def test_needs_a_price_to_keep_a_budget(self, study, start):
        judge(study)
        nameless = make_assistant(model_id="hosted_vllm/no-such-model")

        with pytest.raises(UnknownPriceError, match=nameless.slug):
            start(assistant=nameless, budget_usd=Decimal(1))
        assert not RationaleRun.objects.exists()

    def test_stands_still_before_its_budget_might_be_overspent(
        self, study, start, provider, clock, coder
    ):
        coder.parameters = {"price": PRICE}
        coder.save()
        for _ in range(3):
            judge(study)
        run = start(budget_usd=Decimal(5))
        most = most_of(run.calls.first())
        completions.resume_run(run, now=clock(), budget_usd=most)  # the second might not fit

        labelling.find_themes(clock=clock, run=run)

        run.refresh_from_db()
        assert 0 < run.spent_usd <= run.budget_usd
        assert len(provider.calls) == 1
        assert (run.state, run.pause_reason) == (RunState.PAUSED, PauseReason.BUDGET)
        completions.resume_run(run, now=clock(), budget_usd=Decimal(5))
        labelling.find_themes(clock=clock, run=run)
        assert len(provider.calls) == 3

    def test_asks_again_what_failed_on_request(self, study, start, provider, clock, say):
        judge(study)
        run = start()
        say("no", "no", dict.fromkeys(KEYS, ABSENT))
        labelling.find_themes(clock=clock, run=run)

        assert completions.retry_failed(run, now=clock()) == 0
        assert completions.retry_failed(run, now=clock(), with_invalid=True) == 1
        labelling.find_themes(clock=clock, run=run)
        assert run.calls.get().state == CallState.DONE


class TestFailures:
    def test_are_shown_by_the_dialogue_that_they_are_about(self, study, ask, say):
        judgment = judge(study)
        say("no", "no")
        ask()

        calls = view_data.failed_calls(RationaleRun.objects.get(), "")

        (row,) = calls
        assert (row.dialogue, row.endpoint) == (judgment.comparison.context.key, "Simulated coder")
        assert (row.state, row.raw_answer) == (CallState.INVALID, "no")


class TestTheTasks:
    def test_wake_a_worker_only_if_something_waits(self, start, study):
        with nudged() as sent:
            look_after_runs()
        assert sent == []
        judge(study)
        start()

        with nudged() as sent:
            look_after_runs()

        assert sent == [Work.FIND_THEMES]

    def test_are_safe_to_run_twice(self, start, study, provider):
        judge(study)
        start()

        tasks.find_themes()
        tasks.find_themes()

        assert (len(provider.calls), ThemeLabel.objects.count()) == (1, len(KEYS))


def rationales(*asked):
    """Return what the command answers."""
    out = StringIO()
    call_command("rationales", *asked, stdout=out, stderr=StringIO())
    return out.getvalue()


def refused(*asked):
    """Return why the command refuses."""
    with pytest.raises(CommandError) as error:
        rationales(*asked)
    assert error.value.returncode == 2
    return str(error.value)


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _judgments(self, study):
        for _ in range(3):
            judge(study)

    def test_reads_every_rationale_once_and_says_how_it_went(self, provider):
        assert "3 of 3 calls answered" in rationales("run", "--study", "talks")
        assert ThemeLabel.objects.count() == 60
        assert "nothing is left to ask" in refused("run", "--study", "talks")

    def test_leaves_the_calls_to_workers_on_request_to_be_paused_and_gone_on_with(self, provider):
        said = rationales("run", "--study", "talks", "--no-wait")

        number = str(RationaleRun.objects.get().pk)
        assert f"manage.py rationales show {number}" in said
        assert set(RationaleCall.objects.values_list("state", flat=True)) == {CallState.PENDING}
        assert "codebook: heart-1" in rationales("show", number)
        assert "stands still" in rationales("pause", number)
        assert "3 of 3 calls answered" in rationales("resume", number)
        assert f"#{number} has ended" in rationales("runs")

    def test_refuses_what_it_does_not_know(self):
        assert "there is no study" in refused("run", "--study", "walks")
        assert "no id of a model" in refused("run", "--study", "talks", "--assistant", "a b")
        assert "no run #7" in refused("show", "7")
