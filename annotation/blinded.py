"""All that a rater's page may know: frozen values without rows, keys, systems or times."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.crypto import salted_hmac

from annotation import selectors, verdicts
from annotation.choices import Platform, Protocol, RaterState, Side
from annotation.models import Lease, Rater, Study
from annotation.rubric import Dimension, Rubric
from completions.guidelines import Fact, HelpLine
from completions.normaliser import plain
from completions.talk import Talk


@dataclass(frozen=True)
class Comparison:
    """The dialogue and the two messages, arranged as this rater sees them."""

    token: uuid.UUID | None
    talk: Talk
    message_a: str
    message_b: str

    @classmethod
    def from_lease(cls, lease: Lease) -> "Comparison":
        """Arrange the two texts by the sides drawn for this lease."""
        pair = lease.comparison
        texts = [pair.first.text, pair.second.text]
        a, b = texts if lease.first_side == Side.A else reversed(texts)
        talk = Talk.of(pair.context.turns, is_simulated=pair.context.is_simulated)
        return cls(lease.token, talk, plain(a), plain(b))


@dataclass(frozen=True)
class Progress:
    """Where a rater stands in the session."""

    done: int
    total: int
    minutes_left: int

    @property
    def number(self) -> int:
        """The number of the pair on the screen."""
        return min(self.done + 1, self.total)

    @classmethod
    def of_rater(cls, rater: Rater) -> "Progress":
        """Count the rater's answers and guess the time left from the rater's own pace."""
        done, total = selectors.rater_progress(rater)
        seconds = selectors.rater_seconds_per_pair(rater) * max(0, total - done)
        return cls(done=done, total=total, minutes_left=max(1, round(seconds / 60)))


@dataclass(frozen=True)
class StudyPage:
    """The words and numbers of a study that its raters see; no rubric unless they use it."""

    slug: str
    title: str
    question: str
    invitation: str
    facts: tuple[Fact, ...]
    content_note: str
    instructions: tuple[str, ...]
    help_lines: tuple[HelpLine, ...]
    debrief: str
    contact: str
    session_length: int
    min_rationale_length: int
    rubric: Rubric | None

    @classmethod
    def from_study(cls, study: Study) -> "StudyPage":
        """Take what raters read from the study's file."""
        content = study.content
        return cls(
            slug=study.slug,
            title=study.title,
            question=content["question"],
            invitation=content["invitation"],
            facts=tuple(Fact(**fact) for fact in content["consent"]["facts"]),
            content_note=content["consent"]["content_note"],
            instructions=tuple(content["instructions"]),
            help_lines=tuple(HelpLine(**line) for line in content["help_lines"]),
            debrief=content["debrief"],
            contact=content["contact"],
            session_length=study.session_length,
            min_rationale_length=study.min_rationale_length,
            rubric=_rubric(content["rubric"]) if study.protocol == Protocol.RUBRIC else None,
        )


@dataclass(frozen=True)
class Practice:
    """The practice pair, and what a careful reader may say about it."""

    comparison: Comparison
    worked_answer: str

    @classmethod
    def of_study(cls, study: Study) -> "Practice":
        """Take the study's own practice pair; it has no token, for nothing of it is stored."""
        pair = study.content["practice"]
        return cls(
            comparison=Comparison(
                None, Talk.of(pair["turns"]), plain(pair["message_a"]), plain(pair["message_b"])
            ),
            worked_answer=pair["worked_answer"],
        )


@dataclass(frozen=True)
class Ending:
    """What a rater takes along from the last page."""

    done: int
    is_over: bool
    has_withdrawn: bool
    code: str
    return_url: str

    @classmethod
    def of_rater(cls, rater: Rater) -> "Ending":
        """Give a code to whoever answered anything, and the way back to a platform."""
        done, total = selectors.rater_progress(rater)
        content = rater.study.content
        has_ended = rater.state != RaterState.ACTIVE or done >= total
        is_over = has_ended or selectors.is_excluded(rater)
        is_platforms = rater.platform != Platform.GUEST
        return cls(
            done=done,
            is_over=is_over,
            has_withdrawn=rater.state == RaterState.WITHDRAWN,
            code=(content["crowd"]["codes"]["complete"] or _own_code(rater))
            if is_over and done
            else "",
            return_url=content["crowd"]["return_url"] if is_over and done and is_platforms else "",
        )


def _rubric(content: Mapping[str, Any]) -> Rubric:
    dimensions = tuple(Dimension(**row) for row in content["dimensions"])
    return Rubric(content["name"], content["version"], dimensions, tuple(content["checklist"]))


def _own_code(rater: Rater) -> str:
    """Return a completion code that tells nobody else who the rater is."""
    return salted_hmac("heart.completion", rater.code).hexdigest()[:10].upper()


def answer_on_screen(lease: Lease) -> verdicts.Answer | None:
    """Return the rater's newest answer to the lease as it was given: positive favours A."""
    judgment = selectors.current_judgment(lease)
    if judgment is None:
        return None
    marks = {mark.dimension: mark.advantage for mark in judgment.marks.all()}
    stored = verdicts.Answer(judgment.verdict, judgment.rationale, marks)
    return verdicts.swap_frame(stored, first_is_a=lease.first_side == Side.A)
