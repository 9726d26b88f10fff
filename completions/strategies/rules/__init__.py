"""Which strategies of support a message shows: codebook, question, answer, sample and scores."""

from completions.strategies.rules.codebook import (
    SHIPPED,
    STRATEGIST,
    Codebook,
    CodebookError,
    Strategy,
    answer_schema,
    load_codebook,
    parse_codebook,
    read_labels,
    strategist_messages,
    strategist_prompt,
)
from completions.strategies.rules.sampling import Item, sample
from completions.strategies.rules.scoring import Judged, LabelScore, Scores, cohen_kappa, score

__all__ = [
    "SHIPPED",
    "STRATEGIST",
    "Codebook",
    "CodebookError",
    "Item",
    "Judged",
    "LabelScore",
    "Scores",
    "Strategy",
    "answer_schema",
    "cohen_kappa",
    "load_codebook",
    "parse_codebook",
    "read_labels",
    "sample",
    "score",
    "strategist_messages",
    "strategist_prompt",
]
