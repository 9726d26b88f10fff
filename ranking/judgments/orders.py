"""The order of systems that another study found; without arrays, for pages read it too."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class OtherOrder:
    """The ratings of another study of the same dialogues: its title, whose judgments, and Elo.

    ``elo`` is by the slugs of systems.
    """

    study: str
    pool: str
    fit: str
    elo: Mapping[str, float]
