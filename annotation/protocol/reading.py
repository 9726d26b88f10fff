"""From a TOML file to a checked study, with errors that name the field; and its hash."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from annotation.protocol.study import StudyProtocol

STUDIES = Path(__file__).parent.parent / "studies"


class ProtocolError(ValueError):
    """A study file cannot be used; the message names the file, the field and the reason."""


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a study's content."""
    canonical = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


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
    try:
        return StudyProtocol.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        msg = f"{source}: not valid TOML: {error}"
        raise ProtocolError(msg) from error
    except ValidationError as error:
        raise ProtocolError(_explain(error, source)) from error


def _explain(error: ValidationError, source: str) -> str:
    problems = []
    for one in error.errors():
        field = ".".join(map(str, one["loc"]))
        reason = one["msg"].removeprefix("Value error, ")
        problems.append(f"{source}: {field}: {reason}" if field else f"{source}: {reason}")
    return "\n".join(problems)
