"""Choose the points of dialogues that become contexts: pure and seeded."""

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

RULE = "couplets-1"  # raise the number when the rule below changes
MIN_TURNS = 3
MIN_WORDS = 8
MAX_WORDS = 120
PER_DIALOGUE = 2
MIN_GAP = 4  # merged turns between two contexts of one dialogue: another couplet fits between them


class SelectionError(ValueError):
    """Fewer contexts can be chosen than were asked for."""


@dataclass(frozen=True, order=True)
class Candidate:
    """A seeker turn that a supporter turn follows."""

    dialogue: str
    turn_index: int
    n_words: int


def couplets(turns: Sequence[Mapping[str, str]]) -> list[int]:
    """Return the index of every seeker turn that a supporter turn follows."""
    return [
        index
        for index, (turn, reply) in enumerate(itertools.pairwise(turns))
        if (turn["role"], reply["role"]) == ("seeker", "supporter")
    ]


def candidates(dialogue: str, turns: Sequence[Mapping[str, str]]) -> list[Candidate]:
    """Return the couplets of a dialogue that have enough history and a turn of fair length."""
    found = [
        Candidate(dialogue, index, len(turns[index]["text"].split())) for index in couplets(turns)
    ]
    return [
        candidate
        for candidate in found
        if candidate.turn_index + 1 >= MIN_TURNS and MIN_WORDS <= candidate.n_words <= MAX_WORDS
    ]


def select(
    among: Iterable[Candidate], *, n: int, seed: int, taken: Iterable[tuple[str, int]] = ()
) -> list[Candidate]:
    """Choose what is missing to ``n`` contexts; ``taken`` are (dialogue, turn index) chosen before.

    Every dialogue gives one context before any gives a second. Candidates are taken in the order
    of a hash, so the choice depends on the seed alone and not on the order of the input, the
    platform or a library's generator; and a larger ``n`` extends a smaller one.

    Raises
    ------
    SelectionError
        If there are not that many.
    """
    chosen: dict[str, list[int]] = {}
    for dialogue, turn_index in taken:
        chosen.setdefault(dialogue, []).append(turn_index)
    wanted = n - sum(map(len, chosen.values()))
    if wanted <= 0:
        return []
    ranked = _spread(sorted(among, key=lambda one: _draw(one, seed)), chosen)
    if wanted > len(ranked):
        msg = (
            f"{n} contexts were asked for and {n - wanted + len(ranked)} can be chosen "
            f"(at most {PER_DIALOGUE} per dialogue)"
        )
        raise SelectionError(msg)
    return ranked[:wanted]


def _spread(drawn: Iterable[Candidate], chosen: dict[str, list[int]]) -> list[Candidate]:
    """Return those that fit beside what their dialogue gave before, first ones first."""
    rounds: list[list[Candidate]] = [[] for _ in range(PER_DIALOGUE)]
    for candidate in drawn:
        given = chosen.setdefault(candidate.dialogue, [])
        apart = all(abs(candidate.turn_index - index) >= MIN_GAP for index in given)
        if apart and len(given) < PER_DIALOGUE:
            rounds[len(given)].append(candidate)
            given.append(candidate.turn_index)
    return [candidate for one_round in rounds for candidate in one_round]


def _draw(candidate: Candidate, seed: int) -> bytes:
    text = f"{RULE} {seed} {candidate.dialogue} {candidate.turn_index}"
    return hashlib.sha256(text.encode()).digest()
