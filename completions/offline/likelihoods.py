"""How probable the simulated models say that their tokens were."""

import math
from collections.abc import Sequence
from typing import Any

from completions.offline.behaviour import fraction

_SWAPPED = {'"A"': '"B"', '"B"': '"A"'}
LEAST_SURE, SURER_BY = 0.55, 0.44


def logprobs(tokens: Sequence[str]) -> dict[str, Any]:
    """Return the log probabilities of a text's tokens, in the way of OpenAI's chat completions.

    All are certain but the letters of verdicts: how sure those are depends on the text alone.
    """
    sureness = LEAST_SURE + SURER_BY * fraction("".join(tokens))
    return {"content": [_piece(token, sureness) for token in tokens]}


def _piece(token: str, sureness: float) -> dict[str, Any]:
    letter = next((one for one in _SWAPPED if one in token), None)
    if letter is None:
        return {**_logprob(token, 1.0), "top_logprobs": [_logprob(token, 1.0)]}
    other = _logprob(token.replace(letter, _SWAPPED[letter]), 1 - sureness)
    own = _logprob(token, sureness)
    return {**own, "top_logprobs": [own, other]}


def _logprob(token: str, probability: float) -> dict[str, Any]:
    return {"token": token, "logprob": math.log(probability), "bytes": list(token.encode())}
