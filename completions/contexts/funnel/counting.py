"""Count plain rows: dialogues, candidates, contexts. Knows no database."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from completions.contexts import screening, selection
from completions.contexts.funnel.counted import Part, RuleCount, Screened, Source, Steps

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


def source(dialogues: Dialogues) -> Source:
    """Add up what was imported."""
    rows = dialogues.values()
    return Source(
        dialogues=len(rows),
        utterances=sum(row.utterances for row in rows),
        turns=sum(row.turns for row in rows),
        couplets=sum(row.couplets for row in rows),
    )


def screened(dialogues: Dialogues, rows: Sequence[CandidateRow]) -> Screened:
    """Say what became of the candidates; the three outcomes add up to all of them."""
    present = {
        language: screening.rules_version(language)
        for language in {row.language for row in dialogues.values()}
    }
    suitable = [dialogue for dialogue, _, _, is_suitable in rows if is_suitable]
    removed = [reasons for _, _, reasons, _ in rows if reasons]
    return Screened(
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
    older = sorted(at_all.keys() - set(screening.DISQUALIFIERS))
    return tuple(
        RuleCount(name, at_all[name], first[name], alone[name])
        for name in (*screening.DISQUALIFIERS, *older)
    )


def emotions(
    dialogues: Dialogues, suitable: Iterable[int], chosen: Iterable[int]
) -> tuple[Part, ...]:
    """Return every emotion at every step; ``suitable`` and ``chosen`` are their dialogues."""
    labels: dict[int, Labels] = {pk: (row.cell[0], None) for pk, row in dialogues.items()}
    return _parts(dialogues, labels, suitable, chosen)


def cells(dialogues: Dialogues, suitable: Iterable[int], chosen: Iterable[int]) -> tuple[Part, ...]:
    """Return every cell at every step; ``suitable`` and ``chosen`` are their dialogues."""
    labels: dict[int, Labels] = {pk: row.cell for pk, row in dialogues.items()}
    return _parts(dialogues, labels, suitable, chosen)


def _parts(
    dialogues: Dialogues,
    labels: Mapping[int, Labels],
    suitable: Iterable[int],
    chosen: Iterable[int],
) -> tuple[Part, ...]:
    """Return the parts with their shares of the whole, largest in the source first."""
    n_couplets = Counter[Labels]()
    for pk, row in dialogues.items():
        n_couplets[labels[pk]] += row.couplets
    counted = (
        Counter(labels.values()),
        n_couplets,
        Counter(labels[pk] for pk in suitable),
        Counter(labels[pk] for pk in chosen),
    )
    whole = [counter.total() for counter in counted]
    parts = []
    for part in sorted(counted[0], key=lambda one: (-counted[0][one], one[0], one[1] or "")):
        counts = [counter[part] for counter in counted]
        shares = [_share(n, of) for n, of in zip(counts, whole, strict=True)]
        parts.append(Part(*part, Steps(*counts), Steps(*shares)))
    return tuple(parts)


def _share(n: int, of: int) -> float:
    return round(n / of, 4) if of else 0.0
