"""A folder as one zip file, in the same bytes wherever and whenever it is packed."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from ranking.released.writing import files_of

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows
MODE = 0o644 << 16
PART = 1 << 18


class _Out:
    """A file without a way back, whose bytes are taken as they come."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, content: bytes) -> int:
        """Keep the bytes until they are taken."""
        self.parts.append(bytes(content))
        return len(content)

    def flush(self) -> None:
        """Do nothing."""

    def take(self) -> bytes:
        """Return what was written since."""
        content, self.parts = b"".join(self.parts), []
        return content


def zipped(folder: Path, name: str) -> Iterator[bytes]:
    """Yield the bytes of a zip of all files below a folder, under one folder of that name.

    Files are sorted, and have neither owner nor time. Memory does not grow with their sizes.
    """
    out = _Out()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:  # type: ignore[call-overload]
        for path in files_of(folder):
            entry = zipfile.ZipInfo(f"{name}/{path}", EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, MODE
            entry.create_system = 3  # as Unix does it, on any system
            with (folder / path).open("rb") as source, archive.open(entry, "w") as target:
                while part := source.read(PART):
                    target.write(part)
                    yield out.take()
    yield out.take()
