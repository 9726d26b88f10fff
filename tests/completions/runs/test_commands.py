"""``completions`` and ``judges``: runs made at once or left to workers, and models tried first."""

import json
import os
import signal
from decimal import Decimal
from functools import partial
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper

from annotation.models import Comparison, JudgeRun, Judgment, Study
from completions.choices import CallState, PauseReason, RunState
from completions.generation.services import generate_completions
from completions.management import run_actions
from completions.management.acting import Progress
from completions.management.run_actions import Kind
from completions.models import Completion, GenerationRun, Run
from completions.offline import Behaviour
from completions.runs import pulling
from completions.runs.queries import calls_of
from tests.completions.runs.conftest import make_talks
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_generation_call,
    make_judge,
    make_study,
)
from tests.helpers.factories_of_calls import (
    PRICE,
    make_generation_run,
    make_judge_run,
    make_priced,
    make_run_of,
    most_of_one,
)
from tests.helpers.providers import ASKS_LITELLM, choice, streamed
from tests.helpers.providers import said as answer

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]
FAILED = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "server_error"}


def command(name: str, *words: object) -> str:
    """Run a command and return its answer, with what it said while it worked."""
    out, said = StringIO(), StringIO()
    call_command(name, *map(str, words), stdout=out, stderr=said)
    return said.getvalue() + out.getvalue()


def paid(run: Run) -> Decimal:
    """Return what the calls of a run have cost by their own account."""
    return sum((call.cost_usd or Decimal(0) for call in calls_of(run)), Decimal(0))


def refused(name: str, *words: object) -> CommandError:
    with pytest.raises(CommandError) as caught:
        command(name, *words)
    return caught.value


RUN = ["run", "--dataset", "Talks", "--systems"]


@pytest.fixture
def dataset():
    """Four contexts, and a system that has a price."""
    make_priced(slug="alder")
    return make_talks(4)


class TestCompletionsRun:
    def test_makes_the_calls_and_says_what_they_cost(self, dataset, provider):
        said = command("completions", *RUN, "alder", "--budget", "2")

        run = GenerationRun.objects.get()
        assert (run.state, run.n_planned) == (RunState.ENDED, 4)
        assert (run.spent_usd, run.reserved_usd) == (paid(run), Decimal(0))
        assert 0 < run.spent_usd < 2
        assert Completion.objects.count() == len(provider.calls) == 4
        assert f"Run #{run.pk} has ended: 4 of 4 calls answered; {run.spent_usd:.4f} US" in said

    def test_leaves_the_calls_to_workers_if_told_so_and_finds_nothing_to_ask_then(self, dataset):
        said = command("completions", *RUN, "alder", "--no-wait")

        assert "4 calls wait for workers" in said
        assert GenerationRun.objects.get().state == RunState.RUNNING
        error = refused("completions", *RUN, "alder")
        assert (error.returncode, "nothing is left to ask" in str(error)) == (2, True)

    def test_stops_at_its_budget_and_goes_on_with_a_larger_one(self, dataset, provider, settings):
        settings.HEART_LLM_CONCURRENCY = 1

        error = refused("completions", *RUN, "alder", "--budget", most_of_one())

        run = GenerationRun.objects.get()
        assert error.returncode == run_actions.STOOD_STILL
        assert f"Go on: manage.py completions resume {run.pk}" in str(error)
        assert (run.state, run.pause_reason) == (RunState.PAUSED, PauseReason.BUDGET)
        assert run.spent_usd + run.reserved_usd <= most_of_one()
        assert len(provider.calls) == 1
        assert "has ended: 4 of 4" in command("completions", "resume", run.pk, "--budget", "1")
        assert len(provider.calls) == 4

    def test_says_what_it_does_not_know(self, dataset, subtests):
        for words, said, code in (
            ("--dataset none --systems alder", "no dataset", 2),
            ("--dataset Talks --systems oak", "unknown systems oak", 2),
            # That is all that are real.
            ("--dataset Talks --systems all", "unknown systems all; known are alder", 2),
            ("--dataset Talks --systems alder --budget -1", "sum of US dollars", 1),
            ("--dataset Talks --systems alder --budget much", "sum of US dollars", 1),
            ("--dataset Talks --systems alder --budget 1000000", "sum of US dollars", 1),
            ("--dataset Talks --systems alder --budget 0.0000001", "sum of US dollars", 1),
        ):
            with subtests.test(words):
                error = refused("completions", "run", *words.split())

                assert (said in str(error), error.returncode) == (True, code)
                assert not GenerationRun.objects.exists()


class TestCtrlC:
    @pytest.mark.parametrize("n_presses", [1, 2])
    def test_leaves_the_rest_waiting_and_says_how_to_go_on(self, provider, settings, n_presses):
        settings.HEART_LLM_CONCURRENCY = 1
        run = make_run_of(30)
        provider.behaviour = Behaviour(latency_s=0.01)

        kind = Kind("completions", GenerationRun, partial(generate_and_interrupt, n_presses))
        with pytest.raises(CommandError) as caught:
            run_actions.work(kind, run, Progress(OutputWrapper(StringIO())))

        assert caught.value.returncode == run_actions.INTERRUPTED
        assert f"manage.py completions resume {run.pk}" in str(caught.value)
        assert not run.calls.filter(state=CallState.CLAIMED).exists()
        n_made = run.calls.filter(state=CallState.DONE).count()
        assert 0 < n_made < 30
        assert 0 <= len(provider.calls) - n_made < n_presses  # one was broken off, or none
        assert not pulling.STOPPING.is_set()


def generate_and_interrupt(n_presses, *, stored, **given):
    """Make calls, and press Ctrl-C once the first are stored: a second time breaks them off."""
    presses = [signal.SIGINT] * n_presses

    def press():
        stored()
        while presses:
            os.kill(os.getpid(), presses.pop())

    return generate_completions(stored=press, **given)


class TestSteering:
    def test_a_run_is_paused_and_cancelled_by_its_number(self):
        run = make_run_of(3)

        assert "stands still: an administrator paused it" in command("completions", "pause", run.pk)
        cancelled = command("completions", "cancel", run.pk)

        assert "was cancelled: 0 of 3 calls answered, 3 failed (cancelled)" in cancelled
        assert "was cancelled and cannot be paused" in str(refused("completions", "pause", run.pk))

    def test_failed_calls_alone_are_tried_again(self, provider):
        run = make_generation_run()
        system = make_priced()
        make_generation_call(run=run, system=system, **FAILED)

        said = command("completions", "retry", run.pk)

        assert "1 calls are asked again" in said
        assert "has ended: 1 of 1 calls answered" in said
        assert "nothing had failed" in command("completions", "retry", run.pk)
        assert len(provider.calls) == 1

    def test_runs_are_listed_the_newest_first_and_each_is_shown_with_its_plan(self):
        assert "No runs yet: `manage.py completions run`" in command("completions", "runs")
        first = make_run_of(1)
        second = make_run_of(2, budget="2", plan={"dataset": "talks", "systems": ["a", "b"]})
        judging = make_judge_run()

        lines = command("completions", "runs").splitlines()
        said = command("completions", "show", second.pk)

        assert lines[0].startswith(f"Run #{second.pk} goes on: 0 of 2 calls answered, 2 left")
        assert lines[0].endswith("0.0000 US dollars spent, of 2.0000")
        assert lines[1].startswith(f"Run #{first.pk} ")
        assert "systems: a, b" in said
        assert "2 wait, 0 in flight" in said
        assert f"Run #{judging.pk} goes on" in command("judges", "runs")

    @pytest.mark.parametrize("action", ["show", "pause", "resume", "cancel", "retry"])
    def test_a_number_that_nothing_has_is_refused(self, action):
        assert "there is no run #7" in str(refused("completions", action, 7))


@pytest.fixture
def study() -> Study:
    study = make_study(slug="small", locked_at=NOW)
    for _ in range(2):
        make_comparison(study=study)
    return study


def make_simulated_judge(voice: str = "alder", **fields):
    return make_judge(
        slug=voice,
        name=f"Simulated {voice}",
        model_id=f"hosted_vllm/offline-judge-{voice}",
        is_simulated=True,
        **fields,
    )


class TestJudgesRun:
    def test_puts_each_comparison_in_both_orders_to_each_judge(self, study, provider):
        make_simulated_judge("alder")
        make_simulated_judge("birch")

        said = command(
            "judges", "run", "--study", "small", "--judges", "alder", "birch", "--both-orders"
        )

        run = JudgeRun.objects.get()
        assert (run.state, run.n_planned, run.both_orders) == (RunState.ENDED, 8, True)
        assert run.plan["judges"] == ["alder", "birch"]
        assert "has ended: 8 of 8 calls answered" in said
        assert Judgment.objects.count() == len(provider.calls) == 8
        assert Comparison.objects.count() == 2

    def test_takes_several_samples_at_a_temperature_only(self, study):
        make_simulated_judge()
        asked = ["judges", "run", "--study", "small", "--judges", "alder", "--samples", "3"]

        assert "need a temperature above 0" in str(refused(*asked))
        command(*asked, "--temperature", "0.7", "--no-wait")

        run = JudgeRun.objects.get()
        assert (run.samples, run.plan["temperature"], run.n_planned) == (3, 0.7, 6)

    def test_stands_still_while_the_study_is_not_open(self, study):
        make_simulated_judge()
        Study.objects.filter(pk=study.pk).update(state="PAUSED")

        error = refused("judges", "run", "--study", "small", "--judges", "alder")

        assert "The study small is not open" in str(error)

    def test_says_what_it_does_not_know(self, study, subtests):
        make_study(slug="draft", state="DRAFT", locked_at=None, protocol_hash="")
        make_simulated_judge()

        for words, said in {
            "--study none --judges alder": "there is no study",
            "--study draft --judges alder": "its protocol is not locked",
            "--study small --judges oak": "unknown judges oak",
            "--study small": "no judge is registered but simulated ones",
            "--study small --judges alder --samples 101": "100 samples of each order are the most",
            "--study small --judges alder --temperature 3": "a temperature is from 0 to 2",
            "--study small --judges alder --temperature nan": "a temperature is from 0 to 2",
        }.items():
            with subtests.test(words):
                assert said in str(refused("judges", "run", *words.split()))
                assert not JudgeRun.objects.exists()


class TestCheck:
    def test_asks_judges_for_json_and_tells_what_they_took(self, fake):
        make_simulated_judge("ash")
        message = "response_format: Input should be 'text' or 'json_object'"
        fake.script.append(answer({"error": {"message": message}}, 400))

        told = command("judges", "check")

        assert told.startswith("ash (simulated): answered in ")
        assert "charged 7 + 3 tokens, an unknown price" in told
        assert "schema_mode json_object" in told
        assert "dropped: response_schema" in told

    def test_asks_systems_for_a_sentence_and_tells_in_json(self, fake):
        make_priced(slug="elm", parameters={"price": PRICE, "leave_out": ["top_p"]})
        fake.always = streamed(choice("<think>hm</think>Hello."))

        [row] = json.loads(command("systems", "check", "elm", "--json"))

        assert (row["slug"], row["failed"], row["is_simulated"]) == ("elm", "", True)
        assert row["dropped"] == ["top_p"]
        assert row["stripped"] == ["thoughts"]
        assert row["cost_usd"] == pytest.approx((7 * PRICE["input"] + 3 * PRICE["output"]) / 1e6)

    def test_asks_no_retired_system_unless_it_is_named(self, fake):
        for slug, retired_at in {"elm": None, "oak": NOW}.items():
            make_priced(slug=slug, retired_at=retired_at)
        fake.always = streamed(choice("Hello."))

        told = [json.loads(command("systems", "check", *of, "--json")) for of in ([], ["oak"])]

        assert [[one["slug"] for one in rows] for rows in told] == [["elm"], ["oak"]]

    def test_tells_one_that_fails_with_the_others_and_ends_with_code_1(self, fake):
        for voice in ("ash", "elm"):
            make_simulated_judge(voice)
        fake.script.append(answer({"error": {"message": "Wrong key."}}, 401))

        error = refused("judges", "check")

        assert error.returncode == 1
        assert "ash (simulated): authentication: " in str(error)
        assert "elm (simulated): answered" in str(error)

    @pytest.mark.parametrize("name", ["judges", "systems"])
    def test_refuses_an_unknown_name(self, name):
        error = refused(name, "check", "nobody")

        assert (error.returncode, "unknown" in str(error)) == (2, True)
