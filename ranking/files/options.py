"""What may be asked of a ranking at the prompt."""

from dataclasses import dataclass
from enum import StrEnum

from ranking.numerics.strength_mode import StrengthMode

LEVEL = 0.95


class Ties(StrEnum):
    """What becomes of ties."""

    HALF = "half"
    """Half a win to each side (the default)."""

    DROP = "drop"
    """Left out of the fit."""

    DAVIDSON = "davidson"
    """An outcome of its own, in Davidson's model."""

    RAO_KUPPER = "rao-kupper"
    """An outcome of its own, in the model of Rao and Kupper."""

    @property
    def has_model(self) -> bool:
        """Say whether ties are an outcome of the model."""
        return self in {Ties.DAVIDSON, Ties.RAO_KUPPER}


class IntervalMethod(StrEnum):
    """Where standard errors and intervals come from."""

    BOOTSTRAP = "bootstrap"
    """Refits to resampled units, percentiles (the default)."""

    SANDWICH = "sandwich"
    """Cluster-robust covariance by unit."""

    FISHER = "fisher"
    """Inverse information: takes every judgment for independent and every weight for a count."""

    PAPER = "paper"
    """1 / sqrt(n) of HEART's section 9.8, for parity alone."""

    @property
    def needs_units(self) -> bool:
        """Say whether it takes judgments of one unit for dependent."""
        return self in {IntervalMethod.BOOTSTRAP, IntervalMethod.SANDWICH}


class EvaluatorChoice(StrEnum):
    """Whose judgments count."""

    HUMAN = "human"
    LLM = "llm"
    ALL = "all"


@dataclass(frozen=True)
class Options:
    """What was asked; None where the file decides.

    Without ``strength`` it is soft if every preference has a strength, else ignore. Without
    ``evaluators`` people alone count if both people and LLM judges judged.
    """

    strength: StrengthMode | None = None
    ties: Ties = Ties.HALF
    interval: IntervalMethod = IntervalMethod.BOOTSTRAP
    evaluators: EvaluatorChoice | None = None
    replicates: int = 1000
    seed: int = 0
    unit: str = "context_id"
    per_component: bool = False
