"""Files of dialogues in every format, in the shape that their authors give them; own words."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

SEEKER, SUPPORTER = "seeker", "supporter"
SPELLINGS = {
    "native": {SEEKER: "seeker", SUPPORTER: "supporter"},
    "hub": {SEEKER: "usr", SUPPORTER: "sys"},
    "failed": {SEEKER: "speaker", SUPPORTER: "listener"},
}
Said = Sequence[tuple[str, str]]

TALK: Said = (
    (SUPPORTER, "Good evening."),
    (SUPPORTER, "What is on your mind?"),
    (SEEKER, "The flat is so quiet since she left."),
    (SUPPORTER, "Quiet can be loud. When is it worst?"),
)
WORDS = st.text("ab \n\t", min_size=1, max_size=8).filter(str.strip)
TALKS = st.lists(st.tuples(st.sampled_from([SEEKER, SUPPORTER]), WORDS), max_size=12).filter(
    lambda said: {role for role, _ in said} == {SEEKER, SUPPORTER}
)
"""Any two who talk, in any order."""
HISTORY = [
    "Hello, I am glad that you write.",
    "I am not sure that this helps anybody.",
    "Then let us find out. What happened?",
    "My brother has not called since the funeral.",
]


def native(*said: tuple[str, str], strategy: str = "Question", **labels: Any) -> dict[str, Any]:
    """Return a dialogue as ESConv writes it; supporters' utterances have a strategy."""
    return {"dialog": [_utterance("native", one, strategy) for one in said or TALK], **labels}


def failed(*said: tuple[str, str], strategy: str = "Others", **labels: Any) -> dict[str, Any]:
    """Return a failed dialogue: other names, a line end after each text, feedback of the seeker."""
    dialog = [_utterance("failed", one, strategy) for one in said or TALK]
    for utterance in dialog:
        utterance["content"] += "\n"
        if utterance["speaker"] == "speaker":
            utterance["annotation"] = {"feedback": "3"}
    return {"dialog": dialog, **labels}


def hub(*said: tuple[str, str], strategy: str = "Question", **labels: Any) -> dict[str, Any]:
    """Return a dialogue in the hub's spelling."""
    utterances = native(*said, strategy=strategy)["dialog"]
    return as_hub({"dialog": utterances, **labels})


def as_hub(dialogue: dict[str, Any]) -> dict[str, Any]:
    """Return a native dialogue in the hub's spelling."""
    return dialogue | {
        "dialog": [
            {"text": one["content"], "speaker": SPELLINGS["hub"][one["speaker"]]}
            | one.get("annotation", {})
            for one in dialogue["dialog"]
        ]
    }


def own(*said: tuple[str, str], **fields: Any) -> dict[str, Any]:
    """Return a dialogue in the format of our own."""
    return {"turns": [{"role": role, "text": text} for role, text in said or TALK], **fields}


def item(**fields: Any) -> dict[str, Any]:
    """Return an item of the benchmark's authors; its history begins with the supporter."""
    return {
        "dialogue_history": HISTORY,
        "prev_speakers": None,
        "emotion_type": "sadness",
        "problem_type": "Issues with Family",
        "situation": "A brother who is silent after a loss.",
        "turn": 4,
        "vanilla_completion": "Silence after a funeral hurts twice. What would you ask him?",
    } | fields


def write_array(path: Path, records: Iterable[object]) -> Path:
    """Write a JSON array, indented as published files are."""
    path.write_text(json.dumps([*records], indent=1), encoding="utf-8")
    return path


def write_lines(path: Path, records: Iterable[object]) -> Path:
    """Write one record per line; text that is no record is written as it is."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _utterance(spelling: str, one: tuple[str, str], strategy: str) -> dict[str, Any]:
    role, text = one
    annotation = {"strategy": strategy} if role == SUPPORTER else {}
    return {
        "speaker": SPELLINGS[spelling][role],
        "annotation": annotation,
        "content": text,
    }
