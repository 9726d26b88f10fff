"""How a provider is asked: within its limits, where it may be, for JSON as its model takes it."""

import asyncio
import datetime as dt
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from completions import llm
from completions.choices import CallState
from completions.generation import services
from completions.llm.limits import ProviderLimits
from completions.models import GenerationCall
from completions.runs import pulling
from completions.runs.services import speaking
from tests.helpers import observed
from tests.helpers.factories import make_generation_call, make_system
from tests.helpers.observed import run
from tests.helpers.processes import settings_with
from tests.helpers.providers import ASKS_LITELLM, Answer, said

REQUEST = llm.Request(
    model="openai/some", messages=({"role": "user", "content": 30 * "x"},), max_tokens=90
)
"""About a hundred tokens."""
ONE_A_MINUTE = {"openai": ProviderLimits(requests_per_minute=1)}


class Provider:
    """Stands in for the gateway: replies, or fails as the script says."""

    def __init__(self) -> None:
        self.script: list[llm.ProviderError] = []
        self.asked: list[llm.Request] = []
        self.text = "That sounds hard."
        self.n_tokens: int | None = 20

    async def complete(self, request: llm.Request) -> llm.Reply:
        self.asked.append(request)
        if self.script:
            raise self.script.pop(0)
        return self.reply()

    def reply(self) -> llm.Reply:
        return llm.Reply(
            text=self.text,
            finish_reason="stop",
            provider_id="p-1",
            n_prompt_tokens=self.n_tokens,
            n_completion_tokens=self.n_tokens,
            cost_usd=None,
            ttft_ms=1,
            latency_ms=2,
        )


def throttled(retry_after_s: float | None = 300.0) -> llm.TransientError:
    return llm.TransientError("Slow down.", kind="rate_limited", retry_after_s=retry_after_s)


@pytest.fixture
def gateway(monkeypatch) -> Provider:
    found = Provider()
    monkeypatch.setattr(llm, "complete", found.complete)
    return found


def virtual_now() -> dt.datetime:
    return dt.datetime.fromtimestamp(observed.now(), dt.UTC)


async def ask(request: llm.Request = REQUEST) -> llm.Reply:
    return await speaking.ask_provider(request, clock=virtual_now)


async def begun(*requests: llm.Request) -> list[float]:
    """Ask one after the other; return when each was answered."""
    times = []
    for request in requests:
        await ask(request)
        times.append(observed.now())
    return times


class TestAsking:
    @pytest.mark.parametrize(("n_tokens", "next_s"), [(20, 4), (None, 10)], ids=["40", "nobody"])
    def test_what_a_call_may_take_is_kept_back_until_it_is_counted(
        self, gateway, settings, n_tokens, next_s
    ):
        settings.HEART_LLM_LIMITS = {"openai": ProviderLimits(tokens_per_minute=600)}
        gateway.n_tokens = n_tokens  # of the question, and of the answer

        assert run(begun(REQUEST, REQUEST)) == [0, pytest.approx(next_s)]  # paid off: 10 a second

    def test_a_failure_frees_its_place_and_counts_what_it_took(self, gateway, settings):
        settings.HEART_LLM_LIMITS = {"*": ProviderLimits(tokens_per_minute=600, concurrency=1)}
        gateway.script = [llm.PermanentError("Too long.", reply=gateway.reply())]

        async def main():
            with pytest.raises(llm.PermanentError, match="Too long"):
                await ask()
            return await begun(REQUEST)

        assert run(main()) == [pytest.approx(4)]

    def test_a_turn_that_is_far_off_is_told_and_the_provider_not_asked(self, gateway, settings):
        settings.HEART_LLM_LIMITS = ONE_A_MINUTE

        async def main():
            await ask()
            with pytest.raises(speaking.NotAskedError, match="openai takes no more questions") as e:
                await ask()
            return e.value.retry_after_s

        assert run(main()) == 60
        assert len(gateway.asked) == 1

    @pytest.mark.parametrize(
        ("error", "pause_s"),
        [
            (throttled(15), 15),
            (throttled(None), 0),
            (throttled(0), 0),
            (llm.TransientError("x", kind="timeout"), 0),
        ],
        ids=["a pause", "none said", "none", "another failure"],
    )
    def test_a_provider_that_asks_for_a_pause_gets_it_from_everybody(self, gateway, error, pause_s):
        gateway.script = [error]

        async def main():
            with pytest.raises(llm.TransientError):
                await ask()
            return await begun(REQUEST)

        assert run(main()) == [pause_s]

    def test_the_provider_is_the_address_or_the_one_of_the_model(self, monkeypatch):
        monkeypatch.setenv("OUR_BASE", "http://10.0.0.7:8000/v1")
        request = llm.Request(model="hosted_vllm/ours", messages=(), api_base_env="OUR_BASE")

        assert speaking.provider_of(request) == "10.0.0.7:8000"
        assert speaking.provider_of(REQUEST) == "openai"


class TestSharing:
    @pytest.fixture
    def shared(self, settings, redis_url, prefix) -> None:
        settings.CELERY_BROKER_URL = redis_url
        settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": prefix}

    def test_workers_share_limits_and_pauses_through_redis(self, gateway, settings, shared, now):
        settings.HEART_LLM_LIMITS = {"openai": ProviderLimits(concurrency=1)}
        gateway.script = [throttled(3000)]

        async def worker() -> llm.ProviderError:
            try:
                with pytest.raises(llm.TransientError) as caught:
                    await speaking.ask_provider(REQUEST, clock=lambda: now)
            finally:
                backend: Any = speaking._limiter(lambda: now)._backend
                await backend._shared.close()
            return caught.value

        with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
            first = one.submit(asyncio.run, worker()).result()
            second = other.submit(asyncio.run, worker()).result()

        assert first.kind == "rate_limited"
        assert isinstance(second, speaking.NotAskedError)
        assert second.retry_after_s == pytest.approx(3000, abs=60)
        assert len(gateway.asked) == 1


@pytest.mark.django_db
class TestQueues:
    def test_a_call_whose_turn_is_far_off_waits_as_a_row_and_not_as_an_attempt(
        self, gateway, settings, clock
    ):
        """However often it has waited, it is never given up for that."""
        settings.HEART_LLM_LIMITS = ONE_A_MINUTE
        system = make_system(model_id="openai/some")
        calls = [make_generation_call(system=system, attempts=7) for _ in range(2)]

        services.generate_completions(clock=clock)

        for call in calls:
            call.refresh_from_db()
        done, waiting = sorted(calls, key=lambda call: call.state)
        assert (done.state, done.attempts) == (CallState.DONE, 8)
        assert (waiting.state, waiting.attempts) == (CallState.PENDING, 7)
        assert waiting.retry_at == clock.at + dt.timedelta(seconds=60)
        assert waiting.error_kind == speaking.NOT_ASKED
        clock.turn(seconds=60)
        services.generate_completions(clock=clock)
        waiting.refresh_from_db()
        assert (waiting.state, waiting.attempts, waiting.error_kind) == (CallState.DONE, 8, "")

    def test_a_pause_for_one_call_is_kept_by_the_others(self, gateway, settings, clock):
        settings.HEART_LLM_CONCURRENCY = 1
        gateway.script = [throttled(300)]
        for _ in range(3):
            make_generation_call(system=make_system(model_id="openai/some"))

        services.generate_completions(clock=clock)

        assert len(gateway.asked) == 1
        calls = GenerationCall.objects.order_by("pk")
        assert [call.attempts for call in calls] == [1, 0, 0]
        assert all(300 <= (call.retry_at - clock.at).total_seconds() < 301 for call in calls)

    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch) -> None:
        monkeypatch.setattr(speaking, "LONG_PATIENCE_S", 0.0)


PUBLIC, INNER, METADATA = "93.184.216.34", "10.0.0.7", "169.254.169.254"


class TestAddresses:
    """Before a model of one's own is asked, the numbers behind its host are looked at."""

    @pytest.fixture(autouse=True)
    def _deployed(self, settings):
        settings.HEART_LLM_HOSTS = ["vllm.lab"]
        settings.HEART_OFFLINE_LLM_URL = "http://offline-llm:8899/v1"

    @pytest.fixture
    def names(self, monkeypatch):
        """Have names stand for numbers without a network."""
        known: dict[str, list[str]] = {}

        def lookup(host, port, **_how):
            if host not in known:
                raise socket.gaierror
            return [(2, 1, 6, "", (number, port)) for number in known[host]]

        monkeypatch.setattr(socket, "getaddrinfo", lookup)
        return known

    def check(self, address):
        request = llm.Request(model="hosted_vllm/ours", messages=(), api_base=address)
        asyncio.run(speaking.check_address(request))

    @pytest.mark.parametrize(
        "numbers", [[INNER], [METADATA], ["127.0.0.1"], [PUBLIC, INNER], ["::1"]]
    )
    def test_a_name_that_leads_inside_is_not_asked(self, names, numbers):
        names["llm.example"] = numbers

        with pytest.raises(llm.PermanentError, match="HEART_LLM_HOSTS") as refusal:
            self.check("https://llm.example/v1")

        assert refusal.value.kind == "configuration"

    @pytest.mark.parametrize(
        ("address", "numbers"),
        [
            ("https://llm.example/v1", [PUBLIC]),
            ("http://vllm.lab:8000/v1", [INNER]),
            ("http://offline-llm:8899/v1", [INNER]),
            ("https://unknown.example/v1", []),
            ("", []),
        ],
    )
    def test_public_and_named_ones_are(self, names, address, numbers):
        if numbers:
            names[address.split("/")[2].partition(":")[0]] = numbers

        self.check(address)

    @pytest.mark.parametrize(
        ("model", "address"),
        [
            ("hosted_vllm/ours", "https://[ours/v1"),
            ("hosted_vllm/ours", "https://ours.example:99999/v1"),
            ("huggingface/https://10.0.0.7/v1", ""),
        ],
    )
    def test_where_nobody_can_tell_whom_a_call_would_reach_none_is_made(
        self, gateway, model, address
    ):
        request = llm.Request(model=model, messages=(), api_base=address)

        with pytest.raises(llm.PermanentError, match="Not asked") as refusal:
            asyncio.run(ask(request))

        assert gateway.asked == []
        assert refusal.value.kind == "configuration"

    def test_the_embedded_default_asks_this_machine_and_a_deployment_does_not(self):
        deployed = settings_with(HEART_BROKER_URL="redis://redis:6379/0")

        assert {"127.0.0.1", "localhost"} <= set(settings_with()["HEART_LLM_HOSTS"])
        assert deployed["HEART_LLM_HOSTS"] == []


def refusal(message: str, **more: Any) -> Answer:
    return said({"error": {"message": message, "type": "invalid_request_error", **more}}, 400)


REFUSALS = {
    "OpenAI": refusal(
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this "
        "model. Learn more about supported models at the Structured Outputs guide.",
        param=None,
    ),
    "Groq": refusal("This model does not support response format `json_schema`. See supported."),
    "DeepSeek": refusal("This response_format type is unavailable now"),
    "vLLM": refusal("response_format: Input should be 'text' or 'json_object'", param=None),
    "an older server": refusal("Unrecognized request argument supplied: response_format"),
}


@ASKS_LITELLM
class TestWaysToAskForJson:
    def ask(self, fake, **fields):
        schema = {"type": "object"}
        request = replace(REQUEST, api_base=fake.base_url, response_schema=schema, **fields)
        return pulling.run_on_loop(
            lambda _executor: speaking.ask_provider(request, clock=timezone.now)
        )

    def modes(self, fake):
        """Return how each question asked for JSON."""
        formats = [body.get("response_format") for body in fake.requests]
        return ["prompt" if one is None else one["type"] for one in formats]

    @pytest.mark.parametrize("refused", REFUSALS.values(), ids=REFUSALS)
    def test_a_model_that_refuses_a_schema_is_asked_in_the_next_way_and_that_is_remembered(
        self, fake, refused
    ):
        fake.script.append(refused)

        first, second = self.ask(fake), self.ask(fake)

        assert self.modes(fake) == ["json_schema", "json_object", "json_object"]
        assert first.text == second.text == "A kind word."
        assert first.honoured["schema_mode"] == "json_object"
        assert first.dropped == ("response_schema",)

    def test_a_model_that_refuses_both_is_asked_in_words(self, fake):
        fake.script.extend([REFUSALS["OpenAI"], REFUSALS["an older server"]])

        for _ in range(2):
            self.ask(fake)

        assert self.modes(fake) == ["json_schema", "json_object", "prompt", "prompt"]

    @pytest.mark.parametrize(
        ("refused", "fields"),
        [
            (REFUSALS["OpenAI"], {"schema_mode": "json_schema"}),
            (refusal("Unknown parameter: 'top_p'."), {}),
        ],
        ids=["what an entry states", "another bad request"],
    )
    def test_nothing_else_is_asked_again(self, fake, refused, fields):
        fake.script.append(refused)

        with pytest.raises(llm.PermanentError):
            self.ask(fake, **fields)

        assert self.modes(fake) == ["json_schema"]
