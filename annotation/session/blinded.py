"""All that a rater's page may know: frozen values without rows, keys, systems or times."""

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from annotation.assignment.design import draw, shuffled
from annotation.choices import Protocol, Side, StudyState
from annotation.models import Lease, Study
from annotation.studies import queries as study_queries
from annotation.studies import verdicts
from annotation.studies.rubric import Dimension, Rubric
from completions.dialogues.display import DialogueView
from completions.dialogues.normaliser import plain
from completions.dialogues.queries import language_of
from completions.models import Completion, Context
from completions.writers.guidelines import HelpLine


@dataclass(frozen=True)
class ComparisonPage:
    """The dialogue and the two messages, arranged as this rater sees them."""

    token: uuid.UUID | None
    dialogue: DialogueView
    message_a: str
    message_b: str = ""

    @classmethod
    def from_lease(cls, lease: Lease) -> "ComparisonPage":
        """Arrange the two texts by the sides drawn for this lease; one that is alone is A."""
        pair = lease.comparison
        texts = [plain(completion.text) for completion in pair.completions]
        if lease.first_side == Side.B:
            texts.reverse()
        context = pair.context
        dialogue = DialogueView.of(
            context.turns,
            is_simulated=context.is_simulated,
            language=context.dialogue.language,
            is_conversation=is_conversation(context),
        )
        return cls(lease.token, dialogue, *texts)

    @classmethod
    def of_practice(cls, study: Study) -> "ComparisonPage":
        """Take the study's own practice pair; it has no token, for nothing of it is stored.

        It is in the language of the study's dialogues.
        """
        pair = study.content["practice"]
        dialogue = DialogueView.of(pair["turns"], language=language_of(study.dataset_id))
        return cls(None, dialogue, plain(pair["message_a"]), plain(pair["message_b"]))


def is_conversation(context: Context) -> bool:
    """Say whether people talk in it, and it is not a lone task."""
    return context.dialogue.n_utterances > 1


@dataclass(frozen=True)
class Message:
    """A message without its pair, and the language of its dialogue as a BCP 47 tag."""

    text: str
    language: str

    @classmethod
    def of(cls, completion: Completion) -> "Message":
        """Dress the text of a completion."""
        return cls(plain(completion.text), completion.context.dialogue.language)


@dataclass(frozen=True)
class SessionProgress:
    """Where a rater stands in the session."""

    done: int
    total: int
    minutes_left: int
    is_screening: bool = False

    @property
    def number(self) -> int:
        """The number of the pair on the screen."""
        return min(self.done + 1, self.total)

    @classmethod
    def of_lease(cls, lease: Lease) -> "SessionProgress":
        """Count the rater's answers and guess the time left from the rater's own pace.

        By the lease that is shown, without a query in the main part.
        """
        study = lease.rater.study
        if lease.is_screening:
            done = study_queries.n_screening_answers(lease.rater)
            total = study_queries.content_of(study)["screening"]["pairs"]
            return cls(done=done, total=total, minutes_left=max(1, total - done), is_screening=True)
        history = study_queries.RaterHistory.before(lease)
        left = max(0, study.session_length - history.answered)
        seconds = history.seconds_per_pair * left
        return cls(
            done=history.answered,
            total=study.session_length,
            minutes_left=max(1, round(seconds / 60)),
        )


class PageChip(NamedTuple):
    """A reason that a rater can tick."""

    key: str
    words: str


CHIP_ORDERS = 24
"""In how many orders chips are shown: a rater always meets one, so that each stays in its place."""


@dataclass(frozen=True)
class StudyPage:
    """The words and numbers of a study that its raters see; no rubric unless they use it."""

    slug: str
    title: str
    protocol: str
    is_simulated: bool
    question: str
    invitation: str
    facts: tuple[tuple[str, str], ...]
    content_note: str
    instructions: tuple[str, ...]
    help_lines: tuple[HelpLine, ...]
    partial_pay: str
    debrief: str
    contact: str
    session_length: int
    min_rationale_length: int
    break_every: int
    n_screening: int
    has_repeats: bool
    rubric: Rubric | None
    chips: tuple[PageChip, ...] = ()
    other_help_lines: tuple[HelpLine, ...] = ()

    @property
    def is_likert(self) -> bool:
        """Whether one message is shown at a time."""
        return self.protocol == Protocol.LIKERT

    def chip_order(self, rater_code: str) -> int:
        """Return the number of the order in which a rater meets the chips, the same each time."""
        return draw("chips", rater_code) % CHIP_ORDERS if self.chips else 0

    def chips_in(self, order: int) -> list[PageChip]:
        """Return the chips in one of their orders, each drawn at random."""
        by_key = {chip.key: chip for chip in self.chips}
        return [by_key[key] for key in shuffled(by_key, seed="chips", rater=str(order))]

    @classmethod
    def from_study(cls, study: Study) -> "StudyPage":
        """Take what raters read from the study's file."""
        content = study_queries.content_of(study)
        shows_rubric = study.protocol != Protocol.PREFERENCE
        return cls(
            slug=study.slug,
            title=study.title,
            protocol=study.protocol,
            is_simulated=study.is_simulated,
            question=content["question"],
            invitation=content["invitation"],
            facts=tuple((fact["name"], fact["text"]) for fact in content["consent"]["facts"]),
            content_note=content["consent"]["content_note"],
            instructions=tuple(content["instructions"]),
            help_lines=tuple(_help_line(line) for line in content["help_lines"]),
            partial_pay=content["crowd"].get("partial_pay", ""),
            debrief=content["debrief"],
            contact=content["contact"],
            session_length=study.session_length,
            min_rationale_length=study.min_rationale_length,
            break_every=content["break_every"],
            n_screening=content["screening"]["pairs"],
            has_repeats=bool(content["checks"]["repeat_rate"]),
            rubric=_rubric(content["rubric"]) if shows_rubric else None,
            chips=tuple(PageChip(one["key"], one["words"]) for one in content.get("chips", ())),
        )


@lru_cache(maxsize=64)
def _locked_page(slug: str) -> StudyPage | None:
    study = study_queries.study_by_slug(slug)
    if study is None or not study.protocol_hash:
        raise _NotLockedError
    return StudyPage.from_study(study)


class _NotLockedError(Exception):
    """There is no such study, or its words may still change."""


def study_page(slug: str) -> StudyPage | None:
    """Return what raters read; of a locked study it is made once, for it never changes.

    Of a draft there is nothing to read yet, not even its title, for whoever guesses the slug.
    """
    try:
        return _locked_page(slug)
    except _NotLockedError:
        study = study_queries.study_by_slug(slug)
    if study is None:
        return None
    page = StudyPage.from_study(study)
    is_draft = study.state == StudyState.DRAFT
    return replace(page, title="HEART", rubric=None, help_lines=()) if is_draft else page


def forget_pages() -> None:
    """Forget the pages of locked studies, where a test changes one all the same."""
    _locked_page.cache_clear()


def worked_answer(study: Study, answer: verdicts.Answer) -> dict[str, object]:
    """Return what a careful reader may say about the practice pair, and whether ``answer`` agrees.

    Agreed is on the side alone, as the screen has it.
    """
    pair, verdict = study.content["practice"], answer.verdict or 0
    side = "A" if verdict > 0 else "B" if verdict < 0 else ""
    return {"worked_answer": pair["worked_answer"], "agrees": pair["winner"] == side}


def _help_line(content: Mapping[str, Any]) -> HelpLine:
    return HelpLine(**{**content, "countries": tuple(content.get("countries", ()))})


def _rubric(content: Mapping[str, Any]) -> Rubric:
    dimensions = tuple(Dimension(**row) for row in content["dimensions"])
    return Rubric(content["name"], content["version"], dimensions, tuple(content["checklist"]))


def answer_on_screen(lease: Lease) -> verdicts.Answer | None:
    """Return the rater's newest answer to the lease as it was given: positive favours A."""
    judgment = study_queries.current_judgment(lease)
    if judgment is None:
        return None
    stored = study_queries.answer_of(judgment)
    return verdicts.swap_frame(stored, first_is_a=lease.first_side == Side.A)


LANGUAGE = re.compile(r"^\s*([a-z]{2,3})(?:-[a-z]{4})?(?:-([a-z]{2}))?\b", re.IGNORECASE)
LONGEST_HEADER = 500


def requested_countries(accept_language: str) -> tuple[str, ...]:
    """Return the countries in an Accept-Language header, as it orders them.

    >>> requested_countries("de-CH,de;q=0.9,en-GB;q=0.5")
    ('CH', 'GB')
    """
    found = []
    for part in accept_language[:LONGEST_HEADER].split(","):
        match = LANGUAGE.match(part)
        if match and match[2] and match[2].upper() not in found:
            found.append(match[2].upper())
    return tuple(found)


def split_lines(
    lines: Iterable[HelpLine], countries: Sequence[str]
) -> tuple[tuple[HelpLine, ...], tuple[HelpLine, ...]]:
    """Return the help lines to show at once, and the rest.

    At once: those of the visitor's countries, then those for anywhere. Where no line is of a
    country of theirs, all are shown, those for anywhere first.
    """

    def rank(line: HelpLine) -> int:
        served = [countries.index(code) for code in line.countries if code in countries]
        return min(served) if served else len(countries) + bool(line.countries)

    ordered = sorted(lines, key=rank)
    if not any(rank(line) < len(countries) for line in ordered):
        return tuple(ordered), ()
    near = [line for line in ordered if rank(line) <= len(countries)]
    return tuple(near), tuple(ordered[len(near) :])
