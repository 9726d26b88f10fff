"""Study files: read from TOML, checked, and named by the hash of their content."""

from annotation.studies.protocol.files import (
    STUDIES,
    FaultyError,
    FieldFault,
    ProtocolError,
    as_toml,
    check_values,
    load_protocol,
    parse_protocol,
    shipped_studies,
    values_as_toml,
    values_of,
)
from annotation.studies.protocol.study import StudyProtocol
from completions.files.toml import content_hash

__all__ = [
    "STUDIES",
    "FaultyError",
    "FieldFault",
    "ProtocolError",
    "StudyProtocol",
    "as_toml",
    "check_values",
    "content_hash",
    "load_protocol",
    "parse_protocol",
    "shipped_studies",
    "values_as_toml",
    "values_of",
]
