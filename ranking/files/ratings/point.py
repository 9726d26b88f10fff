"""What a fit finds, before anything is said of its errors."""

from dataclasses import dataclass

from ranking.numerics.arrays import Floats


@dataclass(frozen=True)
class PointFit:
    """Log strengths (natural log, mean 0), their model covariance, and the parameter of ties.

    The parameter is nu in Davidson's model, ln eta in that of Rao and Kupper, else None.
    """

    log_strengths: Floats
    covariance: Floats
    parameter: float | None = None
