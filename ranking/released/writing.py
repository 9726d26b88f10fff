"""Values as bytes: the same values give the same bytes on any machine."""

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from access.strict_json import DECODER

SUMS = "SHA256SUMS"


def line(row: Mapping[str, Any]) -> str:
    """Return one line of JSON: keys sorted, text as it is, no number that is none.

    Raises
    ------
    ValueError
        If a number is infinite or not a number.
    """
    return json.dumps(
        row, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each row, with its end."""
    for row in rows:
        yield line(row) + "\n"


def document(value: Mapping[str, Any]) -> str:
    """Return a file of JSON for people to read, too."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False)
    return text + "\n"


def sha256(content: bytes) -> str:
    """Return the SHA-256 of bytes in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, read in parts."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def files_of(folder: Path) -> list[str]:
    """Return the paths of all files below a folder, sorted; a link counts as a file."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def sums(folder: Path) -> str:
    """Return the list of checksums of all files below a folder but the list itself.

    It is in the form that ``sha256sum --check`` reads.
    """
    names = (name for name in files_of(folder) if name != SUMS)
    return "".join(f"{sha256_of(folder / name)}  {name}\n" for name in names)


def read_sums(text: str) -> dict[str, str]:
    """Return the checksums of a list by the names of files.

    Raises
    ------
    ValueError
        If a line is not a checksum and a name, or a name comes twice.
    """
    found: dict[str, str] = {}
    for number, one in enumerate(text.splitlines(), start=1):
        digest, gap, name = one.partition("  ")
        if not gap or len(digest) != hashlib.sha256().digest_size * 2 or name in found:
            msg = f"{SUMS}: line {number} is not a checksum and a name that is new"
            raise ValueError(msg)
        found[name] = digest
    return found


def read_json(content: bytes) -> Any:  # noqa: ANN401 (JSON is anything)
    """Return what JSON says, read as strictly as it is written.

    Raises
    ------
    ValueError
        If it is no JSON in UTF-8, or says something that has two meanings; the message says what.
    """
    text = text_of(content)
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        msg = f"it is no JSON at line {error.lineno:,}, sign {error.colno:,}"
    except RecursionError:
        msg = "its values are nested too deep"
    raise ValueError(msg)


def text_of(content: bytes) -> str:
    """Return the text of a file.

    Raises
    ------
    ValueError
        If it is not UTF-8; the message says where.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        msg = f"byte {error.start + 1:,} is not UTF-8"
        raise ValueError(msg) from error


class Pipe(io.RawIOBase):
    """A file that can only be written on; what was written is taken as it comes."""

    def __init__(self) -> None:
        super().__init__()
        self._parts, self._n = list[bytes](), 0

    def writable(self) -> bool:
        """Say that it can be written on."""
        return True

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._n

    def write(self, content: Any) -> int:  # noqa: ANN401 (any buffer)
        """Keep the bytes until they are taken."""
        self._parts.append(bytes(content))
        self._n += len(self._parts[-1])
        return len(self._parts[-1])

    def taken(self) -> bytes:
        """Return what was written since."""
        content, self._parts = b"".join(self._parts), []
        return content
