"""The manifest that a backup is held to, and what became of its restores."""

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FORMAT = 1
NAME = "manifest.json"
RESTORED = "restored.json"
"""What became of the last try to restore a backup; it lies beside its manifest."""
BACKUPS = "heart-*"
PART = ".part"
"""What the name of a backup that is not whole ends in, after a dot before it."""


class BackupError(Exception):
    """A backup cannot be made, or not be trusted or restored; the message says why."""


@dataclass(frozen=True)
class Manifest:
    """What was saved, when and by what.

    Attributes
    ----------
    made_at : str
        Time, ISO 8601.
    code : str
        Hash of the code that made it.
    engine, server : str
        ``postgresql`` or ``sqlite``, and the version of the server or the library.
    migrations : tuple of str
        Those applied, as ``app.name``, sorted.
    rows : mapping of str to int
        Rows of each table, counted in the very state that was saved.
    files : mapping of str to str
        SHA-256 of each file of the backup, by its path inside.
    """

    made_at: str
    code: str
    engine: str
    server: str
    migrations: tuple[str, ...]
    rows: Mapping[str, int]
    files: Mapping[str, str]
    format: int = FORMAT

    @property
    def n_rows(self) -> int:
        """Return how many rows were saved."""
        return sum(self.rows.values())

    def write(self, folder: Path) -> None:
        """Write it into the folder of its backup."""
        text = json.dumps(asdict(self), indent=1, sort_keys=True)
        (folder / NAME).write_text(f"{text}\n", encoding="utf-8")


@contextlib.contextmanager
def locked(part: Path, how: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Lock a folder; the system takes the lock back when the process ends in whatever way."""
    descriptor = os.open(part, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)


def is_being_made(out: Path) -> bool:
    """Say whether a process makes a backup below ``out`` now."""
    for part in out.glob(f".{BACKUPS}{PART}"):
        try:
            with locked(part, fcntl.LOCK_SH | fcntl.LOCK_NB):
                pass  # nobody's any more
        except BlockingIOError:
            return True
        except OSError:  # whole or gone by now
            continue
    return False


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a backup.

    Raises
    ------
    BackupError
        If the folder is no backup, or one of a later format.
    """
    try:
        content: dict[str, Any] = dict(json.loads((folder / NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        msg = f"{folder} is no backup: it has no {NAME} that can be read."
        raise BackupError(msg) from error
    if content.get("format") != FORMAT:
        msg = f"The backup has format {content.get('format')}, and this version reads {FORMAT}."
        raise BackupError(msg)
    try:
        return Manifest(**content | {"migrations": tuple(content["migrations"])})
    except (KeyError, TypeError) as error:
        msg = f"The manifest of {folder} is incomplete."
        raise BackupError(msg) from error


@dataclass(frozen=True)
class LastRestore:
    """The last time that a backup was restored: all rows came back, or ``problem`` says why not."""

    at: str
    problem: str = ""

    def write(self, folder: Path) -> None:
        """Write it into the folder of its backup, where that can be written to."""
        with contextlib.suppress(OSError):
            (folder / RESTORED).write_text(json.dumps(asdict(self)), encoding="utf-8")


@dataclass(frozen=True)
class KeptBackup:
    """A backup in the folder of backups; without a manifest that can be read it is none."""

    name: str
    manifest: Manifest
    last_restore: LastRestore | None


def kept_backups(out: Path) -> list[KeptBackup]:
    """Return the backups there, the newest first."""
    found = []
    for folder in sorted(out.glob(BACKUPS), reverse=True):
        with contextlib.suppress(BackupError):
            found.append(KeptBackup(folder.name, read_manifest(folder), _last_restore(folder)))
    return found


def _last_restore(folder: Path) -> LastRestore | None:
    try:
        return LastRestore(**json.loads((folder / RESTORED).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def checksums(folder: Path) -> dict[str, str]:
    """Return the hash of every file below the folder but the manifest and what a restore left."""
    own = (folder / NAME, folder / RESTORED)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path not in own)
    return {path.relative_to(folder).as_posix(): _sha256(path) for path in files}


def check_files(folder: Path, manifest: Manifest) -> None:
    """Compare the files with their hashes.

    Raises
    ------
    BackupError
        If one is missing, was added or changed; all of them are named.
    """
    found = checksums(folder)
    names = sorted(found.keys() | manifest.files.keys())
    wrong = [name for name in names if found.get(name) != manifest.files.get(name)]
    if wrong:
        msg = f"The backup is damaged, and nothing was restored: {', '.join(wrong)}."
        raise BackupError(msg)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
