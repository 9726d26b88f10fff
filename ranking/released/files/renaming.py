"""Names of people in nested values: put others in their place, or find one that is left."""

import re
from collections.abc import Collection, Mapping
from typing import Any

WORD = re.compile(r"[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*")


def renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 (JSON is anything)
    """Return nested values with every name in every text replaced, keys of maps included."""
    if isinstance(value, str):
        return WORD.sub(lambda found: names.get(found[0], found[0]), value) if names else value
    if isinstance(value, dict):
        return {renamed(key, names): renamed(one, names) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(one, names) for one in value]
    return value


def names_in(text: str, names: Collection[str]) -> set[str]:
    """Return which of the names stand in a text as words."""
    return {word for word in set(WORD.findall(text)) if word in names}
