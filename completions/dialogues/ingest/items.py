"""The benchmark authors' items: a history, its roles, and where one dialogue gave several."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Self

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, model_validator

from completions.dialogues.ingest.dialogue import (
    ROLES,
    FixedContext,
    ParsedDialogue,
    Place,
    Speaker,
    Turn,
    Utterance,
    merge,
)
from completions.dialogues.ingest.records import DialogueRecord

ALTERNATION: tuple[Speaker, Speaker] = ("seeker", "supporter")


class HistoryEntry(BaseModel):
    """One utterance of a history: a text, and who says it where the file tells."""

    text: Utterance
    speaker: Speaker | None = Field(None, validation_alias=AliasChoices("speaker", "role"))


def _entry(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


class ItemRecord(DialogueRecord):
    """One item: the history of a context, and the reply that followed if there is one."""

    NOT_LABELS = DialogueRecord.NOT_LABELS | {
        "dialogue_history",
        "prev_speakers",
        "turn",
        "vanilla_completion",
    }

    dialogue_history: list[Annotated[HistoryEntry, BeforeValidator(_entry)]]
    prev_speakers: list[Speaker] | None
    turn: Place | None = None
    vanilla_completion: Utterance | None = None

    @model_validator(mode="after")
    def _history_is_a_context(self) -> Self:
        speakers = self._speakers()
        if len(speakers) != len(self.dialogue_history):
            msg = f"{len(speakers)} speakers are named for {len(self.dialogue_history)} turns"
            raise ValueError(msg)
        for entry, speaker in zip(self.dialogue_history, speakers, strict=True):
            if entry.speaker is not None and ROLES[entry.speaker] != ROLES[speaker]:
                msg = "prev_speakers and dialogue_history name different speakers"
                raise ValueError(msg)
        if not speakers or ROLES[speakers[-1]] != "seeker":
            msg = "the last turn of the history must be the seeker's"
            raise ValueError(msg)
        return self

    def _speakers(self) -> Sequence[Speaker]:
        """Return who speaks: as the file says, or alternating back from the seeker's last turn.

        A turn's index never tells: about half of the published items begin with the supporter.
        """
        if self.prev_speakers is not None:
            return self.prev_speakers
        named = [entry.speaker for entry in self.dialogue_history if entry.speaker is not None]
        if named:
            return named
        backwards = itertools.cycle(ALTERNATION)
        return [*itertools.islice(backwards, len(self.dialogue_history))][::-1]

    def parsed(self) -> ParsedDialogue:
        """Return the history, with the reply if there is one, and the context's place in it."""
        entries = zip(self.dialogue_history, self._speakers(), strict=True)
        said = [Turn(ROLES[speaker], entry.text) for entry, speaker in entries]
        point = FixedContext(len(merge(said)) - 1, self.vanilla_completion, self.turn)
        if self.vanilla_completion is not None:
            said.append(Turn("supporter", self.vanilla_completion))
        return replace(self._parsed(said), points=(point,))


def share_dialogues(items: Iterable[ParsedDialogue]) -> list[ParsedDialogue]:
    """Give items that were cut from one dialogue that dialogue, with a point for each.

    The dialogue is what is drawn when ratings are resampled: two contexts of one dialogue are no
    two independent pieces of evidence, and intervals that took them for that would come out too
    narrow. Items count as cut from one dialogue if all that one of them holds, history and reply,
    is how another begins, and situation and labels are the same. Sorted by their turns, what begins
    a dialogue stands right before it.
    """
    shared: list[tuple[int, ParsedDialogue]] = []
    for place, item in sorted(enumerate(items), key=lambda one: _order(one[1])):
        if shared and _begins(shared[-1][1], item):
            first, beginning = shared.pop()
            shared.append((min(first, place), _with_points(item, beginning.points)))
        else:
            shared.append((place, item))
    return [dialogue for _, dialogue in sorted(shared, key=lambda one: one[0])]


def _order(dialogue: ParsedDialogue) -> tuple[object, ...]:
    said = [(turn.role, turn.text) for turn in dialogue.turns]
    return (dialogue.situation, dialogue.emotion_type, dialogue.problem_type, said)


def _begins(one: ParsedDialogue, other: ParsedDialogue) -> bool:
    """Whether all turns of ``one`` are the first of ``other``, of the same situation and labels."""
    return (
        other.turns[: len(one.turns)] == one.turns
        and one.situation == other.situation
        and (one.emotion_type, one.problem_type) == (other.emotion_type, other.problem_type)
    )


def _with_points(dialogue: ParsedDialogue, points: Iterable[FixedContext]) -> ParsedDialogue:
    """Add points; of two at one turn, the one with a reply stays."""
    by_turn = {point.turn_index: point for point in points}
    for point in dialogue.points:
        if point.reply is not None or point.turn_index not in by_turn:
            by_turn[point.turn_index] = point
    return replace(dialogue, points=tuple(by_turn[index] for index in sorted(by_turn)))
