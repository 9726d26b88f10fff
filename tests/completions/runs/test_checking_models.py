"""Models are asked in the way that they take, and can be asked one cheap question before a run."""

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from completions import llm
from completions.runs import pulling
from completions.runs.services import speaking
from tests.helpers.factories import make_judge, make_system
from tests.helpers.providers import (
    ASKS_LITELLM,
    Answer,
    Provider,
    choice,
    completion,
    providing,
    said,
    streamed,
)

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]
GREETING = json.dumps({"greeting": "Hello."})


@pytest.fixture
def fake(settings) -> Iterator[Provider]:
    with providing() as provider:
        settings.HEART_OFFLINE_LLM_URL = provider.base_url
        provider.always = completion(choice(GREETING))
        yield provider


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


def ask(provider: Provider, **fields: Any) -> llm.Reply:
    request = llm.Request(
        model="openai/fake",
        messages=({"role": "user", "content": "Hello."},),
        api_base=provider.base_url,
        response_schema={"type": "object"},
        **fields,
    )
    return pulling.run_on_loop(lambda _executor: speaking.ask_provider(request, clock=timezone.now))


def modes(provider: Provider) -> list[str]:
    """Return how each question asked for JSON."""
    formats = [body.get("response_format") for body in provider.requests]
    return ["prompt" if one is None else one["type"] for one in formats]


@pytest.mark.parametrize("refused", REFUSALS.values(), ids=REFUSALS)
def test_a_model_that_refuses_a_schema_is_asked_in_the_next_way_and_that_is_remembered(
    fake, refused
):
    fake.script.append(refused)

    first, second = ask(fake), ask(fake)

    assert modes(fake) == ["json_schema", "json_object", "json_object"]
    assert (first.text, second.text) == (GREETING, GREETING)
    assert first.honoured["schema_mode"] == "json_object"
    assert first.dropped == ("response_schema",)


def test_a_model_that_refuses_both_is_asked_in_words(fake):
    fake.script.extend([REFUSALS["OpenAI"], REFUSALS["an older server"]])

    ask(fake)
    ask(fake)

    assert modes(fake) == ["json_schema", "json_object", "prompt", "prompt"]


def test_what_an_entry_states_is_not_tried_in_another_way(fake):
    fake.script.append(REFUSALS["OpenAI"])

    with pytest.raises(llm.PermanentError):
        ask(fake, schema_mode="json_schema")

    assert modes(fake) == ["json_schema"]


def test_another_bad_request_is_not_asked_again(fake):
    fake.script.append(refusal("Unknown parameter: 'top_p'."))

    with pytest.raises(llm.PermanentError):
        ask(fake)

    assert len(fake.requests) == 1


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_judges_are_asked_for_json_and_what_they_took_is_told(fake):
    make_judge(slug="ash", name="Simulated ash", model_id="hosted_vllm/x", is_simulated=True)
    fake.script.append(REFUSALS["OpenAI"])

    told = run("judges", "check")

    assert told.startswith("ash (simulated): answered in ")
    assert "charged 7 + 3 tokens, an unknown price" in told
    assert "schema_mode json_object" in told
    assert "dropped: response_schema" in told


def test_systems_are_asked_for_a_sentence_and_told_in_json(fake):
    make_system(
        slug="elm",
        name="Simulated elm",
        model_id="hosted_vllm/x",
        is_simulated=True,
        parameters={"price": {"input": 1.0, "output": 2.0}, "leave_out": ["top_p"]},
    )
    fake.always = streamed(choice("<think>hm</think>Hello."))

    [row] = json.loads(run("systems", "check", "elm", "--json"))

    assert (row["slug"], row["failed"], row["is_simulated"]) == ("elm", "", True)
    assert row["dropped"] == ["top_p"]
    assert row["stripped"] == ["thoughts"]
    assert row["cost_usd"] == pytest.approx((7 * 1 + 3 * 2) / 1e6)


def test_one_that_fails_is_told_with_the_others_and_ends_with_code_1(fake):
    for slug in ("ash", "elm"):
        make_judge(slug=slug, name=f"Simulated {slug}", model_id="hosted_vllm/x", is_simulated=True)
    fake.script.append(said({"error": {"message": "Wrong key."}}, 401))

    with pytest.raises(CommandError) as raised:
        run("judges", "check")

    assert raised.value.returncode == 1
    assert "ash (simulated): authentication: " in str(raised.value)
    assert "elm (simulated): answered" in str(raised.value)


@pytest.mark.parametrize("command", ["judges", "systems"])
def test_an_unknown_name_is_refused(command):
    with pytest.raises(CommandError, match="unknown") as raised:
        run(command, "check", "nobody")

    assert raised.value.returncode == 2
