"""Judgments of a file in the canonical frame."""

from dataclasses import dataclass, replace

from ranking.files.judgments.coding import Coded
from ranking.numerics.arrays import Booleans, Integers


@dataclass(frozen=True)
class FileJudgments:
    """Judgments as arrays of shape (n_judgments,), in the order of the file.

    The pair of systems stands in canonical order, by name, wherever each was shown.

    Attributes
    ----------
    systems : tuple of str
        Sorted names; ``first`` and ``second`` are indices of them, ``first`` the smaller.
    first, second : integer arrays
        The two systems.
    verdict : integer array
        1 if the first was preferred, -1 if the second was, 0 for a tie.
    size : integer array
        Strength of the preference, 1 to 5; 0 where the file gives none.
    shown : integer array
        1 if the first stood as ``system_a``, -1 if it stood as ``system_b``.
    unit : Coded
        What was sampled independently: the context unless another column was named.
    context, pair, rater, group : Coded or None
        Context, name of the pair of texts, evaluator, and the column to rank by; None where not
        asked for or not in the file.
    is_judge : boolean array or None
        Whether an LLM judged; None where the file does not say.
    n_without_verdict : int
        Rows that were left out because their winner is empty.
    n_not_counting : int
        Rows that were left out because the file says that they do not count.
    told : tuple of str
        How the file was read where it is not plainly ours, and names that look alike.
    """

    systems: tuple[str, ...]
    first: Integers
    second: Integers
    verdict: Integers
    size: Integers
    shown: Integers
    unit: Coded
    context: Coded
    pair: Coded | None = None
    rater: Coded | None = None
    group: Coded | None = None
    is_judge: Booleans | None = None
    n_without_verdict: int = 0
    n_not_counting: int = 0
    told: tuple[str, ...] = ()

    @property
    def left_out(self) -> list[str]:
        """Return warnings of rows that were left out."""
        reasons = {
            "without a winner were left out": self.n_without_verdict,
            "that do not count were left out": self.n_not_counting,
        }
        return [f"{n} rows {reason}." for reason, n in reasons.items() if n]

    @property
    def n_judgments(self) -> int:
        """Return how many judgments there are."""
        return len(self.first)

    def where(self, kept: Booleans) -> "FileJudgments":
        """Return the judgments that are kept; systems without any stay in the list."""

        def take(column: Coded | None) -> Coded | None:
            return None if column is None else column.taken(kept)

        return replace(
            self,
            first=self.first[kept],
            second=self.second[kept],
            verdict=self.verdict[kept],
            size=self.size[kept],
            shown=self.shown[kept],
            unit=self.unit.taken(kept),
            context=self.context.taken(kept),
            pair=take(self.pair),
            rater=take(self.rater),
            group=take(self.group),
            is_judge=None if self.is_judge is None else self.is_judge[kept],
        )
