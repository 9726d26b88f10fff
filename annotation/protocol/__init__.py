"""Study files: read from TOML, checked, and named by the hash of their content."""

from annotation.protocol.reading import (
    STUDIES,
    ProtocolError,
    content_hash,
    load_protocol,
    parse_protocol,
)
from annotation.protocol.study import StudyProtocol

__all__ = [
    "STUDIES",
    "ProtocolError",
    "StudyProtocol",
    "content_hash",
    "load_protocol",
    "parse_protocol",
]
