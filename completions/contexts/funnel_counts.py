"""Counts of every step of a funnel, from plain rows, and its picture. Knows no database."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from completions.choices import EscalationProfile
from completions.contexts import selection
from completions.contexts.screening.rules import DISQUALIFIERS, RULES, rules_version

STEPS = ("dialogues", "couplets", "suitable", "chosen")
"""From the source to the choice."""
NO_LABEL = "-"
"""How an address asks for dialogues without a label."""
EXPLANATIONS = {rule.name: rule.explanation for rule in RULES}


@dataclass(frozen=True)
class RuleCount:
    """How many candidates a rule removes: at all, before any other rule does, and it alone."""

    name: str
    removes: int
    removes_first: int
    removes_alone: int


@dataclass(frozen=True)
class ScreenedCounts:
    """What the rules made of the candidates: removed, without a signal, or suitable.

    ``outdated`` are those that other rules than the present ones screened.
    """

    candidates: int
    versions: tuple[str, ...]
    outdated: int
    rules: tuple[RuleCount, ...]
    removed: int
    no_signal: int
    suitable: int
    suitable_dialogues: int


@dataclass(frozen=True)
class FunnelPart:
    """An emotion (``problem`` is None then) or a cell.

    For each of ``STEPS`` it has its count, and its share of the whole.
    """

    emotion: str
    problem: str | None
    counts: dict[str, int]
    shares: dict[str, float]

    @property
    def asked(self) -> tuple[str, str]:
        """Emotion and problem as an address asks for them."""
        problem = "" if self.problem is None else self.problem or NO_LABEL
        return self.emotion or NO_LABEL, problem

    @property
    def percent(self) -> dict[str, float]:
        """The shares in percent."""
        return {step: 100 * share for step, share in self.shares.items()}


@dataclass(frozen=True)
class ProfileCount:
    """How the rewrites of one profile ended."""

    profile: str
    planned: int
    under_way: int
    accepted: int
    dropped: int

    @property
    def label(self) -> str:
        """The profile in words."""
        return str(EscalationProfile(self.profile).label)


@dataclass(frozen=True)
class ReasonCount:
    """Why rewrites were dropped."""

    reason: str
    n: int


@dataclass(frozen=True)
class Rewriting:
    """What became of the planned rewrites, and the adversarial contexts in use."""

    planned: int
    under_way: int
    accepted: int
    dropped: int
    reasons: tuple[ReasonCount, ...]
    profiles: tuple[ProfileCount, ...]
    contexts: int
    simulated_contexts: int


@dataclass(frozen=True)
class Funnel:
    """The whole way of a dataset, from what was imported to what people kept.

    ``source`` counts what was imported; ``chosen`` the regular contexts that nobody dropped, and
    the dialogues they are from; ``opinions`` second opinions by outcome, all that were ``asked``
    for, and those that are ``by_simulated`` assistants; ``reviews`` all contexts, by what people
    decided in small letters.
    ``next_steps`` say what can be done: why, and which act, a kind of job in small letters or
    ``review``.
    """

    dataset: str
    source: dict[str, int]
    screened: ScreenedCounts
    chosen: dict[str, int]
    emotions: tuple[FunnelPart, ...]
    cells: tuple[FunnelPart, ...]
    rewriting: Rewriting
    opinions: dict[str, int]
    reviews: dict[str, int]
    next_steps: tuple[dict[str, str], ...]


Labels: TypeAlias = tuple[str, str | None]
CandidateRow: TypeAlias = tuple[int, str, list[str], bool]
"""Dialogue, version of the rules, names of those that remove it, whether it is suitable."""


@dataclass(frozen=True)
class DialogueRow:
    """What is counted of a dialogue."""

    cell: selection.Cell
    language: str
    utterances: int
    turns: int
    couplets: int


Dialogues: TypeAlias = Mapping[int, DialogueRow]


def source(dialogues: Dialogues) -> dict[str, int]:
    """Add up what was imported."""
    rows = dialogues.values()
    return {
        "dialogues": len(rows),
        "utterances": sum(row.utterances for row in rows),
        "turns": sum(row.turns for row in rows),
        "couplets": sum(row.couplets for row in rows),
    }


def screened(dialogues: Dialogues, rows: Sequence[CandidateRow]) -> ScreenedCounts:
    """Say what became of the candidates; the three outcomes add up to all of them."""
    present = {
        language: rules_version(language)
        for language in {row.language for row in dialogues.values()}
    }
    suitable = [dialogue for dialogue, _, _, is_suitable in rows if is_suitable]
    removed = [reasons for _, _, reasons, _ in rows if reasons]
    return ScreenedCounts(
        candidates=len(rows),
        versions=tuple(sorted({rules for _, rules, _, _ in rows})),
        outdated=sum(rules != present[dialogues[one].language] for one, rules, _, _ in rows),
        rules=rule_counts(removed),
        removed=len(removed),
        no_signal=len(rows) - len(removed) - len(suitable),
        suitable=len(suitable),
        suitable_dialogues=len(set(suitable)),
    )


def rule_counts(removed: Sequence[Sequence[str]]) -> tuple[RuleCount, ...]:
    """Return a row for every disqualifier, in order, then for those that only older rules had."""
    at_all = Counter(name for reasons in removed for name in reasons)
    first = Counter(reasons[0] for reasons in removed)
    alone = Counter(reasons[0] for reasons in removed if len(reasons) == 1)
    older = sorted(at_all.keys() - set(DISQUALIFIERS))
    return tuple(
        RuleCount(name, at_all[name], first[name], alone[name]) for name in (*DISQUALIFIERS, *older)
    )


def parts(
    dialogues: Dialogues,
    suitable: Iterable[int],
    chosen: Iterable[int],
    *,
    by: Callable[[selection.Cell], Labels],
) -> tuple[FunnelPart, ...]:
    """Return parts at every step with their shares of the whole, largest in the source first.

    ``suitable`` and ``chosen`` are the dialogues of couplets, ``by`` says which part a cell is of.
    """
    labels = {pk: by(row.cell) for pk, row in dialogues.items()}
    n_couplets = Counter[Labels]()
    for pk, row in dialogues.items():
        n_couplets[labels[pk]] += row.couplets
    n_dialogues = Counter(labels.values())
    counted = {
        "dialogues": n_dialogues,
        "couplets": n_couplets,
        "suitable": Counter(labels[pk] for pk in suitable),
        "chosen": Counter(labels[pk] for pk in chosen),
    }
    whole = {step: counter.total() for step, counter in counted.items()}
    found = []
    for part in sorted(n_dialogues, key=lambda one: (-n_dialogues[one], one[0], one[1] or "")):
        counts = {step: counter[part] for step, counter in counted.items()}
        shares = {step: _share(n, whole[step]) for step, n in counts.items()}
        found.append(FunnelPart(*part, counts, shares))
    return tuple(found)


def _share(n: int, of: int) -> float:
    return round(n / of, 4) if of else 0.0


Bar: TypeAlias = tuple[float, float]
"""Its left end and its width; 100 is all the room there is."""


def picture(funnel: Funnel) -> dict[str, Any]:
    """Lay out the funnel in bars, every step on the scale of its table.

    Rules are triples of count, explanation and bar, parts of their counts, the bar before and the
    bar after.
    """
    screened, whole = funnel.screened, funnel.screened.candidates
    return {
        "everything": _bar(0, whole, whole),
        "rules": list(_rules(screened)),
        "no_signal": _bar(screened.suitable, screened.no_signal, whole),
        "suitable": _bar(0, screened.suitable, whole),
        "chosen": _bar(0, funnel.chosen["contexts"], whole),
        "emotions": list(_parts(funnel.emotions)),
        "cells": list(_parts(funnel.cells)),
    }


def _bar(start: int, n: int, of: int) -> Bar:
    return (round(100 * start / of, 2), round(100 * n / of, 2)) if of else (0, 0)


def _rules(screened: ScreenedCounts) -> Iterator[tuple[RuleCount, str, Bar]]:
    """Yield the rules that remove any; each bar ends where the one before it began."""
    left = screened.candidates
    for count in screened.rules:
        if count.removes:
            left -= count.removes_first
            bar = _bar(left, count.removes_first, screened.candidates)
            yield count, EXPLANATIONS.get(count.name, ""), bar


def _parts(parts: Sequence[FunnelPart]) -> Iterator[tuple[FunnelPart, Bar, Bar]]:
    """Yield parts with bars of their dialogues, which the choice mirrors, and of their contexts."""
    shown = [one.shares[step] for one in parts for step in ("dialogues", "chosen")]
    widest = max(shown, default=0) or 1
    for one in parts:
        before, after = one.shares["dialogues"], one.shares["chosen"]
        yield one, (0, round(100 * before / widest, 2)), (0, round(100 * after / widest, 2))
