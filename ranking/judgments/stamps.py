"""Short marks of analysis sets, by which a change is noticed."""

from typing import NamedTuple


class Stamp(NamedTuple):
    """A short mark of an analysis set.

    Judgments, exclusion decisions and deletions on request are only ever added: the number of
    those that count, the newest key, how many decisions there were and the sum of the keys tell
    whether anything changed, even where a withdrawal leads back to an earlier set or where one
    judgment came in late for another.
    """

    n_judgments: int
    newest: int
    n_decisions: int
    sum_of_keys: int = 0

    def __str__(self) -> str:
        return ":".join(map(str, self))

    @classmethod
    def of(cls, text: str) -> "Stamp":
        """Read what ``str`` wrote."""
        return cls(*map(int, text.split(":")))
