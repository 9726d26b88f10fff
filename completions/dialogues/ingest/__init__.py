"""Read dialogues from files in any of five formats: pure, record by record, one kind of result.

``docs/dialogues.md`` describes the formats. Everything a caller may import is named here.
"""

from completions.dialogues.ingest.dialogue import (
    BadRecord,
    FixedContext,
    IngestError,
    ParsedDialogue,
    Role,
    Turn,
    content_hash,
    language_tag,
    merge,
    normal_label,
    storable,
)
from completions.dialogues.ingest.files import read_dialogues, strictly

__all__ = [
    "BadRecord",
    "FixedContext",
    "IngestError",
    "ParsedDialogue",
    "Role",
    "Turn",
    "content_hash",
    "language_tag",
    "merge",
    "normal_label",
    "read_dialogues",
    "storable",
    "strictly",
]
