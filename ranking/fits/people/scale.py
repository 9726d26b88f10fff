"""The scale of a fit and its resamples, on which texts are placed."""

from dataclasses import dataclass

import numpy as np

from ranking.fits.estimate import Estimate
from ranking.judgments.groups import GroupedJudgments
from ranking.judgments.method import Method
from ranking.numerics.arrays import Floats
from ranking.numerics.bootstrap import draw_units
from ranking.numerics.elo import CENTRE, ELO_PER_LOG_UNIT
from ranking.numerics.placement import place_among

EVERY = slice(None)


@dataclass(frozen=True)
class Scale:
    """The fit that texts are placed on, in the first row, and its resamples in the others.

    ``drawn`` says how often each has each dialogue, ``strengths`` where it has each system.
    """

    dialogues: tuple[str, ...]
    systems: tuple[str, ...]
    drawn: Floats
    strengths: Floats

    @classmethod
    def of(cls, judgments: GroupedJudgments, estimate: Estimate, method: Method) -> "Scale":
        """Draw the fit's resamples of the dialogues once more: the same seed, the same draws."""
        n, rng = len(judgments.dialogues), np.random.default_rng(method.seed)
        drawn = np.vstack([np.ones(n), draw_units(n, method.replicates, rng)])
        strengths = np.vstack([estimate.theta, estimate.replicates.log_strengths])
        return cls(judgments.dialogues, judgments.systems, drawn, strengths)

    @property
    def theta(self) -> Floats:
        """The log strengths of the systems."""
        theta: Floats = self.strengths[0]
        return theta

    def place(self, wins: Floats, losses: Floats, rows: slice = EVERY) -> Floats:
        """Return the Elo points of what took and yielded so much in each dialogue."""
        drawn = self.drawn[rows]
        theta = place_among(drawn @ wins, drawn @ losses, self.strengths[rows])
        points: Floats = CENTRE + ELO_PER_LOG_UNIT * theta
        return points
