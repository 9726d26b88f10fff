"""Hold the rules against labels that readers gave: precision and recall, with intervals.

Labels name a couplet by its dialogue's content hash and its turn, never by its text.
"""

import csv
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from completions.contexts.screening.rules import DISQUALIFIERS, SIGNALS, Screened

LABELS = Path(__file__).parent / "labels"
PREFIX = 16
"""Characters of a content hash that name a dialogue in a labels file."""
DRAW, SEED = "screening-check", 7
NAME_ONLY = "name-only"
"""A label that readers give and no rule looks for: a first name alone does not remove."""
UNLABELLED = frozenset({"too-early", "too-short", "too-long", "language"})
"""Rules on form, which readers are not asked about."""
FIELDS = ("dialogue", "turn_index", "signals", "disqualifiers", "qualifies", "sure")
Z = 1.959964  # 95 %

Point = tuple[str, int]


class LabelsError(ValueError):
    """Labels cannot be read, or do not fit the dialogues; the message says where and why."""


@dataclass(frozen=True)
class ReaderLabel:
    """What a reader found in a couplet."""

    point: Point
    signals: frozenset[str]
    disqualifiers: frozenset[str]
    qualifies: bool
    sure: bool


@dataclass(frozen=True)
class Tally:
    """How often the rules and the readers said yes: both, the rules alone, the readers alone."""

    name: str
    both: int
    rules_only: tuple[Point, ...]
    readers_only: tuple[Point, ...]

    @property
    def precision(self) -> tuple[int, int]:
        """Return of how many that the rules found how many the readers found too."""
        return self.both, self.both + len(self.rules_only)

    @property
    def recall(self) -> tuple[int, int]:
        """Return of how many that the readers found how many the rules found too."""
        return self.both, self.both + len(self.readers_only)


def draw(points: Iterable[Point], *, n: int, after: int = 0, seed: int = SEED) -> list[Point]:
    """Draw couplets by a seeded hash of their dialogue's whole content hash and their turn.

    Without ``after`` these are the first ``n`` in the order of the hashes; with it, the ``n``
    that follow the first ``after``.
    """

    def key(point: Point) -> str:
        return hashlib.sha256(f"{DRAW} {seed} {point[0]} {point[1]}".encode()).hexdigest()

    return sorted(points, key=key)[after : after + n]


def read_labels(path: Path) -> list[ReaderLabel]:
    """Read a labels file.

    Raises
    ------
    LabelsError
        If it is missing, a line is not a label, or a couplet is labelled twice.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return _checked(csv.DictReader(file), path.name)
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {error}"
        raise LabelsError(msg) from error


def compare(labels: Sequence[ReaderLabel], screened: Mapping[Point, Screened]) -> list[Tally]:
    """Tally readers against rules: suitable, any signal, each signal, each disqualifier.

    ``screened`` has the couplets by the beginning of their dialogue's content hash and turn.

    Raises
    ------
    LabelsError
        If a labelled couplet is not among them.
    """
    missing = [one.point for one in labels if one.point not in screened]
    if missing:
        msg = f"{len(missing)} of {len(labels)} labelled couplets are not in the dialogues"
        raise LabelsError(msg)
    pairs = [(one, screened[one.point]) for one in labels]
    sure = [pair for pair in pairs if pair[0].sure]
    return [
        _tally("suitable", pairs, lambda one: one.qualifies, lambda one: one.is_suitable),
        _tally("suitable, sure", sure, lambda one: one.qualifies, lambda one: one.is_suitable),
        _tally("any signal", pairs, lambda one: bool(one.signals), lambda one: bool(_found(one))),
        *(_of_signal(name, pairs) for name in SIGNALS),
        *(_of_disqualifier(name, pairs) for name in DISQUALIFIERS if name not in UNLABELLED),
    ]


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; (0, 1) where nothing was counted."""
    if n == 0:
        return 0.0, 1.0
    share, square = hits / n, Z * Z
    middle = (share + square / (2 * n)) / (1 + square / n)
    reach = Z * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def report(tallies: Sequence[Tally], *, n: int, rules: str) -> str:
    """Lay the tallies out as text, disagreements as dialogue and turn."""
    lines = [
        f"{n} labelled couplets, rules {rules}; 95 % intervals (Wilson)",
        f"{'':<16}{'both':>5}{'rules':>7}{'reader':>8}  {'precision':<24}recall",
    ]
    for one in tallies:
        counts = f"{one.both:>5}{len(one.rules_only):>7}{len(one.readers_only):>8}"
        shares = f"{_share(*one.precision):<24}{_share(*one.recall)}"
        lines.append(f"{one.name:<16}{counts}  {shares}".rstrip())
    lines.append("")
    for one in tallies:
        for side, points in (("rules", one.rules_only), ("reader", one.readers_only)):
            if points:
                listed = " ".join(f"{dialogue}:{turn}" for dialogue, turn in points)
                lines.append(f"{one.name}, {side} only: {listed}")
    return "\n".join(lines)


def _share(hits: int, n: int) -> str:
    if n == 0:
        return "none"
    low, high = wilson(hits, n)
    return f"{hits / n:.2f} ({low:.2f}-{high:.2f}) of {n}"


def _found(one: Screened) -> frozenset[str]:
    return frozenset(finding.rule for finding in one.findings) & frozenset(SIGNALS)


Pairs = Sequence[tuple[ReaderLabel, Screened]]


def _of_signal(name: str, pairs: Pairs) -> Tally:
    return _tally(name, pairs, lambda one: name in one.signals, lambda one: name in _found(one))


def _of_disqualifier(name: str, pairs: Pairs) -> Tally:
    return _tally(
        name, pairs, lambda one: name in one.disqualifiers, lambda one: name in one.reasons
    )


def _tally(
    name: str,
    pairs: Pairs,
    readers: Callable[[ReaderLabel], bool],
    rules: Callable[[Screened], bool],
) -> Tally:
    said = [(label.point, readers(label), rules(screened)) for label, screened in pairs]
    return Tally(
        name,
        both=sum(by_reader and by_rules for _, by_reader, by_rules in said),
        rules_only=tuple(point for point, by_reader, by_rules in said if by_rules > by_reader),
        readers_only=tuple(point for point, by_reader, by_rules in said if by_reader > by_rules),
    )


def _checked(rows: "csv.DictReader[str]", name: str) -> list[ReaderLabel]:
    if tuple(rows.fieldnames or ()) != FIELDS:
        msg = f"{name}: the first line has to be {','.join(FIELDS)}"
        raise LabelsError(msg)
    labels = dict[Point, ReaderLabel]()
    for row in rows:
        place = f"{name}, line {rows.line_num}"
        label = _label(row, place)
        if label.point in labels:
            msg = f"{place}: labelled already"
            raise LabelsError(msg)
        labels[label.point] = label
    return list(labels.values())


def _label(row: Mapping[str, str], place: str) -> ReaderLabel:
    known_disqualifiers = frozenset(DISQUALIFIERS) - UNLABELLED | {NAME_ONLY}
    dialogue, turn = row["dialogue"] or "", row["turn_index"] or ""
    if len(dialogue) != PREFIX or not turn.isdecimal():
        msg = f"{place}: expected {PREFIX} characters of a content hash, and a turn"
        raise LabelsError(msg)
    return ReaderLabel(
        (dialogue, int(turn)),
        _names(row["signals"], frozenset(SIGNALS), place),
        _names(row["disqualifiers"], known_disqualifiers, place),
        qualifies=_truth(row["qualifies"], place),
        sure=_truth(row["sure"], place),
    )


def _names(text: str | None, known: frozenset[str], place: str) -> frozenset[str]:
    names = frozenset((text or "").split())
    if not names <= known:
        msg = f"{place}: unknown: {', '.join(sorted(names - known))}"
        raise LabelsError(msg)
    return names


def _truth(text: str | None, place: str) -> bool:
    if text not in {"yes", "no"}:
        msg = f"{place}: expected yes or no, found {text!r}"
        raise LabelsError(msg)
    return text == "yes"
