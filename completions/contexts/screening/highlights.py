"""Mark where screening rules fired, in a dialogue dressed as raters see it; pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from typing import Any

from completions.contexts.screening import rules
from completions.dialogues.display import DialogueView
from completions.dialogues.normaliser import plain

RULES = {rule.name: rule for rule in rules.RULES}
Finding = Mapping[str, Any]
"""As stored: ``rule``, ``turn`` (None for the situation), ``start`` and ``end``."""


@dataclass(frozen=True)
class FiredRule:
    """A rule that fired: its number beside the marks, and what it stands for."""

    number: int
    rule: str
    is_signal: bool
    explanation: str
    places: tuple[int | None, ...]
    """Turns in which it fired, from 0; None is the situation."""


@dataclass(frozen=True)
class Piece:
    """Some text as shown, and the rules whose marks lie on it."""

    text: str
    entries: tuple[FiredRule, ...] = ()

    @property
    def numbers(self) -> str:
        """The numbers of the rules, as a mark carries them."""
        return ", ".join(str(entry.number) for entry in self.entries)

    @property
    def is_signal(self) -> bool:
        """Whether nothing but signals lies on it."""
        return all(entry.is_signal for entry in self.entries)


@dataclass(frozen=True)
class Marked:
    """A text as shown, cut at its marks; ``whole`` are rules that fired on all of it."""

    pieces: tuple[Piece, ...]
    whole: tuple[FiredRule, ...] = ()

    @property
    def is_marked(self) -> bool:
        """Whether any rule fired on it."""
        return bool(self.whole) or any(piece.entries for piece in self.pieces)


@dataclass(frozen=True)
class MarkedTurn:
    """One message with its marks."""

    role: str
    text: Marked


@dataclass(frozen=True)
class MarkedDialogue:
    """A dialogue folded as raters see it, with its marks."""

    earlier: tuple[MarkedTurn, ...]
    recent: tuple[MarkedTurn, ...]
    latest: MarkedTurn | None
    is_simulated: bool

    @property
    def hides_marks(self) -> bool:
        """Whether a mark lies where the dialogue is folded away."""
        return any(turn.text.is_marked for turn in self.earlier)


def legend(findings: Iterable[Finding]) -> tuple[FiredRule, ...]:
    """Give each rule that fired a number, in the order of the rules; unknown ones come last."""
    places: dict[str, dict[int | None, None]] = {}
    for finding in findings:
        places.setdefault(finding["rule"], {})[finding["turn"]] = None
    known = [name for name in RULES if name in places]
    older = sorted(places.keys() - RULES.keys())
    return tuple(
        _entry(number, name, tuple(places[name]))
        for number, name in enumerate((*known, *older), start=1)
    )


def mark(
    text: str, findings: Iterable[Finding], entries: Iterable[FiredRule], *, turn: int | None
) -> Marked:
    """Return ``text`` as raters see it, cut at the findings that lie in that turn.

    Findings count characters of the text as stored. A finding on the whole text is told apart:
    it says something about the turn, and marking every word would say nothing.
    """
    by_rule = {entry.rule: entry for entry in entries}
    here = [
        (by_rule[one["rule"]], one["start"], one["end"]) for one in findings if one["turn"] == turn
    ]
    whole = [entry for entry, start, end in here if start == 0 and end >= len(text)]
    spans = [(entry, start, end) for entry, start, end in here if entry not in whole]
    return Marked(_cut(text, spans), tuple(dict.fromkeys(whole)))


def mark_dialogue(
    turns: Sequence[Mapping[str, str]],
    findings: Sequence[Finding],
    entries: Sequence[FiredRule],
    *,
    is_simulated: bool = False,
) -> MarkedDialogue:
    """Dress and fold the turns as a rater's page does, and mark them."""
    marked = tuple(
        MarkedTurn(turn["role"], mark(turn["text"], findings, entries, turn=index))
        for index, turn in enumerate(turns)
    )
    fold = len(DialogueView.of(turns).earlier)
    latest = marked[-1] if marked else None
    return MarkedDialogue(marked[:fold], marked[fold:-1], latest, is_simulated)


def _entry(number: int, name: str, places: tuple[int | None, ...]) -> FiredRule:
    rule = RULES.get(name)  # None: a rule of former times, by which this was screened
    explanation = rule.explanation if rule else ""
    return FiredRule(number, name, name in rules.SIGNALS, explanation, places)


def _cut(text: str, spans: Sequence[tuple[FiredRule, int, int]]) -> tuple[Piece, ...]:
    shown = plain(text)
    if not spans:
        return (Piece(shown),)
    moved = _moved(spans, text, shown)
    edges = sorted({0, len(shown), *(edge for _, low, high in moved for edge in (low, high))})
    cuts = [(_covering(moved, start, end), shown[start:end]) for start, end in pairwise(edges)]
    return tuple(
        Piece("".join(words for _, words in cuts_of_same), entries)
        for entries, cuts_of_same in groupby(cuts, key=lambda cut: cut[0])
    )


def _covering(
    spans: Sequence[tuple[FiredRule, int, int]], start: int, end: int
) -> tuple[FiredRule, ...]:
    found = {entry for entry, low, high in spans if low <= start and end <= high}
    return tuple(sorted(found, key=lambda entry: entry.number))


def _moved(
    spans: Sequence[tuple[FiredRule, int, int]], text: str, shown: str
) -> list[tuple[FiredRule, int, int]]:
    """Return the spans in characters of ``shown``; what dressing took away has none."""
    if text == shown:
        return list(spans)
    starts, ends = [0] * (len(text) + 1), [0] * (len(text) + 1)
    starts[-1] = len(shown)
    aligned = SequenceMatcher(None, text, shown, autojunk=False).get_opcodes()
    for kind, low, high, there, until in aligned:
        for step, place in enumerate(range(low, high)):
            starts[place] = there + step if kind == "equal" else there
            ends[place + 1] = there + step + 1 if kind == "equal" else until
    moved = [(entry, starts[start], ends[end]) for entry, start, end in spans]
    return [(entry, start, end) for entry, start, end in moved if start < end]
