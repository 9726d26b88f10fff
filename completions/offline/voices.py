"""Three simulated supporters: deterministic replies built from the seeker's last turns."""

from collections.abc import Callable, Mapping, Sequence

from completions.offline.behaviour import fraction
from completions.offline.lexicon import HeardTurns, listen
from completions.offline.phrases import (
    ALDER_ASKS,
    ALDER_OPENS,
    BIRCH_OPENS,
    BIRCH_STEPS,
    CEDAR_CLOSES,
    CEDAR_MIDDLES,
    CEDAR_OPENS,
    CLOSING_ENDS,
    CLOSING_OPENS,
    CRISIS_REPLIES,
    HOSTILE_OPENS,
)

Options = Mapping[str, tuple[str, ...]]
Messages = Sequence[Mapping[str, str]]


def alder(heard: HeardTurns, key: str) -> str:
    """Say back the feeling and the topic in a warm way, then ask."""
    return _two_parts("alder", ALDER_OPENS, ALDER_ASKS, heard, key)


def birch(heard: HeardTurns, key: str) -> str:
    """Acknowledge in a few words, then offer one small step."""
    return _two_parts("birch", BIRCH_OPENS, BIRCH_STEPS, heard, key)


def cedar(_heard: HeardTurns, key: str) -> str:
    """Offer comfort that would fit anyone."""
    parts = (
        _pick(options, key + str(place))
        for place, options in enumerate((CEDAR_OPENS, CEDAR_MIDDLES, CEDAR_CLOSES))
    )
    return " ".join(part for part in parts if part)


VOICES: Mapping[str, Callable[[HeardTurns, str], str]] = {
    "offline-alder": alder,
    "offline-birch": birch,
    "offline-cedar": cedar,
}


def reply(voice: str, messages: Messages) -> str:
    """Return the reply of ``voice`` to a chat; the same chat always gets the same reply."""
    seeker_turns = [message["content"] for message in messages if message["role"] == "user"]
    heard = listen(seeker_turns)
    key = f"{voice}\n" + "\n".join(message["content"] for message in messages)
    if heard.in_crisis:
        return CRISIS_REPLIES[voice]
    return VOICES[voice](heard, key)


def _two_parts(voice: str, opens: Options, ends: Options, heard: HeardTurns, key: str) -> str:
    """Return an opening that fits what was heard, and what the voice adds to it."""
    opening, ending = opens[_shape(heard)], ends[heard.group or "any"] + ends["any"]
    if heard.is_hostile:
        opening, ending = HOSTILE_OPENS[voice], ends["any"]
    elif heard.is_closing:
        opening, ending = CLOSING_OPENS[voice], CLOSING_ENDS[voice]
    return _fill(f"{_pick(opening, key + 'open')} {_pick(ending, key + 'end')}", heard)


def _shape(heard: HeardTurns) -> str:
    """Say which openings fit."""
    if heard.group == "loss":
        return "loss"
    if heard.feeling and heard.topic:
        return "both"
    if heard.feeling:
        return "feeling"
    return "topic" if heard.topic else "neither"


def _fill(text: str, heard: HeardTurns) -> str:
    """Put the feeling and the topic into a template."""
    return text.format(feeling=heard.feeling or "low", topic=heard.topic or "all of this")


def _pick(options: Sequence[str], key: str) -> str:
    """Choose one option by the hash of ``key``."""
    return options[int(fraction(key) * len(options))]
