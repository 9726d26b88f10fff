"""Pure rules of LLM judges: their verdicts, the ensemble's, position, and where calls went."""

from annotation.judges.ensembles.accounts import Account, Fate, UnknownCallError, account, fate
from annotation.judges.ensembles.position import Position
from annotation.judges.ensembles.verdicts import (
    EnsembleVerdict,
    ImpossibleRepliesError,
    JudgeVerdict,
    Order,
    Outcome,
    Replies,
    Reply,
    Standing,
    Winner,
    ensemble_verdict,
    judge_verdict,
    replies_of,
)

__all__ = [
    "Account",
    "EnsembleVerdict",
    "Fate",
    "ImpossibleRepliesError",
    "JudgeVerdict",
    "Order",
    "Outcome",
    "Position",
    "Replies",
    "Reply",
    "Standing",
    "UnknownCallError",
    "Winner",
    "account",
    "ensemble_verdict",
    "fate",
    "judge_verdict",
    "replies_of",
]
