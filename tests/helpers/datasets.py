"""Datasets and files of dialogues: every format, a few contexts, completions made elsewhere."""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import strategies as st

from completions.choices import Way
from completions.contexts.screening.rules import rules_version
from completions.dialogues.ingest.dialogue import BadRecord, IngestError
from completions.dialogues.ingest.formats import EXPECTED, first_format, parse
from completions.models import Candidate, Context, Dataset, Dialogue
from completions.systems.importing import ImportedRow
from completions.systems.services.importing import IntakeReport, import_completions
from tests.helpers.factories import (
    NOW,
    make_candidate,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_system,
)
from tests.helpers.factories_written_once import make_user

SEEKER, SUPPORTER = "seeker", "supporter"
SPELLINGS = {
    "native": {SEEKER: "seeker", SUPPORTER: "supporter"},
    "hub": {SEEKER: "usr", SUPPORTER: "sys"},
    "failed": {SEEKER: "speaker", SUPPORTER: "listener"},
}
Said = Sequence[tuple[str, str]]

DIALOGUE: Said = (
    (SUPPORTER, "Good evening."),
    (SUPPORTER, "What is on your mind?"),
    (SEEKER, "The flat is so quiet since she left."),
    (SUPPORTER, "Quiet can be loud. When is it worst?"),
)
WORDS = st.text("ab \n\t", min_size=1, max_size=8).filter(str.strip)
UTTERANCES = st.lists(st.tuples(st.sampled_from([SEEKER, SUPPORTER]), WORDS), max_size=12).filter(
    lambda said: {role for role, _ in said} == {SEEKER, SUPPORTER}
)
"""Any two who dialogue, in any order."""
HISTORY = [
    "Hello, I am glad that you write.",
    "I am not sure that this helps anybody.",
    "Then let us find out. What happened?",
    "My brother has not called since the funeral.",
]


def native(*said: tuple[str, str], strategy: str = "Question", **labels: Any) -> dict[str, Any]:
    """Return a dialogue as ESConv writes it; supporters' utterances have a strategy."""
    return {"dialog": [_utterance("native", one, strategy) for one in said or DIALOGUE], **labels}


def failed(*said: tuple[str, str], strategy: str = "Others", **labels: Any) -> dict[str, Any]:
    """Return a failed dialogue: other names, a line end after each text, feedback of the seeker."""
    dialog = [_utterance("failed", one, strategy) for one in said or DIALOGUE]
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
    return {"turns": [{"role": role, "text": text} for role, text in said or DIALOGUE], **fields}


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


CURRENT = rules_version("en")


def make_turns(n_couplets: int) -> list[dict[str, str]]:
    """Return turns with so many couplets that end on a supporter's turn."""
    pair = [{"role": "seeker", "text": "I feel low."}, {"role": "supporter", "text": "Since when?"}]
    return pair * n_couplets


def screen(dialogue: Dialogue, *outcomes: list[str] | str, rules: str = CURRENT) -> list[Candidate]:
    """Store a candidate per outcome: a list of reasons, "suitable", or "" for no signal."""
    return [
        make_candidate(
            dialogue=dialogue,
            turn_index=2 * place,
            rules=rules,
            reasons=outcome if isinstance(outcome, list) else [],
            is_suitable=outcome == "suitable",
        )
        for place, outcome in enumerate(outcomes)
    ]


def make_screened_dataset(slug: str = "talks") -> Dataset:
    """Three dialogues in two emotions and three cells, six candidates, two contexts."""
    dataset = make_dataset(slug=slug)
    labels = [("fear", "job"), ("fear", "exam"), ("anger", "job")]
    sad, exam, angry = (
        make_dialogue(
            dataset=dataset,
            emotion_type=emotion,
            problem_type=problem,
            turns=make_turns(n),
            n_utterances=10 * n,
        )
        for (emotion, problem), n in zip(labels, (3, 1, 2), strict=True)
    )
    screen(sad, "suitable", ["self-harm", "violence"], "suitable")
    screen(exam, "")
    screen(angry, ["violence"], ["violence", "too-short"])
    for turn in (0, 4):
        make_context(dialogue=sad, turn_index=turn)
    return dataset


def make_dialogues(*, n_systems: int = 4) -> Dataset:
    """Make two contexts with a completion of every system in each."""
    dataset = make_dataset()
    systems = [make_system(slug=f"system-{n}") for n in range(n_systems)]
    for _ in range(2):
        context = make_context(dataset=dataset)
        for system in systems:
            make_completion(context=context, system=system)
    return dataset


TURNS = [
    {"role": "supporter", "text": "Hello — how are you?"},
    {"role": "seeker", "text": "My boss “shouted” at me…  <script>alert(1)</script>"},
    {"role": "supporter", "text": "That sounds hard. What happened then?"},
    {"role": "seeker", "text": "I feel \u2013 so sad; what should I do?"},
    {"role": "supporter", "text": "Would it help to write to her?"},
]
SITUATION = "Shouting at work."


def finding(rule: str, turn: int | None, words: str) -> dict[str, Any]:
    """Return a finding on the first place where the words stand."""
    text = SITUATION if turn is None else TURNS[turn]["text"]
    start = text.index(words)
    return {"rule": rule, "turn": turn, "start": start, "end": start + len(words)}


FINDINGS = [
    finding("distress", 3, "so sad"),
    finding("help", 3, "what should I do"),
    finding("violence", 1, "“shouted” at me"),
    finding("violence", None, "Shouting"),
    finding("clinical", 4, "write to her"),
    finding("too-short", 3, TURNS[3]["text"]),
]


def make_reviewable(
    *, dataset: Dataset | None = None, key: str = "key-0", **fields: Any
) -> Context:
    dialogue = make_dialogue(
        dataset=dataset or make_dataset(slug="talks", name="Talks"),
        turns=TURNS,
        situation=SITUATION,
        emotion_type="fear",
        problem_type="job",
    )
    usual: dict[str, Any] = {
        "dialogue": dialogue,
        "key": key,
        "turn_index": 3,
        "turns": TURNS[:4],
        "provenance": {
            "dialogue": dialogue.content_hash,
            "signals": ["distress", "help"],
            "findings": FINDINGS,
            "screening": "screening-1 abc",
            "selection": "cells-2",
            "seed": 7,
        },
    }
    return make_context(**usual | fields)


def address(key: str, query: str = "") -> str:
    """Return where the context of that key is reviewed."""
    return f"/console/contexts/talks/{key}/{query}"


TEXT = "That sounds lonely. What would a good evening look like?"


def row(position: int = 0, **fields: Any) -> ImportedRow:
    given: dict[str, Any] = {"context": "abc", "system": "ash", "text": TEXT}
    return ImportedRow(position, **given | fields)


def import_rows(*rows: Any, by: User | None = None, **options: Any) -> IntakeReport:
    given: dict[str, Any] = {"way": Way.API, "now": NOW}
    return import_completions(rows=rows, by=by or make_user(), **given | options)


REPOSITORY = Path(__file__).resolve().parents[2]


def shared_file(name: str) -> Path:
    """Return the path of a shared file, or skip the test with a line that says where to put it.

    The folder is ``HEART_SHARED_DATA``, or ``../shared/data`` beside the repository.
    """
    beside = REPOSITORY.parent / "shared" / "data"
    folder = Path(os.environ.get("HEART_SHARED_DATA") or beside)
    path = folder / name
    if not path.exists():
        pytest.skip(f"{name} is not in {folder}; set HEART_SHARED_DATA to the folder that has it")
    return path


def parse_record(record, number):
    """Read the record as the ``number``-th of its file, or refuse it as the file would be."""
    among = first_format(record)
    if among is None:
        msg = f"dialogue {number}: unknown format: {EXPECTED}"
        raise IngestError(msg)
    parsed = parse(record, among, f"{among.noun} {number}")
    if isinstance(parsed, BadRecord):
        raise IngestError(parsed)
    return parsed
