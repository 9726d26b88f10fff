"""Reads of the pages on which messages are reviewed: nothing here tells who wrote them."""

from completions.writers.message_queries.queue import (
    PER_PAGE,
    MessageFilter,
    MessageRow,
    QueuePlace,
    message_of,
    message_page,
    place_of,
    state_counts,
)
from completions.writers.message_queries.rules import (
    REASONS,
    SIGNALS,
    Obstacle,
    Settled,
    Situation,
    obstacle,
    settled,
)
from completions.writers.message_queries.shown import MessageShown, message_shown

__all__ = [
    "PER_PAGE",
    "REASONS",
    "SIGNALS",
    "MessageFilter",
    "MessageRow",
    "MessageShown",
    "Obstacle",
    "QueuePlace",
    "Settled",
    "Situation",
    "message_of",
    "message_page",
    "message_shown",
    "obstacle",
    "place_of",
    "settled",
    "state_counts",
]
