"""Ids of judgments made elsewhere, by which a changed row gives itself away."""

from collections.abc import Mapping
from typing import Any

from ranking.released.writing import line, sha256

LENGTH = 16  # of 64 hexadecimal digits


def id_of(row: Mapping[str, Any]) -> str:
    """Return the id of a row: the beginning of the SHA-256 of all else that it says."""
    said = {name: value for name, value in row.items() if name != "id"}
    return f"v{sha256(line(said).encode())[:LENGTH]}"
