"""Hold stored values against computed ones, number by number."""

from collections.abc import Iterator
from typing import Any

TOLERANCE = 1e-9  # relative to the figure, and absolute below 1


def differences(stored: Any, computed: Any, where: str = "") -> Iterator[str]:  # noqa: ANN401 (JSON)
    """Yield the places at which two nested values differ, with both values."""
    if isinstance(stored, dict) and isinstance(computed, dict):
        for key in sorted(stored.keys() | computed.keys()):
            place = f"{where}.{key}" if where else str(key)
            if key in stored and key in computed:
                yield from differences(stored[key], computed[key], place)
            else:
                yield f"{place}: is {'stored alone' if key in stored else 'not stored'}"
    elif isinstance(stored, list) and isinstance(computed, list):
        if len(stored) != len(computed):
            yield f"{where}: has {len(stored)} entries, computed {len(computed)}"
        for number, (one, other) in enumerate(zip(stored, computed, strict=False)):
            yield from differences(one, other, f"{where}[{_name(one, number)}]")
    elif not is_close(stored, computed):
        yield f"{where}: is {stored!r}, computed {computed!r}"


def is_close(one: object, other: object) -> bool:
    """Say whether two values are equal, numbers to 1e-9 of their size."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= TOLERANCE * max(1.0, abs(one), abs(other))
    return one == other


def _name(entry: object, number: int) -> str:
    """Return what an entry of a list goes by: its own name, or its place."""
    if isinstance(entry, dict):
        return str(entry.get("system", entry.get("kind", entry.get("key", number))))
    if isinstance(entry, list) and entry and isinstance(entry[0], str):
        return entry[0]
    return str(number)
