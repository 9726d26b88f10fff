"""Lay out the funnel as a picture: bars in hundredths of the widest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from completions.contexts import screening
from completions.contexts.funnel.counting import (
    Funnel,
    FunnelPart,
    RuleCount,
    ScreenedCounts,
    Steps,
)
from completions.contexts.queries import NO_LABEL

EXPLANATIONS = {rule.name: rule.explanation for rule in screening.RULES}


@dataclass(frozen=True)
class Bar:
    """A bar's left end and width; 100 is all the room there is."""

    x: float
    width: float


@dataclass(frozen=True)
class RuleLine:
    """One rule: its counts, and the bar of what it removes first."""

    count: RuleCount
    explanation: str
    bar: Bar


@dataclass(frozen=True)
class PartLine:
    """An emotion or a cell: its labels for an address, its bars and percentages."""

    part: FunnelPart
    emotion: str
    problem: str
    before: Bar
    after: Bar
    percent: Steps[float]


@dataclass(frozen=True)
class Picture:
    """The bars of a whole funnel."""

    everything: Bar
    rules: tuple[RuleLine, ...]
    no_signal: Bar
    suitable: Bar
    chosen: Bar
    emotions: tuple[PartLine, ...]
    cells: tuple[PartLine, ...]

    @classmethod
    def of(cls, funnel: Funnel) -> "Picture":
        """Draw every step on the scale of its table."""
        screened, whole = funnel.screened, funnel.screened.candidates
        return cls(
            everything=_bar(0, whole, whole),
            rules=tuple(_rules(screened)),
            no_signal=_bar(screened.suitable, screened.no_signal, whole),
            suitable=_bar(0, screened.suitable, whole),
            chosen=_bar(0, funnel.chosen.contexts, whole),
            emotions=tuple(_parts(funnel.emotions)),
            cells=tuple(_parts(funnel.cells)),
        )


def _bar(start: int, n: int, of: int) -> Bar:
    return Bar(round(100 * start / of, 2), round(100 * n / of, 2)) if of else Bar(0, 0)


def _rules(screened: ScreenedCounts) -> Iterator[RuleLine]:
    """Yield the rules that remove any; each bar ends where the one before it began."""
    left = screened.candidates
    for count in screened.rules:
        if count.removes:
            left -= count.removes_first
            bar = _bar(left, count.removes_first, screened.candidates)
            yield RuleLine(count, EXPLANATIONS.get(count.name, ""), bar)


def _parts(parts: Sequence[FunnelPart]) -> Iterator[PartLine]:
    widest = max((max(_ends(part)) for part in parts), default=0) or 1
    for part in parts:
        before, after = _ends(part)
        yield PartLine(
            part=part,
            emotion=part.emotion or NO_LABEL,
            problem="" if part.problem is None else part.problem or NO_LABEL,
            before=Bar(0, round(100 * before / widest, 2)),
            after=Bar(0, round(100 * after / widest, 2)),
            percent=_percent(part.shares),
        )


def _percent(shares: Steps[float]) -> Steps[float]:
    return Steps(
        dialogues=100 * shares.dialogues,
        couplets=100 * shares.couplets,
        suitable=100 * shares.suitable,
        chosen=100 * shares.chosen,
    )


def _ends(part: FunnelPart) -> tuple[float, float]:
    """Return a part's share of the dialogues, which the choice mirrors, and of the contexts."""
    return part.shares.dialogues, part.shares.chosen
