"""Reads of the pages on which messages are reviewed: nothing here tells who wrote them."""

from completions.writers.message_queries.queue import (
    MessageFilter,
    MessageRow,
    Place,
    message_of,
    message_page,
    place_of,
    state_counts,
)
from completions.writers.message_queries.rules import REASONS, Obstacle, Situation, obstacle
from completions.writers.message_queries.settled import Settled, settled
from completions.writers.message_queries.shown import MessageShown, message_shown
from completions.writers.message_queries.signals import SIGNALS

__all__ = [
    "REASONS",
    "SIGNALS",
    "MessageFilter",
    "MessageRow",
    "MessageShown",
    "Obstacle",
    "Place",
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
