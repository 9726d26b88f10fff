"""The files of a release: its tables, what each of their fields says, and which other files.

The one place that writing, checking, the data card and Croissant read them from.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ranking.released.writing import SUMS

FORMAT = "heart-release/1"
TEXT, INTEGER, NUMBER, FLAG, MAPPING, LIST = "text", "integer", "number", "flag", "map", "list"
TYPES: Mapping[str, tuple[type, ...]] = {
    TEXT: (str,),
    INTEGER: (int,),
    NUMBER: (int, float),
    FLAG: (bool,),
    MAPPING: (dict,),
    LIST: (list,),
}


@dataclass(frozen=True)
class Field:
    """One field of a table; ``is_optional`` says that it may be null."""

    name: str
    kind: str
    says: str
    is_optional: bool = False

    def problem(self, value: object) -> str:
        """Return what is wrong with a value, or nothing."""
        if value is None:
            return "" if self.is_optional else f"{self.name} is null"
        is_flag = isinstance(value, bool)
        if is_flag != (self.kind == FLAG) or not isinstance(value, TYPES[self.kind]):
            return f"{self.name} is no {self.kind}"
        is_endless = isinstance(value, float) and not isfinite(value)
        return f"{self.name} is no {self.kind}" if is_endless else ""


@dataclass(frozen=True)
class ReleaseTable:
    """One file of JSON lines; ``key`` is the field that no two rows share.

    One that ``is_optional`` is not written where it has no rows.
    """

    name: str
    key: str
    says: str
    fields: tuple[Field, ...]
    is_optional: bool = False

    @property
    def path(self) -> str:
        """Return the file's path in the release."""
        return f"data/{self.name}.jsonl"

    def problems(self, row: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with the shape of a row."""
        names = {one.name for one in self.fields}
        found = [f"{name} is missing" for name in sorted(names - row.keys())]
        found += [f"{name} is not known" for name in sorted(row.keys() - names)]
        found += [p for one in self.fields if one.name in row if (p := one.problem(row[one.name]))]
        return found


def _optional(name: str, kind: str, says: str) -> Field:
    return Field(name, kind, says, is_optional=True)


SIMULATED = Field("is_simulated", FLAG, "A stand-in: what it says means nothing about real ones.")
NAMED = (
    Field("slug", TEXT, "Its name in all files."),
    Field("name", TEXT, "As results show it."),
)
ASKED = (
    Field("model_id", TEXT, "What was asked for, as the client library spells it."),
    Field("parameters", MAPPING, "What was set for it."),
    SIMULATED,
)
TABLES = (
    ReleaseTable(
        "systems",
        "slug",
        "Who or what wrote the messages.",
        (
            *NAMED,
            Field("kind", TEXT, "MODEL, HUMAN or ORIGINAL (the reply in the source dialogue)."),
            Field("family", TEXT, "Maker of the model; its own judges never judge it."),
            *ASKED,
            _optional("intelligence_index", NUMBER, "A published index of capability."),
            _optional("published_ttft_ms", NUMBER, "Published time to the first token, in ms."),
            _optional("measured_ttft_ms", NUMBER, "Median over its calls for this dataset, in ms."),
        ),
    ),
    ReleaseTable(
        "contexts",
        "key",
        "Dialogue histories that end on a turn of the seeker.",
        (
            Field("key", TEXT, "Its name in all files."),
            Field("dialogue", TEXT, "SHA-256 of the source dialogue, the unit of resampling."),
            Field(
                "dialogue_position", INTEGER, "Place of the dialogue in the source file, from 0."
            ),
            Field("turn_index", INTEGER, "Index of the last turn in the merged turns."),
            Field("content_hash", TEXT, "SHA-256 of who says what (see REBUILD.md)."),
            Field("stratum", TEXT, "REGULAR, or ADVERSARIAL: rewritten to be hostile."),
            Field("escalation_profile", TEXT, "How a rewrite becomes hostile."),
            _optional("source_context", TEXT, "The context that this one is a rewrite of."),
            Field("language", TEXT, "BCP 47 tag."),
            Field("emotion_type", TEXT, "Label of the source."),
            Field("problem_type", TEXT, "Label of the source."),
            SIMULATED,
            _optional("turns", LIST, "Who says what; null where the licence keeps it."),
        ),
    ),
    ReleaseTable(
        "completions",
        "id",
        "Messages that answer a context. Nothing tells which person wrote one.",
        (
            Field("id", TEXT, "Its name in this release."),
            Field("context", TEXT, "The context that it answers."),
            Field("system", TEXT, "Who wrote it; all people together are one, unless they agreed."),
            Field("content_hash", TEXT, "SHA-256 of the text; empty where the text was deleted."),
            Field("is_erased", FLAG, "Its text was deleted at its writer's wish."),
            Field(
                "is_brought_in", FLAG, "A model gave it elsewhere: no call of this site made it."
            ),
            _optional("source", TEXT, "Of what was brought in: where it is said to be from."),
            _optional("model_version", TEXT, "Of what was brought in: the model, as is said."),
            _optional("text", TEXT, "Null where it was deleted or the licence keeps it."),
        ),
    ),
    ReleaseTable(
        "comparisons",
        "id",
        "What was put to judges: two messages of one context, or one alone.",
        (
            Field("id", TEXT, "Its name in this release."),
            Field("key", TEXT, "Derived from the contents; drawn where one was deleted."),
            Field("context", TEXT, "The context of both."),
            Field("first", TEXT, "The first completion; verdicts are positive when it is better."),
            _optional("second", TEXT, "The second; null where messages are rated alone."),
            Field("purpose", TEXT, "MAIN counts; CHECK is planted, its answer known."),
            _optional(
                "position", INTEGER, "Place in the order, of seed and key; null if that is drawn."
            ),
        ),
    ),
    ReleaseTable(
        "raters",
        "id",
        "People who judged, by ids of this release alone.",
        (
            Field("id", TEXT, "Drawn for this release; it leads to no name elsewhere."),
            SIMULATED,
            Field("is_excluded", FLAG, "The newest decision leaves them out of the ratings."),
            Field("n_judgments", INTEGER, "Rows of theirs in judgments."),
            Field("attributes", MAPPING, "What is known of them and shared by enough others."),
        ),
    ),
    ReleaseTable(
        "judges",
        "slug",
        "Language models that judged.",
        (
            *NAMED,
            Field("family", TEXT, "Maker; it judges no system of its own."),
            *ASKED,
            Field("is_excluded", FLAG, "The newest decision leaves it out of the ratings."),
            Field("prompt_hashes", LIST, "SHA-256 of the prompts that it was asked with."),
            Field("calls", MAPPING, "What became of every call to it; the parts sum to n_calls."),
        ),
    ),
    ReleaseTable(
        "judgments",
        "id",
        "Answers, in the order in which they were given.",
        (
            Field("id", TEXT, "Its name in this release."),
            Field("comparison", TEXT, "What was judged."),
            _optional("rater", TEXT, "The person, or null."),
            _optional("judge", TEXT, "The model, or null."),
            Field("protocol", TEXT, "PREFERENCE (-2 to 2), RUBRIC (-5 to 5, no 0) or LIKERT."),
            _optional(
                "verdict", INTEGER, "Positive when the first is better; its size the strength."
            ),
            Field("side_of_first", TEXT, "A or B: where the first was shown."),
            Field("marks", MAPPING, "By dimension: who is ahead, or in LIKERT the points."),
            Field("counts", FLAG, "It counts for the ratings."),
            Field("is_check", FLAG, "Of a planted pair, whose answer is known."),
            Field("is_repeat", FLAG, "Of a pair that the same rater was shown before."),
            Field("is_surplus", FLAG, "It came after its place was given away."),
            _optional("revises", TEXT, "The earlier answer that it replaces."),
            Field("day", TEXT, "The day, in UTC."),
            _optional("seconds", INTEGER, "How long a person looked, in steps of five."),
            Field("number", INTEGER, "Which of the evaluator's answers it is, from 1."),
            _optional("sample", INTEGER, "Of a judge that is asked several times: which time."),
            _optional("first_probability", NUMBER, "A judge's own that the first wins."),
            _optional("sampling_probability", NUMBER, "With which an adaptive plan drew the pair."),
            Field("prompt_hash", TEXT, "SHA-256 of the judge's prompt; empty for people."),
            Field("protocol_hash", TEXT, "Of the study file under which it was given."),
            _optional("rationale", TEXT, "The reason in words, where it may be released."),
            Field("chips", LIST, "Keys of the reasons that the rater ticked, of the study file."),
        ),
    ),
    ReleaseTable(
        "exclusions",
        "id",
        "Every decision to leave an evaluator out, or to take one back.",
        (
            Field("id", TEXT, "Its name in this release, in the order of the decisions."),
            _optional("rater", TEXT, "The person, or null."),
            _optional("judge", TEXT, "The model, or null."),
            Field("is_excluded", FLAG, "False takes an earlier decision back."),
            Field("rule", TEXT, "Name and version of the rule."),
            Field("evidence", MAPPING, "The figures that the rule found."),
            Field("is_by_a_person", FLAG, "A person decided, and not a rule alone."),
            Field("day", TEXT, "The day, in UTC."),
        ),
    ),
    ReleaseTable(
        "checks",
        "comparison",
        "Planted pairs whose answer is known.",
        (
            Field("comparison", TEXT, "The pair."),
            Field("kind", TEXT, "What sort of check."),
            Field("dimension", TEXT, "What it is about, if a dimension."),
            Field("is_active", FLAG, "It is still handed out."),
            Field("n_seen", INTEGER, "How many people answered it."),
            Field("n_passed", INTEGER, "How many gave the expected answer."),
            _optional("expected", TEXT, "The answer; null while it may still be asked."),
        ),
    ),
    ReleaseTable(
        "external_batches",
        "id",
        "Where judgments made elsewhere come from. They are no judgments of the study.",
        (
            Field("id", TEXT, "Its name in this release, in the order of arrival."),
            Field("source", TEXT, "The lab."),
            Field("reference", TEXT, "The lab's own name of the batch."),
            Field("url", TEXT, "Page of the lab, or about the data."),
            Field("licence", TEXT, "Of these judgments."),
            Field("recruitment", TEXT, "How the raters were found, as the lab says."),
            Field("consent", TEXT, "What they agreed to, as the lab says."),
            Field("collected_from", TEXT, "The first day."),
            Field("collected_until", TEXT, "The last day."),
            SIMULATED,
            Field("is_excluded", FLAG, "The newest decision leaves the batch out."),
            Field("n_judgments", INTEGER, "Its rows here; none if left out or kept back."),
            Field("protocol", TEXT, "Whose scale the verdicts have."),
            Field("day", TEXT, "The day on which it came, in UTC."),
        ),
        is_optional=True,
    ),
    ReleaseTable(
        "external_judgments",
        "id",
        "Verdicts of other labs' raters: no rating, agreement or exclusion here rests on them.",
        (
            Field("id", TEXT, "Hash of the row: whatever is changed in it, it is another."),
            Field("batch", TEXT, "Where it comes from."),
            Field("comparison", TEXT, "What was judged."),
            Field("rater", TEXT, "Code of the lab's rater, within the batch alone."),
            _optional("verdict", INTEGER, "As in judgments."),
            Field("marks", MAPPING, "As in judgments."),
            _optional("day", TEXT, "The day, in UTC, if the lab says."),
        ),
        is_optional=True,
    ),
)
BY_NAME = {table.name: table for table in TABLES}


ABOUT = "release.json"
OF_TEXT = ("format", "key", "study", "title", "as_of", "licence", "code_version", "software")
SAID: Mapping[str, str] = {
    **dict.fromkeys((*OF_TEXT, "protocol_hash", "rubric_hash"), TEXT),
    **dict.fromkeys(("dataset", "counts", "prompts"), MAPPING),
    **dict.fromkeys(("fits", "notes"), LIST),
    "version": INTEGER,
    "is_simulated": FLAG,
}
"""What every release says of itself, and of what kind that is."""
ALWAYS = (
    ABOUT,
    SUMS,
    "README.md",
    "LICENSE",
    "NOTICE",
    "croissant.json",
    "study/protocol.json",
    "study/rubric.json",
    "study/plan.json",
)
REBUILD = "REBUILD.md"
"""How to put the text back, where it is not in the release."""


def problems_of_about(about: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a release does not say of itself, or in another form than every release."""
    for name, kind in SAID.items():
        if about.get(name) is None:
            yield f"{ABOUT}: lacks {name}"
        elif problem := Field(name, kind, "").problem(about[name]):
            yield f"{ABOUT}: lacks what every release has: {problem}"


def names_of_files(about: Mapping[str, Any]) -> frozenset[str]:
    """Return the paths of all files of a release whose release.json says ``about``.

    Raises
    ------
    KeyError, TypeError
        If it lacks what every release says.
    """
    return frozenset(_names(about))


def _names(about: Mapping[str, Any]) -> Iterator[str]:
    yield from ALWAYS
    if not about["dataset"]["has_text"]:
        yield REBUILD
    counts = about["counts"]
    yield from (one.path for one in TABLES if not one.is_optional or one.name in counts)
    yield from (f"prompts/{name}" for name in about["prompts"])
    for fit in about["fits"]:
        key = fit["fit"]
        yield f"ratings/{key}.json"
        yield from (f"analyses/{key}/{kind}.json" for kind in fit["analyses"])
        yield from (f"figures/{key}/{name}.svg" for name in fit["figures"])
