"""Writes of external; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from annotation.external.services.files import (
        ExternalFile,
        ExternalFileReport,
        store_external_file,
        try_external_file,
    )
    from annotation.external.services.storing import (
        ExternalConflictError,
        ExternalRowsError,
        Provenance,
        decide_external,
        store_external,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "ExternalConflictError",
    "ExternalFile",
    "ExternalFileReport",
    "ExternalRowsError",
    "Provenance",
    "decide_external",
    "store_external",
    "store_external_file",
    "try_external_file",
]
