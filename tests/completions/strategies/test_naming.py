"""An assistant names strategies: asked about each text once, read strictly, forgotten on demand."""

import json
from decimal import Decimal
from functools import partial

import pytest

from access.nudges import Work
from annotation.raters.services.withdrawing import withdraw_writer
from completions import tasks
from completions.choices import (
    CallState,
    LeaseOutcome,
    MessageState,
    Presence,
    Review,
    RunState,
    SystemKind,
)
from completions.models import (
    Completion,
    Context,
    LabellingRun,
    Message,
    StrategyCall,
    StrategyLabel,
)
from completions.runs.services import running as run_services
from completions.runs.services import states
from completions.runs.services.budgeting import UnknownPriceError
from completions.strategies import codebook as strategies_codebook
from completions.strategies.services import labelling
from completions.systems.services.registering import assistant_for
from completions.writers.services.pool import freeze_dataset, thaw_dataset
from tests.completions.strategies.conftest import refused, strategies
from tests.helpers.factories import (
    NOW,
    make_assistant,
    make_completion,
    make_context,
    make_dataset,
    make_system,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_calls import (
    DONE,
    make_human_labelling,
    make_spot_check_item,
    make_strategy_call,
    make_strategy_label,
)
from tests.helpers.factories_of_people import make_accepted
from tests.helpers.observed import nudged
from tests.helpers.providers import ASKS_LITELLM, let_assistants_say
from tests.helpers.written import completion_of, stored

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]
TEXT = "**No wonder** you are tired.\n\nWhat happened?"
KEYS = strategies_codebook.load_codebook().keys
ABSENT = {"quote": "", "presence": "absent", "probability": 0.1}


@pytest.fixture
def strategist():
    return assistant_for("strategist", "offline")


def write(dataset, **fields):
    context = make_context(dataset=dataset)
    return make_completion(context=context, **{"text": TEXT} | fields)


def write_as_person(dataset, **fields):
    writer, system = make_writer(dataset=dataset), make_system(kind=SystemKind.HUMAN)
    return write(dataset, writer=writer, system=system, **fields)


@pytest.fixture
def plan(dataset, strategist, clock):
    asked = {"dataset": dataset, "assistant": strategist, "now": clock()}
    return lambda **fields: labelling.plan_strategy_calls(**asked | fields)


@pytest.fixture
def ask(provider, clock, plan):
    def _ask():
        plan()
        return labelling.name_strategies(clock=clock)

    return _ask


@pytest.fixture
def say(monkeypatch):
    """Let the strategist say these, one per call."""
    return partial(let_assistants_say, monkeypatch)


def labelled():
    return set(StrategyCall.objects.values_list("completion", flat=True))


class TestPlanning:
    def test_adds_a_call_for_each_text_once_and_asks_another_assistant_anew(self, dataset, plan):
        texts = {write(dataset).pk, write(dataset).pk}
        write(make_dataset())

        assert (plan(), plan()) == (2, 0)
        assert labelled() == texts
        assert plan(assistant=make_assistant()) == 2

    def test_leaves_out_texts_of_dropped_contexts_and_deleted_ones(self, dataset, plan):
        dropped = write(dataset)
        Context.objects.filter(pk=dropped.context_id).update(review=Review.DROPPED)
        write_as_person(dataset, text="", fixed_at=NOW, erased_at=NOW)

        assert plan() == 0

    def test_waits_with_peoples_texts_until_they_or_their_dataset_are_final(self, dataset, plan):
        write_as_person(dataset)
        fixed = write_as_person(dataset, fixed_at=NOW)

        assert plan() == 1
        assert labelled() == {fixed.pk}
        dataset.frozen_at = NOW  # as it was read before it was thawed
        assert plan() == 0
        dataset.save()
        assert plan() == 1


class TestFixing:
    @pytest.fixture
    def message(self, dataset):
        context = make_context(dataset=dataset)
        closed = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}
        lease = make_writing_lease(writer=make_writer(dataset=dataset), context=context, **closed)
        return make_accepted(TEXT, lease=lease)

    def test_holds_a_text_as_it_is_once_it_is_to_be_labelled(self, dataset, plan, message, clock):
        assert plan() == 0
        assert completion_of(message).fixed_at is None
        freeze_dataset(dataset=dataset, by=None, now=NOW)

        assert plan() == 1

        thaw_dataset(dataset=dataset, by=None, now=NOW)
        assert completion_of(message).fixed_at == clock()

    def test_asks_nobody_any_more_for_another_version(self, dataset, plan, message):
        Message.objects.update(state=MessageState.RETURNED)
        freeze_dataset(dataset=dataset, by=None, now=NOW)

        plan()

        assert stored(message).state == MessageState.ACCEPTED


class TestAsking:
    def test_keeps_a_label_for_every_strategy_and_asks_nothing_twice(self, dataset, ask, provider):
        write(dataset)

        assert (ask(), ask(), len(provider.calls)) == (1, 0, 1)
        call = StrategyCall.objects.get()
        assert (call.state, call.labels.count()) == (CallState.DONE, 15)
        found = call.labels.filter(presence=Presence.PRESENT)
        assert dict(found.values_list("strategy", "quote")) == {
            "emotional-validation": "No wonder",
            "clarification": "What happened",
        }

    def test_shows_the_text_as_people_see_it_and_no_source(self, dataset, ask, provider):
        text = write(dataset, system=make_system(name="Model of Mordor"))

        ask()

        (asked,) = (call.request["messages"] for call in provider.calls)
        assert '"No wonder you are tired. What happened?"' in asked[1]["content"]
        assert text.context.turns[-1]["text"] in asked[1]["content"]
        assert "Mordor" not in json.dumps(asked)
        assert [one["role"] for one in asked] == ["system", "user"]

    def test_keeps_a_second_unusable_answer_without_a_label(self, dataset, ask, say):
        write(dataset)
        say("no", dict.fromkeys(KEYS[1:], ABSENT))

        ask()

        call = StrategyCall.objects.get()
        assert (call.state, call.error_kind) == (CallState.INVALID, "invalid_answer")
        assert "affirmation: Field required" in call.error_detail
        assert not StrategyLabel.objects.exists()

    def test_gives_up_a_text_that_was_deleted_meanwhile(self, dataset, ask, plan, provider):
        text = write_as_person(dataset, fixed_at=NOW)
        plan()
        type(text).objects.filter(pk=text.pk).update(text="", erased_at=NOW)

        ask()

        call = StrategyCall.objects.get()
        assert (call.state, call.error_kind, call.attempts) == (CallState.FAILED, "erased", 1)
        assert not provider.calls
        assert "deleted at its writer's wish" in call.error_detail

    def test_keeps_nothing_of_a_text_that_is_deleted_while_it_is_asked(
        self, dataset, ask, monkeypatch
    ):
        text = write_as_person(dataset, fixed_at=NOW)

        def keep_late(kind, ended):
            type(text).objects.filter(pk=text.pk).update(text="", erased_at=NOW)
            keep(kind, ended)

        keep = labelling.StrategyCalls.keep
        monkeypatch.setattr(labelling.StrategyCalls, "keep", keep_late)

        ask()

        call = StrategyCall.objects.get()
        assert (call.state, call.error_kind) == (CallState.FAILED, "erased")
        assert (call.raw_answer, call.labels.count()) == ("[deleted]", 0)


class TestForgetting:
    def test_leaves_no_word_of_the_text_and_gives_up_what_waits(self):
        call = make_strategy_call(
            **DONE | {"raw_answer": "No wonder", "asked": {"model": "m", "first_try": {"a": "No"}}}
        )
        make_strategy_label(call=call, presence=Presence.PRESENT, quote="No wonder")
        item = make_spot_check_item(completion=call.completion)
        note = make_human_labelling(item=item, note="They wrote: no wonder.", strategies=[KEYS[0]])
        waiting = make_strategy_call(completion=call.completion)
        other = make_strategy_label(presence=Presence.PRESENT, quote="Kept")
        other_waiting = make_strategy_call()

        labelling.forget_labels([call.completion_id], now=NOW)

        for row in (call, note, waiting, other, other_waiting):
            row.refresh_from_db()
        assert (call.raw_answer, call.asked) == ("[deleted]", {"model": "m"})
        assert call.labels.get().quote == "[deleted]"
        assert (note.note, note.strategies) == ("", [KEYS[0]])
        assert (waiting.state, waiting.error_kind) == (CallState.FAILED, "erased")
        assert waiting.ended_at == NOW
        assert (other.quote, other_waiting.state) == ("Kept", CallState.PENDING)

    def test_happens_when_a_writer_has_the_texts_deleted(self, dataset):
        text = write_as_person(dataset, fixed_at=NOW)
        call = make_strategy_call(completion=text, **DONE | {"raw_answer": "No wonder"})
        label = make_strategy_label(call=call, presence=Presence.PRESENT, quote="No wonder")

        withdraw_writer(writer=text.writer, keep_texts=False, now=NOW)

        call.refresh_from_db()
        label.refresh_from_db()
        assert (call.raw_answer, label.quote) == ("[deleted]", "[deleted]")


class TestARun:
    @pytest.fixture
    def start(self, dataset, strategist, clock):
        asked = {"dataset": dataset, "assistant": strategist, "now": clock()}
        return lambda **fields: labelling.start_labelling_run(**asked | fields)

    def test_says_what_was_asked_for_and_has_nothing_to_do_twice(self, dataset, start):
        write(dataset)

        run = start()

        codebook = strategies_codebook.load_codebook()
        assert run.plan == {
            "dataset": dataset.slug,
            "assistant": "simulated-strategist",
            "codebook": "heart-1",
            "codebook_sha256": codebook.sha256,
            "prompt": "strategist-1",
            "prompt_sha256": strategies_codebook.strategist_prompt(codebook).hash,
        }
        assert (run.n_planned, run.calls.count(), run.state) == (1, 1, RunState.RUNNING)
        with pytest.raises(run_services.NothingToAskError):
            start()
        assert LabellingRun.objects.count() == 1

    def test_needs_a_price_to_keep_a_budget(self, dataset, start):
        write(dataset)
        nameless = make_assistant(model_id="hosted_vllm/no-such-model")

        with pytest.raises(UnknownPriceError, match=nameless.slug):
            start(assistant=nameless, budget_usd=Decimal(1))
        assert not LabellingRun.objects.exists()

    def test_asks_its_own_calls_alone_and_ends_with_the_last(self, dataset, start, provider, clock):
        write(dataset)
        run = start()
        make_strategy_call(assistant=run.calls.get().assistant)

        assert labelling.name_strategies(clock=clock, run=run) == 1

        run.refresh_from_db()
        assert run.state == RunState.ENDED

    def test_that_stands_still_makes_no_call(self, dataset, start, provider, clock):
        write(dataset)
        run_services.pause_run(start(), now=clock())

        assert labelling.name_strategies(clock=clock) == 0
        assert not run_services.is_waiting(LabellingRun, now=clock())

    def test_goes_on_without_texts_that_were_deleted_since(self, dataset, start, provider, clock):
        texts = [write_as_person(dataset, fixed_at=NOW) for _ in range(states.ENOUGH)]
        kept, run = write(dataset), start()
        Completion.objects.filter(pk__in=[text.pk for text in texts]).update(text="", erased_at=NOW)

        labelling.name_strategies(clock=clock)
        run_services.finish_all_runs(now=clock())

        run.refresh_from_db()
        assert (run.state, run.spent_usd) == (RunState.ENDED, 0)
        assert run.calls.get(state=CallState.DONE).completion == kept
        assert run_services.retry_failed(run, now=clock()) == 0


def test_tasks_wake_a_worker_if_something_waits_and_are_safe_to_run_twice(plan, dataset, provider):
    with nudged() as sent:
        tasks.look_after_runs()
    assert sent == []
    write(dataset)
    plan()

    with nudged() as sent:
        tasks.look_after_runs()
    for _ in range(2):
        tasks.name_strategies()

    assert sent == [Work.NAME_STRATEGIES]
    assert (len(provider.calls), StrategyLabel.objects.count()) == (1, 15)


class TestTheCommand:
    def test_labels_every_text_once_and_says_how_it_went(self, dataset, provider):
        for _ in range(3):
            write(dataset)

        said = strategies("run", "--dataset", "talks")

        assert "3 of 3 calls answered" in said
        assert StrategyLabel.objects.count() == 45
        assert "nothing is left to ask" in refused("run", "--dataset", "talks")
        assert "codebook: heart-1" in strategies("show", str(LabellingRun.objects.get().pk))

    def test_refuses_what_it_does_not_know(self, dataset):
        assert "no dataset" in refused("run", "--dataset", "walks")
        assert "no id of a model" in refused("run", "--dataset", "talks", "--assistant", "a b")
        assert "no run #7" in refused("show", "7")
