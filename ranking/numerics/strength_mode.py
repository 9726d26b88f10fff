"""What the strength of a preference may do; without arrays, for pages name it too."""

from enum import StrEnum


class StrengthMode(StrEnum):
    """What the strength of a preference does to a judgment."""

    SOFT = "soft"
    """The winner takes 0.55, 0.65, 0.75, 0.85 or 0.95 of the judgment (the default)."""

    MULTIPLY = "multiply"
    """The winner takes all of it, and it counts as many times as its strength."""

    IGNORE = "ignore"
    """The winner takes all of it, once."""
