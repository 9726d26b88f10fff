"""Generation calls: planned once, claimed by one, answered once, retried only when it can help."""

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from access.nudges import Work
from completions import tasks
from completions.choices import CallState, SystemKind
from completions.generation import services
from completions.generation.services import generating
from completions.llm import PermanentError, Reply
from completions.llm.prompts import SUPPORTER, load_prompt
from completions.models import Completion, GenerationCall, GenerationRun, System
from completions.offline import Behaviour, Fault
from completions.runs import services as run_services
from completions.runs.services import calling
from completions.writers import services as writer_services
from tests.helpers.factories import (
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_generation_call,
    make_system,
)
from tests.helpers.observed import nudged

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.xdist_group("litellm"),  # so that one process alone loads it
    # LiteLLM reads every attribute of a pydantic model, those being given up included.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]
REPLY = Reply(
    text="That sounds\n hard.",
    finish_reason="stop",
    provider_id="p-1",
    n_prompt_tokens=10,
    n_completion_tokens=4,
    cost_usd=0.00123,
    ttft_ms=12,
    latency_ms=34,
)


def make_simulated(voice: str = "alder", **fields: Any) -> System:
    name = f"Simulated {voice} {fields.pop('name', '')}"
    model_id = f"hosted_vllm/offline-{voice}"
    return make_system(is_simulated=True, model_id=model_id, name=name, **fields)


def make_call(voice: str = "alder", **fields) -> GenerationCall:
    return make_generation_call(
        system=fields.pop("system", None) or make_simulated(voice), **fields
    )


class TestPlan:
    def test_every_system_gets_every_context_once(self, now):
        dataset = make_dataset()
        contexts = [make_context(dialogue=make_dialogue(dataset=dataset)) for _ in range(3)]
        make_context()  # of another dataset
        systems = [make_system(), make_system()]

        n_added = services.plan_generation_calls(dataset=dataset, systems=systems, now=now)

        planned = set(GenerationCall.objects.values_list("context", "system"))
        assert n_added == 6
        assert planned == {(context.pk, system.pk) for context in contexts for system in systems}

    def test_planning_again_adds_what_is_new_alone(self, now):
        dataset = make_dataset()
        make_context(dialogue=make_dialogue(dataset=dataset))
        system = make_system()
        services.plan_generation_calls(dataset=dataset, systems=[system], now=now)
        GenerationCall.objects.update(state=CallState.FAILED, error_kind="x", ended_at=now)

        assert services.plan_generation_calls(dataset=dataset, systems=[system], now=now) == 0
        make_context(dialogue=make_dialogue(dataset=dataset))
        assert services.plan_generation_calls(dataset=dataset, systems=[system], now=now) == 1

    def test_a_completion_that_is_there_is_not_asked_for(self, now):
        context, system = make_context(), make_system()
        make_completion(context=context, system=system)

        n_added = services.plan_generation_calls(dataset=context.dataset, systems=[system], now=now)

        assert n_added == 0

    @pytest.mark.parametrize("kind", [SystemKind.HUMAN, SystemKind.ORIGINAL])
    def test_only_models_can_be_asked(self, now, kind):
        context = make_context()
        systems = [make_system(), make_system(kind=kind)]

        with pytest.raises(services.NotAModelError, match=systems[1].slug):
            services.plan_generation_calls(dataset=context.dataset, systems=systems, now=now)

        assert not GenerationCall.objects.exists()


class TestGenerate:
    def test_a_call_becomes_a_completion_with_its_record(self, provider, clock):
        call = make_call()

        n_ended = services.generate_completions(clock=clock)

        call.refresh_from_db()
        completion = call.completion
        assert n_ended == 1
        assert call.state == CallState.DONE
        assert completion is not None
        assert (completion.context, completion.system) == (call.context, call.system)
        assert completion.text == call.raw_answer
        assert call.ended_at == completion.created_at == clock.at
        assert call.attempts == 1
        assert call.prompt_hash == load_prompt(SUPPORTER).hash
        assert call.asked["temperature"] == call.honoured["temperature"] == 0
        assert call.honoured["dropped"] == []
        assert call.finish_reason == "stop"
        assert call.n_prompt_tokens
        assert call.n_completion_tokens
        assert call.cost_usd is None
        assert call.ttft_ms is not None
        assert call.latency_ms is not None
        assert call.ttft_ms <= call.latency_ms

    def test_the_provider_sees_the_dialogue_with_its_roles(self, provider, clock):
        call = make_call()

        services.generate_completions(clock=clock)

        messages = provider.calls[0].request["messages"]
        assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
        assert [m["content"] for m in messages[1:]] == [t["text"] for t in call.context.turns]

    def test_a_reply_that_is_more_than_the_message_is_kept_raw_and_flagged(
        self, provider, clock, monkeypatch
    ):
        raw = "Here is a reply:\n\nThat sounds hard."
        monkeypatch.setattr("completions.offline.voices.reply", lambda *_: raw)
        call = make_call()

        services.generate_completions(clock=clock)

        call.refresh_from_db()
        assert call.raw_answer == raw
        assert call.honoured["flags"] == ["preamble", "paragraphs"]

    def test_a_message_alone_has_no_flags(self, provider, clock):
        call = make_call()

        services.generate_completions(clock=clock)

        call.refresh_from_db()
        assert call.honoured["flags"] == []

    def test_many_calls_are_made_at_once_and_each_once(self, provider, clock, settings):
        settings.HEART_LLM_CONCURRENCY = 8
        system = make_simulated()
        for _ in range(40):
            make_call(system=system)
        provider.behaviour = Behaviour(latency_s=0.02)

        assert services.generate_completions(clock=clock) == 40
        assert len(provider.calls) == 40
        assert Completion.objects.count() == 40

    def test_running_the_task_twice_asks_once(self, provider):
        make_call()

        tasks.generate_completions()
        tasks.generate_completions()

        assert len(provider.calls) == 1
        assert Completion.objects.count() == 1

    def test_a_simulated_system_is_answered_offline_whatever_its_row_says(self, provider, clock):
        make_call(system=make_simulated(api_base="http://192.0.2.1/v1"))

        services.generate_completions(clock=clock)

        assert GenerationCall.objects.get().state == CallState.DONE

    def test_any_other_system_is_answered_at_its_own_address(self, provider, clock, settings):
        settings.HEART_OFFLINE_LLM_URL = "http://127.0.0.1:9/v1"
        make_call(system=make_system(model_id="openai/offline-birch", api_base=provider.base_url))

        services.generate_completions(clock=clock)

        assert GenerationCall.objects.get().state == CallState.DONE
        assert provider.calls[0].model == "offline-birch"

    def test_a_systems_own_parameters_are_sent(self, provider, clock):
        make_call(system=make_simulated(parameters={"top_p": None, "max_tokens": 90}))

        services.generate_completions(clock=clock)

        assert "top_p" not in provider.calls[0].request
        assert provider.calls[0].request["max_tokens"] == 90

    def test_layout_does_not_reach_the_completion(self, provider, clock, monkeypatch):
        text = "I hear you.\n\n- First\t thing  🙂"
        monkeypatch.setattr("completions.offline.voices.reply", lambda *_: text)
        call = make_call()

        services.generate_completions(clock=clock)

        call.refresh_from_db()
        assert call.raw_answer == text
        assert call.completion is not None
        assert call.completion.text == "I hear you. - First thing 🙂"


class TestFailures:
    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch):
        monkeypatch.setattr(calling, "FIRST_BACKOFF_S", 0.01)

    @pytest.mark.parametrize(
        "fault", [Fault.RATE_LIMITED, Fault.SERVER_ERROR, Fault.CUT, Fault.BROKEN_BODY]
    )
    def test_what_can_heal_is_asked_again(self, provider, fault):
        provider.behaviour = Behaviour(retry_after_s=0.01)
        provider.script.extend([fault, fault])
        make_call()

        services.generate_completions(clock=timezone.now)

        call = GenerationCall.objects.get()
        assert call.state == CallState.DONE
        assert call.attempts == len(provider.calls) == 3
        assert call.error_kind == ""

    def test_the_wait_that_the_provider_asks_for_is_respected(self, provider, clock):
        provider.behaviour = Behaviour(retry_after_s=300)
        provider.script.append(Fault.RATE_LIMITED)
        make_call()

        services.generate_completions(clock=clock)

        call = GenerationCall.objects.get()
        assert (call.state, call.error_kind) == (CallState.PENDING, "rate_limited")
        assert call.retry_at == clock.at + dt.timedelta(seconds=300)
        clock.turn(seconds=200)
        assert not run_services.is_waiting(GenerationRun, now=clock.at)
        services.generate_completions(clock=clock)
        assert len(provider.calls) == 1
        clock.turn(seconds=100)
        assert run_services.is_waiting(GenerationRun, now=clock.at)
        services.generate_completions(clock=clock)
        assert GenerationCall.objects.get().state == CallState.DONE

    def test_what_never_heals_is_given_up_with_its_kind(self, provider, monkeypatch):
        monkeypatch.setattr(calling, "MAX_ATTEMPTS", 3)
        provider.script.extend([Fault.SERVER_ERROR] * 9)
        make_call()

        services.generate_completions(clock=timezone.now)

        call = GenerationCall.objects.get()
        assert (call.state, call.error_kind) == (CallState.FAILED, "server_error")
        assert len(provider.calls) == 3

    @pytest.mark.parametrize(
        ("fault", "kind"),
        [
            (Fault.UNAUTHORIZED, "authentication"),
            (Fault.EMPTY, "empty"),
            (Fault.TRUNCATED, "truncated"),
            (Fault.FILTERED, "content_filtered"),
        ],
    )
    def test_what_cannot_heal_is_asked_once_and_never_a_completion(
        self, provider, clock, fault, kind
    ):
        provider.script.append(fault)
        make_call()

        services.generate_completions(clock=clock)

        call = GenerationCall.objects.get()
        assert (call.state, call.error_kind) == (CallState.FAILED, kind)
        assert call.ended_at == clock.at
        assert len(provider.calls) == 1
        assert not Completion.objects.exists()

    def test_a_truncated_text_is_kept_as_evidence(self, provider, clock):
        provider.script.append(Fault.TRUNCATED)
        make_call()

        services.generate_completions(clock=clock)

        call = GenerationCall.objects.get()
        assert call.raw_answer
        assert call.finish_reason == "length"
        assert call.n_completion_tokens

    def test_a_system_that_cannot_be_asked_does_not_hold_up_the_others(self, provider, clock):
        broken = make_call(system=make_simulated(name="broken", parameters={"temprature": 0}))
        sound = make_call()

        services.generate_completions(clock=clock)

        broken.refresh_from_db()
        sound.refresh_from_db()
        assert (broken.state, broken.error_kind) == (CallState.FAILED, "configuration")
        assert "temprature" in broken.error_detail
        assert sound.state == CallState.DONE

    def test_a_key_that_is_not_set_is_named(self, clock):
        make_call(system=make_system(parameters={"api_key_env": "HEART_NO_SUCH_KEY"}))

        services.generate_completions(clock=clock)

        call = GenerationCall.objects.get()
        assert (call.state, call.error_kind) == (CallState.FAILED, "configuration")
        assert "HEART_NO_SUCH_KEY" in call.error_detail


class TestClaims:
    def test_a_claimed_call_is_free_again_only_when_its_claim_is_lost(self, now):
        call = make_call()
        calls = GenerationCall.objects.all()

        assert calling.claim_calls(calls, limit=9, now=now) == [call.pk]
        assert calling.claim_calls(calls, limit=9, now=now + dt.timedelta(minutes=5)) == []
        later = now + calling.CLAIM_LENGTH
        assert calling.claim_calls(calls, limit=9, now=later) == [call.pk]
        assert GenerationCall.objects.get().attempts == 2

    def test_no_more_are_claimed_than_asked_for_in_order(self, now):
        first, second, third = make_call(), make_call("birch"), make_call("cedar")

        claimed = calling.claim_calls(GenerationCall.objects.all(), limit=2, now=now)

        assert claimed == [first.pk, second.pk]
        third.refresh_from_db()
        assert third.state == CallState.PENDING

    def test_a_lost_claim_is_answered_by_the_next_worker(self, provider, clock):
        lost = clock.at - calling.CLAIM_LENGTH
        make_call(state=CallState.CLAIMED, claimed_at=lost, attempts=1)

        assert run_services.is_waiting(GenerationRun, now=clock.at)
        services.generate_completions(clock=clock)

        assert GenerationCall.objects.get().state == CallState.DONE

    def test_a_call_that_no_worker_survives_is_given_up(self, provider, clock):
        lost = clock.at - calling.CLAIM_LENGTH
        make_call(state=CallState.CLAIMED, claimed_at=lost, attempts=calling.MAX_ATTEMPTS)

        services.generate_completions(clock=clock)

        call = GenerationCall.objects.get()
        assert (call.state, call.error_kind) == (CallState.FAILED, "lost")
        assert not provider.calls

    def test_given_back_it_is_as_before_the_claim(self, now):
        call = make_call()
        queue = generating._Queue(lambda: now)
        questions = queue.claim(9).items

        queue.release(questions)

        call.refresh_from_db()
        assert (call.state, call.attempts) == (CallState.PENDING, 0)

    def test_ended_calls_are_never_claimed(self, now):
        make_call(state=CallState.FAILED, error_kind="x", ended_at=now)

        assert not run_services.is_waiting(GenerationRun, now=now)
        assert calling.claim_calls(GenerationCall.objects.all(), limit=9, now=now) == []


class TestStoring:
    @pytest.fixture
    def question(self, now) -> calling.Question:
        make_call()
        (question,) = generating._Queue(lambda: now).claim(1).items
        return question

    def test_the_second_answer_to_a_call_is_left_out(self, question, now):
        queue = generating._Queue(lambda: now)
        answered = calling.Answered(question, now, REPLY)

        queue.store([answered])
        queue.store([answered])

        call = GenerationCall.objects.get()
        assert Completion.objects.count() == 1
        assert str(call.cost_usd) == "0.001230"
        assert call.completion is not None
        assert call.completion.text == "That sounds hard."

    def test_the_answer_of_a_worker_that_lost_its_claim_still_counts(self, question, now):
        later = now + calling.CLAIM_LENGTH
        queue = generating._Queue(lambda: later)
        queue.claim(1)

        queue.store([calling.Answered(question, later, REPLY)])

        assert GenerationCall.objects.get().state == CallState.DONE

    def test_the_failure_of_a_worker_that_lost_its_claim_does_not(self, question, now):
        later = now + calling.CLAIM_LENGTH
        queue = generating._Queue(lambda: later)
        queue.claim(1)

        queue.store([calling.Failed(question.claim, later, PermanentError("no", kind="x"))])

        assert GenerationCall.objects.get().state == CallState.CLAIMED

    def test_a_failure_after_the_answer_changes_nothing(self, question, now):
        queue = generating._Queue(lambda: now)
        queue.store([calling.Answered(question, now, REPLY)])

        queue.store([calling.Failed(question.claim, now, PermanentError("no", kind="x"))])

        assert GenerationCall.objects.get().state == CallState.DONE


class TestTicks:
    def test_nudge_a_worker_when_calls_wait(self):
        make_call()

        with nudged() as sent:
            tasks.look_after_runs()

        assert sent == [Work.GENERATE]

    def test_stay_quiet_when_nothing_waits(self):
        make_call(state=CallState.CLAIMED, claimed_at=timezone.now())

        with nudged() as sent:
            tasks.look_after_runs()

        assert sent == []

    def test_give_back_expired_writing_leases(self, monkeypatch):
        given: list[dt.datetime] = []
        monkeypatch.setattr(
            writer_services, "release_expired_writing_leases", lambda *, now: given.append(now)
        )

        tasks.release_expired_writing_leases()

        assert len(given) == 1
