"""Ask models one cheap question before a run: what they take, what is left out, what it costs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from completions import llm
from completions.runs import pulling
from completions.runs.services import questions, speaking
from completions.runs.services.questions import Clock, ModelEndpoint

MAX_TOKENS = 300
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"greeting": {"type": "string"}},
    "required": ["greeting"],
    "additionalProperties": False,
}
IN_JSON = (
    "Answer with one JSON object that fits this schema, with nothing before or after it: "
    '{"type": "object", "properties": {"greeting": {"type": "string"}}, "required": ["greeting"]}'
)
IN_WORDS = "Answer with one short sentence."
SAID = "Hello."


@dataclass(frozen=True)
class Tried:
    """A model, and what came of its question: a reply, or a failure."""

    slug: str
    is_simulated: bool
    reply: llm.Reply | None = None
    error: llm.ProviderError | None = None


def try_endpoints(
    endpoints: Collection[ModelEndpoint], *, clock: Clock, in_json: bool
) -> list[Tried]:
    """Ask each model for a greeting, as a judge is asked if ``in_json``, one after the other.

    Nothing is stored. A model's own parameters hold, as in a run.
    """
    return [_tried(one, clock, in_json=in_json) for one in endpoints]


def _tried(endpoint: ModelEndpoint, clock: Clock, *, in_json: bool) -> Tried:
    try:
        request = questions.request_to(
            endpoint,
            messages=(
                {"role": "system", "content": IN_JSON if in_json else IN_WORDS},
                {"role": "user", "content": SAID},
            ),
            max_tokens=MAX_TOKENS,
            **({"response_schema": SCHEMA} if in_json else {"stream": True}),
        )
        reply = pulling.run_on_loop(lambda _executor: speaking.ask_provider(request, clock=clock))
    except Exception as error:  # whatever it is, the others are asked
        return Tried(endpoint.slug, endpoint.is_simulated, error=llm.as_error(error))
    return Tried(endpoint.slug, endpoint.is_simulated, reply=reply)
