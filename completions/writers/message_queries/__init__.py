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
from completions.writers.message_queries.shown import MessageDetails, message_details

__all__ = [
    "PER_PAGE",
    "REASONS",
    "SIGNALS",
    "MessageDetails",
    "MessageFilter",
    "MessageRow",
    "Obstacle",
    "QueuePlace",
    "Settled",
    "Situation",
    "message_details",
    "message_of",
    "message_page",
    "obstacle",
    "place_of",
    "settled",
    "state_counts",
]
