"""The pairing plan of a study: pure, seeded, and independent of database keys."""

from annotation.planning.pairing.parts import (
    Block,
    Candidate,
    PlannedPair,
    PlanSummary,
    StratumSummary,
    keys_of,
    summarise,
)

__all__ = [
    "Block",
    "Candidate",
    "PlanSummary",
    "PlannedPair",
    "StratumSummary",
    "keys_of",
    "summarise",
]
