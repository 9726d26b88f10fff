"""Prompt texts, kept as versioned files; a text is known by its hash."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SUPPORTER = "supporter-1"
CHAT_ROLES = {"seeker": "user", "supporter": "assistant"}
CORRECTION = """\
That answer cannot be used: {fault}.
Answer the same question again, with only the JSON object that fits the schema."""
_FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Prompt:
    """One version of a prompt."""

    name: str
    text: str
    around: str = ""
    """Wording of other messages that is the same every time."""

    @property
    def hash(self) -> str:
        """Return the SHA-256 of all that is the same whatever the prompt is asked about."""
        fixed = f"{self.text}\n{self.around}" if self.around else self.text
        return hashlib.sha256(fixed.encode()).hexdigest()


@cache
def load_prompt(name: str) -> Prompt:
    """Return the prompt of this name and version.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    return Prompt(name, (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip())


def with_schema(name: str, schema: Mapping[str, Any], *, around: str) -> Prompt:
    """Return the prompt of this name with the JSON schema of its answer filled in."""
    prompt = load_prompt(name)
    return Prompt(name, prompt.text.replace("{schema}", encoded(schema)), around)


def supporter_messages(
    turns: Sequence[Mapping[str, str]], prompt: Prompt
) -> tuple[dict[str, str], ...]:
    """Return a chat that asks for the next supporter turn; roles come from the turns alone.

    Raises
    ------
    ValueError
        If the dialogue does not end with the seeker, or a role is unknown.
    """
    roles = [turn["role"] for turn in turns]
    if not roles or roles[-1] != "seeker" or not CHAT_ROLES.keys() >= set(roles):
        msg = f"A supporter can only follow a seeker's turn; the roles are {roles}."
        raise ValueError(msg)
    chat = ({"role": CHAT_ROLES[turn["role"]], "content": turn["text"]} for turn in turns)
    return ({"role": "system", "content": prompt.text}, *chat)


def correction_messages(raw: str, fault: str) -> tuple[dict[str, str], ...]:
    """Return what follows an unusable answer, to ask once more."""
    return (
        {"role": "assistant", "content": raw},
        {"role": "user", "content": CORRECTION.format(fault=fault)},
    )


def encoded(value: Any) -> str:  # noqa: ANN401 (whatever JSON can hold)
    """Return ``value`` as JSON in which no text can close the section it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
