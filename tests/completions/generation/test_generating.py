"""Generation calls: planned once, claimed by one, answered once, retried only when it can help."""

import datetime as dt
from functools import partial

import pytest
from django.db import connection
from django.utils import timezone

from access.nudges import Work
from completions import tasks
from completions.choices import CallState, SystemKind
from completions.generation import services
from completions.generation.services import FLAGS, flags_of
from completions.llm.prompts import SUPPORTER, load_prompt
from completions.models import Completion, GenerationCall, GenerationRun
from completions.offline import REFUSAL, Behaviour, Fault
from completions.runs.services import calling
from completions.runs.services import running as run_services
from tests.helpers.factories import (
    NOW,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_generation_call,
    make_system,
    make_writing_lease,
)
from tests.helpers.factories_of_calls import make_generation_run, make_priced
from tests.helpers.observed import nudged
from tests.helpers.providers import ASKS_LITELLM
from tests.helpers.threads import together

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]


def make_call(**fields) -> GenerationCall:
    return make_generation_call(system=fields.pop("system", None) or make_priced(), **fields)


@pytest.fixture
def generate(provider, clock):
    """Make what waits, and return the first call as it is then."""

    def _generate() -> GenerationCall:
        services.generate_completions(clock=clock)
        return GenerationCall.objects.earliest("pk")

    return _generate


class TestPlan:
    def test_every_system_gets_every_context_once(self, now):
        dataset = make_dataset()
        contexts = [make_context(dataset=dataset) for _ in range(3)]
        make_context()  # of another dataset
        systems = [make_system(), make_system()]

        n_added = services.plan_generation_calls(dataset=dataset, systems=systems, now=now)

        planned = set(GenerationCall.objects.values_list("context", "system"))
        assert n_added == 6
        assert planned == {(context.pk, system.pk) for context in contexts for system in systems}

    def test_planning_again_adds_what_is_new_and_not_there_alone(self, now):
        dataset, system = make_dataset(), make_system()

        def plan() -> int:
            return services.plan_generation_calls(dataset=dataset, systems=[system], now=now)

        there = make_context(dataset=dataset)
        make_completion(context=there, system=system)
        assert plan() == 0
        make_context(dataset=dataset)
        assert plan() == 1
        GenerationCall.objects.update(state=CallState.FAILED, error_kind="x", ended_at=now)
        assert plan() == 0

    @pytest.mark.parametrize(
        "fields",
        [{"kind": SystemKind.HUMAN}, {"kind": SystemKind.ORIGINAL}, {"retired_at": NOW}],
    )
    def test_only_models_in_use_can_be_asked(self, now, fields):
        context = make_context()
        systems = [make_system(), make_system(**fields)]

        with pytest.raises(services.NotAModelError, match=systems[1].slug):
            services.plan_generation_calls(dataset=context.dataset, systems=systems, now=now)

        assert not GenerationCall.objects.exists()


@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
def test_planners_do_not_get_in_each_others_way(now):
    dialogue, systems = make_dialogue(), [make_system() for _ in range(3)]
    for _ in range(4):
        make_context(dialogue=dialogue)
    plan = partial(
        services.plan_generation_calls, dataset=dialogue.dataset, systems=systems, now=now
    )

    assert sorted(together([plan] * 4)) == [0, 0, 0, 12]
    assert GenerationCall.objects.count() == 12


class TestGenerate:
    def test_a_call_becomes_a_completion_with_its_record(self, provider, clock):
        call = make_call(system=make_priced(parameters={}))

        n_ended = services.generate_completions(clock=clock)

        call.refresh_from_db()
        completion = call.completion
        assert (n_ended, call.state, call.attempts) == (1, CallState.DONE, 1)
        assert completion is not None
        assert (completion.context, completion.system) == (call.context, call.system)
        assert completion.text == call.raw_answer
        assert call.ended_at == completion.created_at == clock.at
        assert call.prompt_hash == load_prompt(SUPPORTER).hash
        assert call.asked["temperature"] == call.honoured["temperature"] == 0
        assert (call.honoured["dropped"], call.honoured["flags"]) == ([], [])
        assert (call.finish_reason, call.cost_usd) == ("stop", None)
        assert call.n_prompt_tokens
        assert call.n_completion_tokens
        assert call.ttft_ms is not None
        assert call.latency_ms is not None
        assert call.ttft_ms <= call.latency_ms
        _, *chat = provider.calls[0].request["messages"]
        assert [one["role"] for one in chat] == ["user", "assistant", "user"]
        assert [one["content"] for one in chat] == [one["text"] for one in call.context.turns]

    @pytest.mark.parametrize(
        ("raw", "text", "flags"),
        [
            (
                "Here is a reply:\n\nThat sounds hard.",
                "Here is a reply: That sounds hard.",
                ["preamble", "paragraphs"],
            ),
            ("I hear\t you  🙂 today.", "I hear you 🙂 today.", []),
        ],
        ids=["more than the message", "a layout"],
    )
    def test_a_reply_is_kept_raw_flagged_and_without_its_layout(
        self, generate, monkeypatch, raw, text, flags
    ):
        monkeypatch.setattr("completions.offline.voices.reply", lambda *_: raw)
        make_call()

        call = generate()

        assert (call.raw_answer, call.honoured["flags"]) == (raw, flags)
        assert call.completion is not None
        assert call.completion.text == text

    def test_a_worker_makes_every_call_once(self, provider):
        system = make_priced()
        for _ in range(3):
            make_call(system=system)

        for _ in range(2):
            tasks.generate_completions()

        assert len(provider.calls) == Completion.objects.count() == 3

    def test_a_system_retired_since_is_not_asked_and_its_run_ends(self, provider, clock):
        run, sound = make_generation_run(budget_usd=1), make_priced()
        asked = make_call(system=sound, run=run)
        gone = make_call(system=make_priced(retired_at=NOW), run=run)

        services.generate_completions(clock=clock)

        for one in (run, asked, gone):
            one.refresh_from_db()
        assert [one.state for one in (asked, gone, run)] == ["DONE", "FAILED", "ENDED"]
        assert gone.error_kind == "retired"
        assert gone.reserved_usd == run.reserved_usd == 0
        assert len(provider.calls) == 1

    def test_a_simulated_system_is_answered_offline_whatever_its_row_says(self, generate):
        make_call(system=make_priced(api_base="http://192.0.2.1/v1"))

        assert generate().state == CallState.DONE

    def test_any_other_system_is_answered_at_its_own_address(self, provider, generate, settings):
        settings.HEART_OFFLINE_LLM_URL = "http://127.0.0.1:9/v1"
        make_call(system=make_system(model_id="openai/offline-birch", api_base=provider.base_url))

        assert generate().state == CallState.DONE
        assert provider.calls[0].model == "offline-birch"

    def test_a_systems_own_parameters_are_sent(self, provider, generate):
        make_call(system=make_priced(parameters={"top_p": None, "max_tokens": 90}))

        generate()

        assert "top_p" not in provider.calls[0].request
        assert provider.calls[0].request["max_tokens"] == 90


class TestFailures:
    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch):
        monkeypatch.setattr(calling, "FIRST_BACKOFF_S", 0.01)

    def test_the_wait_that_the_provider_asks_for_is_respected(self, provider, clock, generate):
        provider.behaviour = Behaviour(retry_after_s=300)
        provider.script.append(Fault.RATE_LIMITED)
        make_call()

        call = generate()

        assert (call.state, call.error_kind) == (CallState.PENDING, "rate_limited")
        assert call.retry_at == clock.at + dt.timedelta(seconds=300)
        clock.turn(seconds=200)
        assert not run_services.is_waiting(GenerationRun, now=clock.at)
        generate()
        assert len(provider.calls) == 1
        clock.turn(seconds=100)
        assert run_services.is_waiting(GenerationRun, now=clock.at)
        assert generate().state == CallState.DONE

    def test_what_never_heals_is_given_up_with_its_kind(self, provider, monkeypatch):
        monkeypatch.setattr(calling, "MAX_ATTEMPTS", 3)
        provider.script.extend([Fault.SERVER_ERROR] * 9)
        make_call()

        services.generate_completions(clock=timezone.now)

        call = GenerationCall.objects.get()
        assert (call.state, call.error_kind) == (CallState.FAILED, "server_error")
        assert len(provider.calls) == 3

    def test_what_cannot_heal_is_asked_once_and_kept_as_evidence_but_is_no_completion(
        self, provider, clock, generate
    ):
        provider.script.append(Fault.TRUNCATED)
        make_call()

        call = generate()

        assert (call.state, call.error_kind) == (CallState.FAILED, "truncated")
        assert (call.ended_at, call.finish_reason) == (clock.at, "length")
        assert len(provider.calls) == 1
        assert not Completion.objects.exists()
        assert call.raw_answer
        assert call.n_completion_tokens

    def test_a_system_that_cannot_be_asked_does_not_hold_up_the_others(self, generate):
        for parameters in ({"temprature": 0}, {"api_key_env": "HEART_NO_SUCH_KEY"}):
            make_call(system=make_system(parameters=parameters))
        sound = make_call()

        generate()

        ended = GenerationCall.objects.order_by("pk").exclude(pk=sound.pk)
        assert {(call.state, call.error_kind) for call in ended} == {
            (CallState.FAILED, "configuration")
        }
        parameter, key = (call.error_detail for call in ended)
        assert "temprature" in parameter
        assert "HEART_NO_SUCH_KEY" in key
        sound.refresh_from_db()
        assert sound.state == CallState.DONE


class TestTicks:
    def test_nudge_a_worker_only_when_calls_wait(self):
        call = make_call(state=CallState.CLAIMED, claimed_at=timezone.now())

        with nudged() as quiet:
            tasks.look_after_runs()
        GenerationCall.objects.filter(pk=call.pk).update(state=CallState.PENDING, claimed_at=None)
        with nudged() as sent:
            tasks.look_after_runs()

        assert (quiet, sent) == ([], [Work.GENERATE])

    def test_give_back_expired_writing_leases(self):
        lease = make_writing_lease()

        assert tasks.release_expired_writing_leases() == 1

        lease.refresh_from_db()
        assert lease.closed_at


PLAIN = [
    "That sounds heavy. What has helped before?",
    "Here you can say whatever weighs on you: I am listening.",
    "I'm sorry, but mostly I'm glad you told me. Who else knows?",
    "I can't imagine how that must feel. Would you tell me more?",
    "I cannot help but notice how much you care for her.",
    'She said "never mind" and left, and that hurt.',
    "Sure, that makes sense. Anyone would be tired.",
    "  Indented, and with a newline at its end.\n",
    "Great courage: that is what I hear.",
    "שלום, אני כאן.",
    "🙂 I am here.",
    "The message he left must have hurt. What did you do?",
]


class TestFlagsOf:
    @pytest.mark.parametrize("text", PLAIN)
    def test_a_message_alone_has_none(self, text):
        assert flags_of(text) == []

    @pytest.mark.parametrize(
        ("text", "flag"),
        [
            ("Here is a supportive reply: That sounds hard.", "preamble"),
            ("Here's what I would say:\nThat sounds hard.", "preamble"),
            ("Sure! Here\u2019s a response: That sounds hard.", "preamble"),
            ("A possible reply: That sounds hard.", "preamble"),
            ("My response would be: That sounds hard.", "preamble"),
            ("Supporter: That sounds hard.", "label"),
            ("**Counselor:** That sounds hard.", "label"),
            ("That sounds hard.\n\nWould you tell me more?", "paragraphs"),
            ("That sounds hard.\nWould you tell me more?", "paragraphs"),
            ('"That sounds hard."', "quotation"),
            ("\u201cThat sounds hard.\u201d\n", "quotation"),
            ("<think>They are sad.</think> That sounds hard.", "thoughts"),
            (REFUSAL, "refusal"),
            ("I cannot assist with this request.", "refusal"),
            ("As an AI, I have no feelings.", "refusal"),
            ("That is hard. It is. Really. I am here.", "sentences"),
        ],
    )
    def test_what_comes_besides_is_named(self, text, flag):
        assert flag in flags_of(text)

    def test_several_flags_come_in_one_order(self):
        found = flags_of("Here is a reply:\n\nSupporter: A. B. C. D. E.")

        assert found == sorted(found, key=FLAGS.index)
        assert {"preamble", "paragraphs"} <= set(found)

    @pytest.mark.parametrize(
        "text",
        ["", " \n", "\n" * 50_000, "here is " * 20_000, '"' * 50_000],
        ids=["empty", "blank", "lines", "preambles", "quotes"],
    )
    def test_no_text_costs_much(self, text):
        assert set(flags_of(text)) <= set(FLAGS)
