"""Whether a judge's choice depends on where a completion is drawn."""

from dataclasses import dataclass

from annotation.judges.ensembles.verdicts import Replies, Winner
from annotation.quality.rules.findings import even_p
from completions.contexts.screening.checking import wilson


@dataclass
class Position:
    """What is known of one judge's consistency of position; comparisons are added one by one.

    Only comparisons whose two orders both have a winner are compared. A judge who names one
    completion in both orders was led by the texts; one who names side A in both, or side B in
    both, by the place.
    """

    n_same: int = 0
    """Comparisons with the same winner in both orders."""
    n_a_twice: int = 0
    """Comparisons in which side A won in both orders."""
    n_b_twice: int = 0
    n_chose_a: int = 0
    """Valid answers, of all comparisons, that chose side A."""
    n_answers: int = 0
    gap: float = 0.0
    """Sum of how far the mean verdicts of the two orders are apart, in points of strength."""
    shift: float = 0.0
    """Sum of half the same, with its sign: what being side A adds to a verdict."""

    def add(self, replies: Replies) -> None:
        """Take one comparison into account; open calls do not matter."""
        as_a, as_b = replies.first_as_a, replies.first_as_b
        self.n_chose_a += as_a.n_first + as_b.n_second
        self.n_answers += replies.n_valid
        if as_a.winner is None or as_b.winner is None or as_a.mean is None or as_b.mean is None:
            return
        if as_a.winner == as_b.winner:
            self.n_same += 1
        elif as_a.winner == Winner.FIRST:
            self.n_a_twice += 1
        else:
            self.n_b_twice += 1
        self.gap += abs(as_a.mean - as_b.mean)
        self.shift += (as_a.mean - as_b.mean) / 2

    @property
    def n_compared(self) -> int:
        """How many comparisons have a winner in both orders."""
        return self.n_same + self.n_a_twice + self.n_b_twice

    @property
    def share(self) -> float | None:
        """The share of these with one winner; None without any."""
        return self.n_same / self.n_compared if self.n_compared else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval of the share; comparisons are taken as independent."""
        return wilson(self.n_same, self.n_compared) if self.n_compared else None

    @property
    def percent(self) -> tuple[float, ...]:
        """The share and the ends of its interval in percent; empty without any."""
        if self.share is None or self.interval is None:
            return ()
        return tuple(100 * one for one in (self.share, *self.interval))

    @property
    def p(self) -> float | None:
        """How likely a split between the sides at least this uneven is without a favourite.

        Exact binomial test, two-sided, of A twice against B twice; None if neither occurred.
        """
        n = self.n_a_twice + self.n_b_twice
        return even_p(self.n_a_twice, n) if n else None

    @property
    def share_a(self) -> float | None:
        """The share of all valid answers that chose side A; None without any."""
        return self.n_chose_a / self.n_answers if self.n_answers else None

    @property
    def mean_gap(self) -> float | None:
        """How far the verdicts of the two orders are apart in the mean, in points of strength."""
        return self.gap / self.n_compared if self.n_compared else None

    @property
    def mean_shift(self) -> float | None:
        """How many points of strength side A gains in the mean by its place."""
        return self.shift / self.n_compared if self.n_compared else None
