"""The pairing plan of a study: pure, seeded, and independent of database keys."""

from annotation.pairing.parts import Candidate, Ground, PlannedPair
from annotation.pairing.planning import plan_pairs

__all__ = ["Candidate", "Ground", "PlannedPair", "plan_pairs"]
