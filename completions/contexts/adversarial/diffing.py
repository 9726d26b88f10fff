"""What a rewrite changed, turn by turn and word by word."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

Turns = Sequence[Mapping[str, str]]
Piece = tuple[str, str]


def diff(source: Turns, rewritten: Turns) -> list[dict[str, object]]:
    """Return the changed turns: ``{"turn": index, "pieces": [[kind, words], ...]}``.

    A piece is ``same``, ``removed`` or ``added``; what was removed comes before what was added in
    its place. The texts of a turn are found again by joining the pieces by spaces.
    """
    pairs = enumerate(zip(source, rewritten, strict=True))
    return [
        {"turn": index, "pieces": [list(piece) for piece in pieces(one["text"], other["text"])]}
        for index, (one, other) in pairs
        if one["text"] != other["text"]
    ]


def pieces(before: str, after: str) -> list[Piece]:
    """Return the pieces by which ``after`` differs from ``before``, in words."""
    old, new = before.split(), after.split()
    found: list[Piece] = []
    for kind, low, high, start, end in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind == "equal":
            found.append(("same", " ".join(old[low:high])))
            continue
        found += [
            (name, " ".join(words))
            for name, words in (("removed", old[low:high]), ("added", new[start:end]))
            if words
        ]
    return found
