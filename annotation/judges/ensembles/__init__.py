"""Pure rules of LLM judges: their verdicts, the ensemble's, position, and where calls went."""

from annotation.judges.ensembles.accounts import Account, Fate, UnknownCallError, account, fate
from annotation.judges.ensembles.position import Position
from annotation.judges.ensembles.verdicts import (
    EnsembleOutcome,
    EnsembleVerdict,
    ImpossibleRepliesError,
    JudgeVerdict,
    Order,
    Replies,
    Reply,
    VoteStatus,
    Winner,
    ensemble_verdict,
    judge_verdict,
    replies_of,
)

__all__ = [
    "Account",
    "EnsembleOutcome",
    "EnsembleVerdict",
    "Fate",
    "ImpossibleRepliesError",
    "JudgeVerdict",
    "Order",
    "Position",
    "Replies",
    "Reply",
    "UnknownCallError",
    "VoteStatus",
    "Winner",
    "account",
    "ensemble_verdict",
    "fate",
    "judge_verdict",
    "replies_of",
]
