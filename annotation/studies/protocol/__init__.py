"""Study files: read from TOML, checked, and named by the hash of their content."""

from annotation.studies.protocol.drafting import Fault, FaultyError, check_values, values_of
from annotation.studies.protocol.reading import (
    STUDIES,
    ProtocolError,
    load_protocol,
    parse_protocol,
    shipped_studies,
)
from annotation.studies.protocol.study import StudyProtocol
from annotation.studies.protocol.writing import as_toml, values_as_toml
from completions.files.toml import content_hash

__all__ = [
    "STUDIES",
    "Fault",
    "FaultyError",
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
