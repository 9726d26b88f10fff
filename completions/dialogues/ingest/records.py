"""Dialogues as the formats write them: one pydantic model per format, one way out of all."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from completions.dialogues.ingest.dialogue import (
    ROLES,
    Extras,
    Label,
    LabelOrNull,
    LanguageTag,
    Name,
    ParsedDialogue,
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
            If one of the two does not speak.
        """
        raise NotImplementedError

    def _parsed(self, utterances: Sequence[Turn]) -> ParsedDialogue:
        turns = merge(utterances)
        if {turn.role for turn in turns} != {"seeker", "supporter"}:
            msg = "both a seeker and a supporter must speak"
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
