"""From a TOML file to a checked study, with errors that name the field."""

from pathlib import Path

from annotation.studies.protocol.study import StudyProtocol
from completions.files.toml import parse_toml

STUDIES = Path(__file__).parent.parent


class ProtocolError(ValueError):
    """A study file cannot be used; the message names the file, the field and the reason."""


def shipped_studies() -> list[str]:
    """Return the names of the studies that ship, under which they can be started from."""
    return sorted(path.stem for path in STUDIES.glob("*.toml"))


def load_protocol(path: Path) -> StudyProtocol:
    """Read and check a study file.

    Raises
    ------
    ProtocolError
        If the file cannot be read, is not TOML, or a field is missing, unknown or out of range.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise ProtocolError(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{path}: not UTF-8: unexpected byte at position {error.start}"
        raise ProtocolError(msg) from error
    return parse_protocol(text, source=path.name)


def parse_protocol(text: str, *, source: str) -> StudyProtocol:
    """Read a study from TOML; ``source`` is named in errors.

    Raises
    ------
    ProtocolError
        If the text is not TOML, or a field is missing, unknown or out of range.
    """
    return parse_toml(
        text, source=source, validate=StudyProtocol.model_validate, error=ProtocolError
    )
