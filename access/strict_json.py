"""JSON with one meaning: no name stands twice in an object, and numbers are numbers."""

import json
from math import isfinite
from typing import Any, NoReturn


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "a name stands twice in an object"
        raise ValueError(msg)
    return found


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not a JSON number"
    raise ValueError(msg)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        msg = f"{digits} is too large a number"
        raise ValueError(msg)
    return number


DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_named_once
)
"""Raises ValueError for either, JSONDecodeError for no JSON, RecursionError for nesting."""
