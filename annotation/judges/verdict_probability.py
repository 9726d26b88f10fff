"""How probable a judge's verdict was to the judge itself, from the log probabilities of its tokens.

Only the letter of the overall verdict is looked at: the token that holds it, and what the
provider lists in its place.
"""

import math
import re
from collections.abc import Iterable, Sequence

from completions.llm import Token

_PARTS = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\]]', re.DOTALL)
"""The strings of a JSON text, whole, and the brackets outside of them."""
_KEY = '"winner"'
_LETTERS = frozenset({'"A"', '"B"'})


def probability_of_a(text: str, tokens: Sequence[Token]) -> float | None:
    """Return the probability of A against B as the overall winner, or None if it is not known.

    ``text`` is a judge's answer that was read, ``tokens`` its pieces. A letter that is not among
    the alternatives gets all the probability that those leave over, so that no verdict looks
    surer than it is.
    """
    place = _place_of_verdict(text)
    if place is None or (found := _token_at(text[place:], tokens)) is None:
        return None
    token, offset = found
    a, b = (_share(letter, token, offset) for letter in "AB")
    rest = max(0.0, 1.0 - sum(map(math.exp, token.alternatives.values())))
    a, b = (rest if one is None else one for one in (a, b))
    return a / (a + b) if a + b > 0 else None


def _place_of_verdict(text: str) -> int | None:
    """Return where the letter stands: in the value of the outermost object's winner."""
    depth, before = 0, ""
    for found in _PARTS.finditer(text):
        part = found[0]
        if part in "{[":
            depth += 1
        elif part in "}]":
            depth -= 1
        elif depth == 1:
            if before == _KEY and part in _LETTERS:
                return found.start() + 1
            before = part
    return None


def _token_at(tail: str, tokens: Sequence[Token]) -> tuple[Token, int] | None:
    """Return the token in which ``tail``, the end of the text, begins, and where in it.

    It is looked for from the end: what follows the letter is plain, while earlier tokens may be
    pieces of a sign, which cannot be put together again.
    """
    behind = ""
    for token in reversed(tokens):
        behind = token.text + behind
        if len(behind) >= len(tail):
            return (token, len(behind) - len(tail)) if behind.endswith(tail) else None
    return None


def _share(letter: str, token: Token, offset: int) -> float | None:
    """Return the probability of all alternatives that say this letter, or None if none does."""
    beginning = token.text[:offset] + letter
    return _sum(
        math.exp(logprob)
        for text, logprob in token.alternatives.items()
        if text.startswith(beginning)
    )


def _sum(shares: Iterable[float]) -> float | None:
    found = list(shares)
    return sum(found) if found else None
