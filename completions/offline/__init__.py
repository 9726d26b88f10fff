"""A simulated model provider on this machine: no network, no key, the same answers always."""

from completions.offline.answers import REFUSAL
from completions.offline.behaviour import Behaviour, Fault
from completions.offline.server import LOOPBACK, LoggedCall, OfflineServer, running, serving

__all__ = [
    "LOOPBACK",
    "REFUSAL",
    "Behaviour",
    "Fault",
    "LoggedCall",
    "OfflineServer",
    "running",
    "serving",
]
