"""Dialogues as the formats write them: one pydantic model per format, one way out of all."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from completions.dialogues.ingest.dialogue import (
    MOST_TURNS,
    ROLES,
    Extras,
    FixedContext,
    Label,
    LabelOrNull,
    LanguageTag,
    Name,
    ParsedDialogue,
    Place,
    Role,
    Speaker,
    Strategies,
    Text,
    Turn,
    Utterance,
    content_hash,
    merge,
    normal_label,
)


class DialogueRecord(BaseModel):
    """What all formats may say of a dialogue; keys that are not named are ignored."""

    NOT_LABELS: ClassVar = {"situation"}

    situation: Text = ""
    emotion_type: LabelOrNull = ""
    problem_type: LabelOrNull = ""

    def parsed(self) -> ParsedDialogue:
        """Merge the utterances into turns.

        Raises
        ------
        ValueError
            If one of the two does not speak, or both take more turns than can be stored.
        """
        raise NotImplementedError

    def _parsed(self, utterances: Sequence[Turn]) -> ParsedDialogue:
        turns = merge(utterances)
        if {turn.role for turn in turns} != {"seeker", "supporter"}:
            msg = "both a seeker and a supporter must speak"
            raise ValueError(msg)
        if len(turns) > MOST_TURNS:
            msg = f"has over {MOST_TURNS:,} turns"
            raise ValueError(msg)
        return ParsedDialogue(
            turns=turns,
            n_utterances=len(utterances),
            situation=" ".join(self.situation.split()),
            emotion_type=normal_label(self.emotion_type),
            problem_type=normal_label(self.problem_type),
            source_labels=self._source_labels(turns),
            content_hash=content_hash(turns),
        )

    def _source_labels(self, turns: Iterable[Turn]) -> dict[str, Any]:
        labels = self.model_dump(exclude=self.NOT_LABELS, exclude_defaults=True)
        strategies = [list(turn.strategies) for turn in turns]
        return labels | {"strategies": strategies} if any(strategies) else labels


class Annotation(BaseModel):
    """What ESConv says about one utterance; a seeker's feedback is not read."""

    strategy: Strategies = ()


class EsconvUtterance(BaseModel):
    """One utterance of ESConv, whatever it calls the speaker."""

    speaker: Speaker
    content: Utterance
    annotation: Annotation = Annotation()

    def said(self) -> Turn:
        """Return it with its role."""
        return Turn(ROLES[self.speaker], self.content, self.annotation.strategy)


class NativeUtterance(EsconvUtterance):
    """One utterance, as ESConv itself writes it."""

    speaker: Literal["seeker", "supporter"]


class FailedUtterance(EsconvUtterance):
    """One utterance of ESConv's failed dialogues: there the speaker is the seeker."""

    speaker: Literal["speaker", "listener"]


class HubUtterance(BaseModel):
    """One utterance in the hub's spelling of ESConv."""

    speaker: Literal["usr", "sys"]
    text: Utterance
    strategy: Strategies = ()

    def said(self) -> Turn:
        """Return it with its role."""
        return Turn(ROLES[self.speaker], self.text, self.strategy)


Spoken = TypeVar("Spoken", NativeUtterance, FailedUtterance, HubUtterance)


class EsconvRecord(DialogueRecord, Generic[Spoken]):
    """One dialogue of ESConv, in one of the spellings of its utterances."""

    NOT_LABELS = DialogueRecord.NOT_LABELS | {"dialog", "id", "language"}

    dialog: list[Spoken]
    id: Name = ""
    language: LanguageTag | None = None
    experience_type: LabelOrNull = ""
    survey_score: Extras = {}
    source: Text = ""

    def parsed(self) -> ParsedDialogue:
        """Merge the utterances into turns."""
        dialogue = self._parsed([utterance.said() for utterance in self.dialog])
        if self.language is None:
            return replace(dialogue, source_id=self.id)
        return replace(dialogue, source_id=self.id, language=self.language, states_language=True)


class OwnTurn(BaseModel):
    """One utterance in the format of our own."""

    model_config = ConfigDict(extra="forbid")

    role: Role
    text: Utterance
    strategies: list[Label] = []

    def said(self) -> Turn:
        """Return it as a turn."""
        return Turn(self.role, self.text, tuple(self.strategies))


class OwnRecord(DialogueRecord):
    """One dialogue in the format of our own: any language, and no key that we do not know."""

    model_config = ConfigDict(extra="forbid")
    NOT_LABELS = DialogueRecord.NOT_LABELS | {"turns", "id", "language"}

    turns: list[OwnTurn]
    id: Name = ""
    language: LanguageTag = "und"
    source: Text = ""
    metadata: Extras = {}

    def parsed(self) -> ParsedDialogue:
        """Merge the utterances into turns."""
        dialogue = self._parsed([turn.said() for turn in self.turns])
        states_language = "language" in self.model_fields_set
        return replace(
            dialogue,
            source_id=self.id,
            language=self.language,
            states_language=states_language,
        )


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
