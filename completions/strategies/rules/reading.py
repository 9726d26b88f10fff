"""The strict reading of which strategies a model finds in a message."""

from collections.abc import Mapping
from typing import Any

from completions.llm import labels
from completions.llm.labels import Labels, Wanted
from completions.strategies.rules.codebook import Codebook


def answer_schema(codebook: Codebook) -> Mapping[str, Any]:
    """Return the JSON schema of an answer: an object that has every strategy once."""
    return labels.labels_schema(_wanted(codebook))


def read_labels(raw: str, *, text: str, codebook: Codebook) -> Labels:
    """Return what was said of each strategy, by key; quotes have single spaces.

    ``text`` is the message as the model was shown it.

    Raises
    ------
    InvalidAnswerError
        As `completions.llm.labels.read_labels` does.
    """
    return labels.read_labels(raw, text=text, wanted=_wanted(codebook))


def _wanted(codebook: Codebook) -> Wanted:
    return Wanted(codebook.keys, title="Strategies", each="strategy", text="message")
