"""Completions of models that were made elsewhere: what a row holds and why one is refused; pure.

``docs/systems.md`` describes them. Everything a caller may import is named here.
"""

from completions.brought.errors import REMEDIES, Reason, Refused, refused
from completions.brought.files import BroughtFile
from completions.brought.rows import COLUMNS, BroughtRow, CompletionIn, checked, once, printable

__all__ = [
    "COLUMNS",
    "REMEDIES",
    "BroughtFile",
    "BroughtRow",
    "CompletionIn",
    "Reason",
    "Refused",
    "checked",
    "once",
    "printable",
    "refused",
]
