"""Study files: read from TOML, checked, and named by the hash of their content."""

from annotation.protocol.reading import (
    STUDIES,
    ProtocolError,
    load_protocol,
    parse_protocol,
)
from annotation.protocol.study import StudyProtocol
from completions.toml_files import content_hash

__all__ = [
    "STUDIES",
    "ProtocolError",
    "StudyProtocol",
    "content_hash",
    "load_protocol",
    "parse_protocol",
]
