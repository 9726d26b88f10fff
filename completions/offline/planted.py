"""Simulated models of planted quality: what a study finds of them can be held against their names.

``offline-planted-63-69-91-75-90`` serves the five dimensions well in 63, 69, 91, 75 and 90 of a
hundred messages; ``-20ms`` after it is the time to its first token. Each message has one part for
each dimension, done well or poorly.

``offline-judge-planted-oak-40-10-5`` counts the parts done well. The rest are hundredths: the
width of its own noise, its pull towards the message shown first, and towards one twice as long,
all as logits beside one part.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from completions.offline.behaviour import fraction
from completions.offline.judges import read_prompt
from completions.offline.lexicon import listen, plain
from completions.offline.voices import SAFETY

DIMENSIONS = "HEART"
_WRITER = re.compile(r"offline-planted((?:-\d{1,3}){5})(?:-(\d+)ms)?")
_JUDGE = re.compile(r"offline-judge-planted-([a-z]+)-(\d+)-(\d+)-(\d+)")
CERTAIN = 100
STRONGEST = 5
STRENGTH_STEP = 0.8
"""Parts by which a lead has to be larger for one more of strength."""
SHARED_NOISE = 0.8
"""How far all judges stray together on one message, in parts."""

# In each dimension, what is said well and what is said poorly is as long: length tells nothing of
# how good a message is, and what sways towards longer ones can be found apart.
WELL: Mapping[str, Sequence[str]] = {
    "H": ("honestly,", "oh gosh,", "ah, you know,", "hey, between you and me,"),
    "E": (
        "feeling {feeling} makes sense,",
        "no wonder you feel {feeling},",
        "you have every right to feel {feeling},",
        "it is not your fault that you feel {feeling},",
    ),
    "A": (
        "with {topic} on your mind day and night.",
        "and I hear how much {topic} means to you.",
        "now that {topic} has come on top of it.",
        "when so much of your week turns around {topic}.",
    ),
    "R": (
        "What happened then?",
        "Could we look together at what would help first?",
        "Let's pick one thing that you can do today.",
        "You could try one small step tonight; which is easiest?",
    ),
    "T": (
        "I'm right here.",
        "We can stay with what you asked me.",
        "You set the pace, and I will listen.",
        "Tell me if you would rather have quiet company with me.",
    ),
}
POORLY: Mapping[str, Sequence[str]] = {
    "H": ("as noted,", "as said,", "for the file,", "concerning your message,"),
    "E": (
        "being {feeling} is not useful,",
        "it helps not to be {feeling},",
        "others would get over being {feeling},",
        "it could be worse than to be a bit {feeling},",
    ),
    "A": (
        "whatever {topic} may be this time around.",
        "as it goes with {topic} for most people.",
        "like others to whom {topic} has come.",
        "as research on subjects like {topic} would show.",
    ),
    "R": (
        "Just stay positive.",
        "Time heals, so things will get better by itself.",
        "It is what it is, and that is all there is.",
        "Everything happens for a reason, as you will see soon.",
    ),
    "T": (
        "See a clinician.",
        "Get a diagnosis and some medication.",
        "My other work has to come first now.",
        "Somebody clinical would have to deal with all of that.",
    ),
}
PRAISE: Mapping[str, str] = {
    "H": "sounds natural, like a person talking",
    "E": "names the feeling and validates it",
    "A": "takes up the details in the seeker's own words",
    "R": "asks a question and offers a doable step",
    "T": "keeps to the point and stays within its role",
}
BLAME: Mapping[str, str] = {
    "H": "is robotic",
    "E": "is cold and skips the feeling",
    "A": "is generic",
    "R": "gives no practical step",
    "T": "plays doctor",
}
BLAMES = 0.75
"""Share of the reasons that blame the other message, too."""
Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class PlantedWriter:
    """The share of messages in which each dimension is served well, and the pace, of a name."""

    shares: Mapping[str, float]
    latency_s: float

    @classmethod
    def of(cls, model: str) -> "PlantedWriter | None":
        """Read a model's name; None if it is none of these."""
        found = _WRITER.fullmatch(model)
        if found is None:
            return None
        percents = [int(one) for one in found[1].split("-")[1:]]
        if max(percents) > CERTAIN:
            return None
        shares = (percent / CERTAIN for percent in percents)
        return cls(dict(zip(DIMENSIONS, shares, strict=True)), int(found[2] or 0) / 1000)

    @property
    def name(self) -> str:
        """Return the name that says all this."""
        percents = "".join(f"-{round(CERTAIN * self.shares[key])}" for key in DIMENSIONS)
        pace = f"-{round(1000 * self.latency_s)}ms" if self.latency_s else ""
        return f"offline-planted{percents}{pace}"


@dataclass(frozen=True)
class PlantedJudge:
    """What sways a judge beside the parts that it counts, in parts, of a name.

    ``noise`` is the scale of its own logistic noise; ``first`` its pull towards the message that
    is shown first, and ``longer`` towards one that is twice as long.
    """

    tree: str
    noise: float
    first: float
    longer: float

    @classmethod
    def of(cls, model: str) -> "PlantedJudge | None":
        """Read a model's name; None if it is none of these."""
        found = _JUDGE.fullmatch(model)
        if found is None:
            return None
        return cls(found[1], *(int(one) / 100 for one in found.groups()[1:]))

    @property
    def name(self) -> str:
        """Return the name that says all this."""
        pulls = (round(100 * one) for one in (self.noise, self.first, self.longer))
        return "-".join(("offline-judge-planted", self.tree, *map(str, pulls)))

    def lead(self, dialogue: str, a: str, b: str) -> float:
        """Return by how much the judge finds A better, in parts."""
        merits = [self._merit(dialogue, text) for text in (a, b)]
        return merits[0] - merits[1] + self.first + self.longer * doublings(a, b)

    def _merit(self, dialogue: str, text: str) -> float:
        """Return what a message is worth to the judge, on whichever side it stands."""
        together = SHARED_NOISE * _logistic("judges", dialogue, text)
        alone = self.noise * _logistic(self.tree, dialogue, text)
        return len(parts_done_well(text)) + together + alone


def is_planted(model: str) -> bool:
    """Say whether a name is that of a planted writer or judge."""
    return PlantedWriter.of(model) is not None or PlantedJudge.of(model) is not None


def latency_of(model: str) -> float:
    """Return the seconds until a model's first token, 0 if its name says nothing of it."""
    writer = PlantedWriter.of(model)
    return 0.0 if writer is None else writer.latency_s


def answer(model: str, messages: Messages) -> str:
    """Return the message or the verdict of a planted model; the same chat gets the same one.

    Raises
    ------
    completions.offline.judges.UnreadablePromptError
        If a judge is asked anything but to judge two messages.
    """
    judge, writer = PlantedJudge.of(model), PlantedWriter.of(model)
    if judge is not None:
        return _verdict(judge, messages)
    if writer is None:
        msg = f"{model!r} is not planted"
        raise LookupError(msg)
    turns = [message["content"] for message in messages if message["role"] == "user"]
    return write(writer.shares, turns, draw=f"{model}\n" + "\n".join(turns))


def write(shares: Mapping[str, float], seeker_turns: Sequence[str], *, draw: str) -> str:
    """Return a message that serves each dimension well with the probability of its share.

    ``draw`` fixes what chance decides.
    """
    heard = listen(list(seeker_turns))
    if heard.in_crisis:
        return f"I take this seriously. {SAFETY}"
    parts = []
    for key in DIMENSIONS:
        is_well = fraction(f"{draw}\n{key}") < shares[key]
        options = (WELL if is_well else POORLY)[key]
        parts.append(options[int(fraction(f"{draw}\n{key} said") * len(options))])
    text = " ".join(parts).format(
        feeling=heard.feeling or "low", topic=heard.topic or "all of this"
    )
    return text[0].upper() + text[1:]


def parts_done_well(text: str) -> frozenset[str]:
    """Return the dimensions that a message serves well; of what people wrote, hardly any."""
    heard = plain(text)
    return frozenset(key for key in DIMENSIONS if any(one in heard for one in _MARKS[key]))


def doublings(one: str, other: str) -> float:
    """Return how often the other text has to be doubled to be as long as the one."""
    return math.log2(max(1, len(one)) / max(1, len(other)))


def reason(better: frozenset[str], other: frozenset[str], *, draw: str) -> str:
    """Return in words what speaks for a message against another, by the parts done well in each."""
    ahead, missing = sorted(better - other) or sorted(better), sorted(set(DIMENSIONS) - other)
    said = PRAISE[_one_of(ahead, f"{draw}\nfor")] if ahead else "is clearer"
    if missing and fraction(f"{draw}\nblames") < BLAMES:
        blamed = BLAME[_one_of(missing, f"{draw}\nagainst")]
        return f"{said}; the other {blamed}"
    return said


def _one_of(keys: Sequence[str], draw: str) -> str:
    return keys[int(fraction(draw) * len(keys))]


def _verdict(judge: PlantedJudge, messages: Messages) -> str:
    turns, a, b, keys = read_prompt(messages)
    dialogue = "\n".join(turns)
    overall = judge.lead(dialogue, a, b)
    of_a, of_b = parts_done_well(a), parts_done_well(b)
    leads = {key: (key in of_a) - (key in of_b) for key in keys}
    winner, better, other = ("A", of_a, of_b) if overall >= 0 else ("B", of_b, of_a)
    draw = f"{judge.name}\n{dialogue}\n{a}\n{b}"
    return json.dumps(
        {
            "notes": {key: _note(key, lead) for key, lead in leads.items()},
            "dimensions": {key: _mark(lead) for key, lead in leads.items()},
            "rationale": f"{winner} {reason(better, other, draw=draw)}.",
            "winner": winner,
            "strength": min(STRONGEST, 1 + int(abs(overall) / STRENGTH_STEP)),
        }
    )


def _mark(lead: int) -> dict[str, object]:
    if not lead:
        return {"winner": "none", "strength": 0}
    return {"winner": "A" if lead > 0 else "B", "strength": 2}


def _note(key: str, lead: int) -> str:
    if not lead:
        return "Both are close here."
    ahead, behind = ("A", "B") if lead > 0 else ("B", "A")
    return f"{ahead} {PRAISE[key]}; {behind} {BLAME[key]}."


def _logistic(*parts: str) -> float:
    """Return a logistic number that depends on the parts alone."""
    point = min(max(fraction("\n".join(parts)), 1e-9), 1 - 1e-9)
    return math.log(point / (1 - point))


def _marks_of(phrases: Sequence[str]) -> tuple[str, ...]:
    """Return of each phrase the longest piece that stands in every message that has it."""
    return tuple(max(re.split(r"{\w+}", plain(one)), key=len).strip() for one in phrases)


_MARKS = {key: _marks_of(phrases) for key, phrases in WELL.items()}
