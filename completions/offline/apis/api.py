"""What the APIs of providers have in common."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from completions.offline.answers import Answer, RefusedRequestError

JsonObject = dict[str, Any]
Body = Mapping[str, Any]


@dataclass(frozen=True)
class ProviderRequest:
    """A request, as far as it matters for the answer."""

    messages: tuple[Mapping[str, str], ...]
    is_streamed: bool = False
    wants_usage: bool = True
    """Whether a stream shall end with the counts of tokens."""
    wants_logprobs: bool = False
    """Whether a whole answer shall say how probable each token was."""


@dataclass(frozen=True)
class Api:
    """One provider's way: where it is asked, what it sends, and how it answers.

    ``model`` never fails; ``read`` raises RefusedRequestError. ``events`` gives the stream's
    events, ready to be sent: a first part, one for each piece of text, and the rest.
    """

    path: re.Pattern[str]
    model: Callable[[str, Body], str]
    read: Callable[[str, Body], ProviderRequest]
    body: Callable[[Answer], JsonObject]
    events: Callable[[Answer, list[str], bool], Iterator[bytes]]
    error: Callable[[int, str], JsonObject]
    id_header: str = ""
    """A header that carries the answer's id, if there is one."""


def event(data: JsonObject, name: str = "") -> bytes:
    """Return a server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def read_messages(body: Body, read: Callable[[Body], list[dict[str, str]]]) -> tuple[Body, ...]:
    """Return the chat of a request as role and content.

    Raises
    ------
    RefusedRequestError
        If there is none, or it has another shape.
    """
    try:
        chat = tuple(read(body))
    except (KeyError, TypeError, AttributeError) as error:
        raise RefusedRequestError(400, f"No messages to answer: {error!r}.") from error
    if not chat:
        raise RefusedRequestError(400, "No messages to answer.")
    return chat


def text_of(content: Any) -> str:  # noqa: ANN401 (whatever JSON can hold)
    """Return a content that is a text, or a list of parts that hold texts."""
    if isinstance(content, str):
        return content
    return "".join(str(part["text"]) for part in content)
