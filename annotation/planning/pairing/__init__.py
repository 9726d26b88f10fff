"""The pairing plan of a study: pure, seeded, and independent of database keys."""

from annotation.planning.pairing.parts import (
    Candidate,
    Ground,
    PlannedPair,
    PlanSummary,
    StratumSummary,
    keys_of,
    summarise,
)

__all__ = [
    "Candidate",
    "Ground",
    "PlanSummary",
    "PlannedPair",
    "StratumSummary",
    "keys_of",
    "summarise",
]
