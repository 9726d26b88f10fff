"""Which systems are made from people's texts."""

from enum import StrEnum


class PeopleKindName(StrEnum):
    """The values of `ranking.choices.PeopleKind`, for code that knows no framework."""

    AVERAGE = "AVERAGE"
    MEAN_TEXT = "MEAN_TEXT"
    RANDOM_TEXT = "RANDOM_TEXT"
    BEST_CROSS_FITTED = "BEST_CROSS_FITTED"
    BEST_PLAIN = "BEST_PLAIN"
