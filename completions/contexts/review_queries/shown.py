"""What the pages on one context or one candidate show: frozen values."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from completions.contexts.adversarial.curves import Curve
from completions.contexts.screening.highlights import Entry, Marked, MarkedTalk


@dataclass(frozen=True)
class Opinion:
    """What one assistant said of a candidate; ``qualifies`` is None until it has said it."""

    assistant: str
    is_simulated: bool
    state_label: str
    qualifies: bool | None
    reason: str
    quotes: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Verdicts:
    """What the rules and the assistants found of one kind: a row of their comparison."""

    rule: str
    is_signal: bool
    fired: bool
    quotes: tuple[tuple[str, ...], ...]
    """Per assistant, the words that it names for this rule."""


@dataclass(frozen=True)
class Reading:
    """What a reader sees of a point in a dialogue, and what was found in it."""

    talk: MarkedTalk
    situation: Marked
    reply: Marked | None
    reply_index: int
    legend: tuple[Entry, ...]
    is_suitable: bool | None
    """What the rules made of it; None if they never screened it."""
    opinions: tuple[Opinion, ...]
    verdicts: tuple[Verdicts, ...]


@dataclass(frozen=True)
class Change:
    """One rewritten turn: pieces of the source and of the rewrite, with what differs."""

    place: int
    before: tuple[tuple[str, bool], ...]
    after: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class RewriteShown:
    """How an adversarial context came out of its source."""

    profile_label: str
    source_key: str
    curve: Curve
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Decision:
    """One entry of the log about a context."""

    at: dt.datetime
    by: str
    before: str
    after: str
    note: str


@dataclass(frozen=True)
class ContextShown:
    """One context with all that a reviewer weighs."""

    key: str
    review: str
    review_label: str
    note: str
    is_adversarial: bool
    is_simulated: bool
    emotion: str
    problem: str
    dialogue: int
    candidate: int | None
    reading: Reading
    rewrite: RewriteShown | None
    provenance: Mapping[str, Any]
    content_hash: str
    history: tuple[Decision, ...]


@dataclass(frozen=True)
class CandidateShown:
    """One candidate with what screening found, to read."""

    pk: int
    emotion: str
    problem: str
    dialogue: int
    turn: int
    outcome: str
    reasons: tuple[str, ...]
    rules: str
    reading: Reading
    context_keys: tuple[str, ...]
