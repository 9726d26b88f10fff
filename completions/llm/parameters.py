"""What is sent with a request, and what LiteLLM leaves out or renames."""

import importlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from completions.llm.exchange import CONFIGURATION, PermanentError, Request
from completions.llm.failures import as_error
from completions.llm.library import litellm

SCHEMA_KEYS = frozenset({"response_format", "output_format", "response_json_schema", "tools"})
"""Under one of these names LiteLLM passes a schema on, depending on the provider."""
N_ALTERNATIVES = 10
"""How many of the likeliest pieces of text are wanted at every place of an answer."""
LOGPROB_KEYS = frozenset({"logprobs", "responseLogprobs"})
"""Under one of these names LiteLLM passes the wish for log probabilities on."""
UNUSED_KEY = "unused"
SCHEMA_MODES = JSON_SCHEMA, JSON_OBJECT, PROMPT = "json_schema", "json_object", "prompt"
"""How a model may be asked for JSON, in the order in which the ways are tried."""
AS_SCHEMA = ("", JSON_SCHEMA)
IN_USER_TURN, DEVELOPER = "user", "developer"
OWN_BASES = {
    "docker_model_runner": "DOCKER_MODEL_RUNNER_API_BASE",
    "hosted_vllm": "HOSTED_VLLM_API_BASE",
    "langflow": "LANGFLOW_API_BASE",
    "langgraph": "LANGGRAPH_API_BASE",
    "lemonade": "LEMONADE_API_BASE",
    "litellm_proxy": "LITELLM_PROXY_API_BASE",
    "llamafile": "LLAMAFILE_API_BASE",
    "lm_studio": "LM_STUDIO_API_BASE",
    "ollama": "OLLAMA_API_BASE",
    "ollama_chat": "OLLAMA_API_BASE",
    "xinference": "XINFERENCE_API_BASE",
}
"""Providers whose servers are one's own, with the variable that says where."""
LIKE_OPENAI = ("openai/", "hosted_vllm/")


def sent_parameters(request: Request) -> dict[str, Any]:
    """Return the parameters that LiteLLM really sends for this request.

    It drops silently what it knows a model to refuse, and renames some.

    Raises
    ------
    PermanentError
        If no provider is known for the model.
    """
    parameters = json.dumps(_sampling(request), sort_keys=True)
    schema = _response_format(request) is not None and request.schema_mode in AS_SCHEMA
    try:
        return dict(_sent_parameters(request.model, parameters, with_schema=schema))
    except Exception as error:
        raise as_error(error) from error


@lru_cache(maxsize=256)
def _sent_parameters(model: str, parameters: str, *, with_schema: bool) -> dict[str, Any]:
    name, provider, _, _ = litellm().get_llm_provider(model)
    schema = {"response_format": _named({"type": "object"})} if with_schema else {}
    sent = importlib.import_module("litellm.utils").get_optional_params(
        model=name,
        custom_llm_provider=provider,
        drop_params=True,
        **json.loads(parameters),
        **schema,
    )
    plain = {key: value for key, value in sent.items() if isinstance(value, str | int | float)}
    if "logprobs" in parameters:
        plain["logprobs"] = not LOGPROB_KEYS.isdisjoint(sent)
    return plain | {"response_schema": with_schema and not SCHEMA_KEYS.isdisjoint(sent)}


def dropped(request: Request, honoured: Mapping[str, Any]) -> tuple[str, ...]:
    """Name what was asked for and not sent."""
    present = {
        "temperature": request.temperature is not None,
        "top_p": request.top_p is not None,
        "response_schema": request.response_schema is not None,
        "logprobs": request.logprobs,
        "max_tokens": "max_tokens" in request.leave_out,
        "stream_options": request.stream and not _counts_stream(request),
    }
    sent = {name for name, value in honoured.items() if value is not False}
    return tuple(name for name, wanted in present.items() if wanted and name not in sent)


def arguments(request: Request) -> dict[str, Any]:
    """Translate a request into LiteLLM's arguments, with its own retries off."""
    given: dict[str, Any] = {
        "model": request.model,
        "messages": messages(request),
        "timeout": request.timeout_s,
        "max_retries": 0,
        "num_retries": 0,
        "drop_params": True,
        **_sampling(request),
        **_credentials(request),
    }
    if (response_format := _response_format(request)) is not None:
        given["response_format"] = response_format
    if past := _past_litellm(request, given["messages"]):
        given["extra_body"] = past
    if request.stream:
        given["stream"] = True
        given |= {"stream_options": {"include_usage": True}} if _counts_stream(request) else {}
    return given


def _past_litellm(request: Request, chat: list[dict[str, str]]) -> dict[str, Any]:
    """Return what LiteLLM would spell in its own way, and goes into the body as it is stated."""
    found: dict[str, Any] = {}
    if request.token_limit and "max_tokens" not in request.leave_out:
        found[request.token_limit] = request.max_tokens
    if request.system_role == DEVELOPER and request.model.startswith(LIKE_OPENAI):
        found["messages"] = chat  # it says "system" to models that it does not know
    return found


def _counts_stream(request: Request) -> bool:
    return request.stream_options and "stream_options" not in request.leave_out


def messages(request: Request) -> list[dict[str, str]]:
    """Return the chat as this model takes it."""
    chat = [dict(message) for message in request.messages]
    if request.system_role == IN_USER_TURN:
        chat = _with_instructions_in_user_turn(chat)
    for message in chat:
        if message["role"] == "system":
            message["role"] = request.system_role
    if _needs_opening(request):
        place = next(n for n, message in enumerate(chat) if message["role"] == "assistant")
        chat.insert(place, {"role": "user", "content": request.opening})
    return chat


def _with_instructions_in_user_turn(chat: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the chat with its instructions before the first message of the user."""
    said = [one["content"] for one in chat if one["role"] == "system"]
    rest = [one for one in chat if one["role"] != "system"]
    if not said:
        return rest
    first = next((n for n, one in enumerate(rest) if one["role"] == "user"), None)
    if first is None:
        return [{"role": "user", "content": "\n\n".join(said)}, *rest]
    together = "\n\n".join([*said, rest[first]["content"]])
    return [*rest[:first], {"role": "user", "content": together}, *rest[first + 1 :]]


def conditions(request: Request) -> dict[str, str | int]:
    """Return what the model was told otherwise than the request says, for the record."""
    told: dict[str, str | int] = {"opening": request.opening} if _needs_opening(request) else {}
    if request.system_role != "system":
        told["system_role"] = request.system_role
    if request.response_schema is not None and request.schema_mode not in AS_SCHEMA:
        told["schema_mode"] = request.schema_mode
    if request.token_limit and "max_tokens" not in request.leave_out:
        told[request.token_limit] = request.max_tokens
    return told


def _needs_opening(request: Request) -> bool:
    roles = [one["role"] for one in request.messages if one["role"] != "system"]
    return bool(request.opening) and roles[:1] == ["assistant"]


def _sampling(request: Request) -> dict[str, Any]:
    """Return the sampling parameters to send; ``None`` means the model's own default."""
    wanted: dict[str, Any] = {"temperature": request.temperature, "top_p": request.top_p}
    if "claude" in request.model and request.temperature is not None and request.top_p == 1:
        del wanted["top_p"]  # Claude models refuse both at once, and 1 is no restriction
    given: dict[str, Any] = {
        name: value
        for name, value in wanted.items()
        if value is not None and name not in request.leave_out
    }
    if request.reasoning_effort is not None:
        given["reasoning_effort"] = request.reasoning_effort
    if request.logprobs and "logprobs" not in request.leave_out:
        given |= {"logprobs": True, "top_logprobs": N_ALTERNATIVES}
    if request.token_limit or "max_tokens" in request.leave_out:
        return given
    return {"max_tokens": request.max_tokens, **given}


def _credentials(request: Request) -> dict[str, str]:
    """Return the address and the key.

    Without a named variable LiteLLM takes the key of the provider it knows; an address of one's
    own gets no such key, or it would be sent to a stranger.
    """
    address = _address(request)
    base = OWN_BASES.get(request.model.partition("/")[0])
    if base and not (address or os.environ.get(base)):
        # LiteLLM would take the dialogue to OpenAI, or to whatever listens on this machine.
        msg = f"{request.model} needs an address."
        raise PermanentError(msg, kind=CONFIGURATION)
    found = {"api_base": address} if address else {}
    if request.api_key_env:
        return found | {"api_key": _from_environment(request.api_key_env)}
    return found | ({"api_key": UNUSED_KEY} if address else {})


def _address(request: Request) -> str:
    """Return the address of one's own to ask at, or nothing for the provider's."""
    if request.api_base or not request.api_base_env:
        return request.api_base
    return _from_environment(request.api_base_env)


def _from_environment(name: str) -> str:
    if value := os.environ.get(name, ""):
        return value
    msg = f"The environment has no {name}."
    raise PermanentError(msg, kind=CONFIGURATION)


def _response_format(request: Request) -> dict[str, Any] | None:
    """Return how the provider is asked for JSON, or None if the prompt alone asks for it."""
    schema = request.response_schema
    if schema is None or "response_format" in request.leave_out or request.schema_mode == PROMPT:
        return None
    return {"type": JSON_OBJECT} if request.schema_mode == JSON_OBJECT else _named(schema)


def _named(schema: Mapping[str, Any]) -> dict[str, Any]:
    named = {"name": "answer", "strict": True, "schema": dict(schema)}
    return {"type": JSON_SCHEMA, "json_schema": named}
