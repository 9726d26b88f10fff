"""From judgments of one comparison to a preference pair for training, or none."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

ROUNDING = 1e-9
SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Vote:
    """One judgment: whose it is, and the sign of its verdict in the canonical frame."""

    evaluator: str
    sign: int


@dataclass(frozen=True)
class Rule:
    """Which pairs are wanted, and how they are divided.

    ``least_agreement`` (0 to 1) is of the votes that count, ``least_judgments`` of judgments.
    With ``leaves_ties_out`` votes for neither are left out of the shares. ``validation`` and
    ``test`` are shares of source dialogues, 0 to 1; the rest is for training.
    """

    pool: str = "HUMAN"
    least_agreement: float = 0.5
    least_judgments: int = 1
    leaves_ties_out: bool = False
    validation: float = 0.1
    test: float = 0.1


@dataclass(frozen=True)
class Preference:
    """Which completion is preferred, and how clearly.

    Votes are of evaluators: each has one, divided over that evaluator's judgments of the pair, so
    that a judge asked in both orders weighs what a person does, and one who names another
    completion in each order favours neither.
    """

    first_is_chosen: bool
    for_chosen: float
    for_rejected: float
    for_neither: float
    n_judgments: int
    n_evaluators: int
    agreement: float
    margin: float


def preference(votes: Iterable[Vote], rule: Rule) -> Preference | None:
    """Return the preferred completion of one comparison, or None where there is none.

    There is none without a lead of one over the other, with fewer judgments than the rule asks
    for, or with less agreement.
    """
    given = list(votes)
    first, second, neither = _shares(given)
    total = first + second + (0.0 if rule.leaves_ties_out else neither)
    if len(given) < max(1, rule.least_judgments) or _is_even(first, second):
        return None
    ahead, behind = max(first, second), min(first, second)
    if ahead / total < rule.least_agreement - ROUNDING:
        return None
    return Preference(
        first_is_chosen=first > second,
        for_chosen=round(ahead, 6),
        for_rejected=round(behind, 6),
        for_neither=round(neither, 6),
        n_judgments=len(given),
        n_evaluators=len({vote.evaluator for vote in given}),
        agreement=round(ahead / total, 6),
        margin=round((ahead - behind) / total, 6),
    )


def split_of(dialogue: str, *, seed: str, rule: Rule) -> str:
    """Return the part that a source dialogue belongs to, the same whenever it is asked.

    Parts are drawn by a hash of seed and dialogue: whatever is exported, and however many
    dialogues there are, a dialogue stays where it was.
    """
    digest = hashlib.sha256(f"{seed}\n{dialogue}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2.0**64
    if place < rule.test:
        return "test"
    return "validation" if place < rule.test + rule.validation else "train"


def as_messages(turns: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return turns of a dialogue as chat messages: the seeker is the user."""
    roles = {"seeker": "user", "supporter": "assistant"}
    return [{"role": roles[turn["role"]], "content": turn["text"]} for turn in turns]


def _shares(votes: Iterable[Vote]) -> tuple[float, float, float]:
    """Return the votes for the first, for the second and for neither; one per evaluator."""
    said: dict[str, list[int]] = defaultdict(list)
    for vote in votes:
        said[vote.evaluator].append((vote.sign > 0) - (vote.sign < 0))
    parts = [[signs.count(sign) / len(signs) for sign in (1, -1, 0)] for signs in said.values()]
    if not parts:
        return 0.0, 0.0, 0.0
    first, second, neither = (sum(column) for column in zip(*parts, strict=True))
    return first, second, neither


def _is_even(first: float, second: float) -> bool:
    return abs(first - second) < ROUNDING
