"""Ask models one cheap question before a run: what they take, what is left out, what it costs."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

from completions import llm
from completions.runs import pulling
from completions.runs.services import calling, speaking
from completions.runs.services.budgeting import ModelEndpoint
from completions.runs.services.calling import Clock

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


TriedModel: TypeAlias = Mapping[str, Any]
"""What came of a model's question, as JSON may hold it: a failure, or what the reply took."""


def try_endpoints(
    endpoints: Collection[ModelEndpoint], *, clock: Clock, in_json: bool
) -> list[TriedModel]:
    """Ask each model for a greeting, as a judge is asked if ``in_json``, one after the other.

    Nothing is stored. A model's own parameters hold, as in a run.
    """
    return [
        {"slug": one.slug, "is_simulated": one.is_simulated, **_tried(one, clock, in_json=in_json)}
        for one in endpoints
    ]


def _tried(endpoint: ModelEndpoint, clock: Clock, *, in_json: bool) -> TriedModel:
    try:
        request = calling.request_to(
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
        found = llm.as_error(error)
        return {"failed": found.kind, "detail": str(found)}
    return {
        "failed": "",
        "latency_ms": reply.latency_ms,
        "honoured": dict(reply.honoured),
        "dropped": list(reply.dropped),
        "stripped": list(reply.stripped),
        "n_prompt_tokens": reply.n_prompt_tokens,
        "n_completion_tokens": reply.n_completion_tokens,
        "cost_usd": reply.cost_usd,
    }


def told(tried: Collection[TriedModel]) -> str:
    """Return what came of each question, for people."""
    return "\n".join(line for one in tried for line in _lines(one))


def _lines(row: TriedModel) -> Iterator[str]:
    name = f"{row['slug']} (simulated)" if row["is_simulated"] else row["slug"]
    if row["failed"]:
        yield f"{name}: {row['failed']}: {' '.join(row['detail'].split())}"
        return
    yield f"{name}: answered in {row['latency_ms']} ms; charged {_charged(row)}"
    yield f"  honoured: {', '.join(f'{key} {one}' for key, one in row['honoured'].items())}"
    if row["dropped"]:
        yield f"  dropped: {', '.join(row['dropped'])}"
    if row["stripped"]:
        yield f"  taken off: {', '.join(row['stripped'])}"


def _charged(row: TriedModel) -> str:
    """Return what the question took: tokens and US dollars, as far as anybody says so."""
    asked, answered = row["n_prompt_tokens"], row["n_completion_tokens"]
    tokens = "unknown tokens" if asked is None else f"{asked} + {answered} tokens"
    cost = row["cost_usd"]
    return f"{tokens}, {'an unknown price' if cost is None else f'{cost:.6f} US dollars'}"
