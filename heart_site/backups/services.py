"""Making a backup while the site runs, and restoring one into a fresh database."""

import datetime as dt
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone

from completions.runs.services.exclusive import AnotherAtWorkError, sole_worker
from heart_site.backups import databases
from heart_site.backups.state import (
    BACKUPS,
    NAME,
    PART,
    BackupError,
    LastRestore,
    Manifest,
    check_files,
    checksums,
    locked,
    read_manifest,
)
from ranking.judgments.method import code_version

FILES = "files"
LEFT_OUT = ("secret-key", "in-use", ".*")
"""What no backup holds: the secret is kept apart, the mark is no data, the rest is half written."""


def make_backup(out: Path, *, now: dt.datetime, keep: int | None = None) -> Path:
    """Save database and data folder below ``out``, and return the folder of the backup.

    It has another name until it is whole. Of the backups there, the newest ``keep`` stay, and what
    a killed process left of one goes after a day.

    Raises
    ------
    BackupError
        If it cannot be made; nothing is left behind, and no older one is removed.
    """
    folder = out / f"heart-{now:%Y%m%dT%H%M%SZ}"
    part = out / f".{folder.name}.{uuid.uuid4().hex[:8]}{PART}"
    if folder.exists():
        msg = f"{folder} is there already."
        raise BackupError(msg)
    try:
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.mkdir(mode=0o700)  # it holds people's data
        with locked(part):
            _save(part, out, now)
            part.rename(folder)
    except OSError as error:
        msg = f"{folder} cannot be written: {error.strerror or error}."
        raise BackupError(msg) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    for old in [*_broken_off(out, now), *(_backups(out)[:-keep] if keep else ())]:
        shutil.rmtree(old)
    return folder


def _save(part: Path, out: Path, now: dt.datetime) -> None:
    server, rows, migrations = databases.save(part)
    _save_files(part / FILES, out)  # after it: files of which it tells are written before
    Manifest(
        made_at=now.isoformat(),
        code=code_version(),
        engine=connection.vendor,
        server=server,
        migrations=migrations,
        rows=rows,
        files=checksums(part),
    ).write(part)


def _save_files(target: Path, out: Path) -> None:
    """Copy the data folder without database, secret, marks, backups and what is half written."""
    data = settings.HEART_DATA_DIR.resolve()
    backups = {out.resolve(), settings.HEART_BACKUP_DIR.resolve()}
    database = Path(str(settings.DATABASES["default"]["NAME"])).name

    def left_out(folder: str, names: list[str]) -> set[str]:
        here = Path(folder)
        is_ours = here == data and connection.vendor == "sqlite"
        found = {name for name in names if is_ours and name.startswith(database)}
        found |= {name for name in names if here / name in backups}
        return found | shutil.ignore_patterns(*LEFT_OUT)(folder, names)

    if data.is_dir():
        shutil.copytree(data, target, ignore=left_out)


def _broken_off(out: Path, now: dt.datetime) -> list[Path]:
    """Return what processes that were killed left of backups: nobody has touched it for a day."""
    before = (now - dt.timedelta(days=1)).timestamp()
    return [part for part in out.glob(f".{BACKUPS}{PART}") if part.stat().st_mtime < before]


def _backups(out: Path) -> list[Path]:
    """Return the backups there, the oldest first."""
    return sorted(path for path in out.glob(BACKUPS) if (path / NAME).is_file())


def restore_backup(folder: Path) -> tuple[Manifest, tuple[str, ...]]:
    """Fill the fresh database that the settings name, and the data folder, from a backup.

    Return the backup's manifest, and the migrations that this version adds.

    Raises
    ------
    BackupError
        Before anything is written, if the backup is damaged, of another kind of database or of a
        later version, or the database is not empty; afterwards, if the rows are not those saved.
    """
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    missing = _check_version(manifest)
    with _nobody_else():
        databases.refuse_unless_empty()
        _check_files_are_new(folder)
        databases.load(folder, server=manifest.server)
        _check_rows(manifest)
        _load_files(folder / FILES)
    LastRestore(timezone.now().isoformat()).write(folder)
    return manifest, missing


def try_restore(folder: Path, *, now: dt.datetime) -> str:
    """Restore a backup into a scratch database and a scratch folder, and delete both again.

    It is the command of an emergency, run in a process of its own. Return what it says, or raise.
    The folder is beside the backup where that may be: the system's own is memory in a container.

    Raises
    ------
    BackupError
        If it fails, with its last words, which are kept beside the backup as well; or if another
        process tries one.
    """
    folder = folder.resolve()
    beside = folder.parent if os.access(folder.parent, os.W_OK) else None
    with (
        _alone(),
        tempfile.TemporaryDirectory(prefix=".heart-try-", suffix=PART, dir=beside) as place,
        databases.scratch_database(Path(place)) as url,
    ):
        done = subprocess.run(  # noqa: S603 (our own words)
            [sys.executable, "manage.py", "restore", str(folder)],
            cwd=settings.BASE_DIR,
            env=_elsewhere(HEART_DATA_DIR=place, DATABASE_URL=url),
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or [""])[-1].removeprefix("CommandError: ")
        LastRestore(now.isoformat(), problem).write(folder)
        raise BackupError(problem)
    return done.stdout.strip()


@contextmanager
def _alone() -> Iterator[None]:
    """Refuse while another process tries a restore: there is one scratch database."""
    try:
        with sole_worker("trying a restore"):
            yield
    except AnotherAtWorkError as error:
        raise BackupError(str(error)) from error


def _elsewhere(**places: str) -> dict[str, str]:
    """Return the environment with other places; a file that names one would count for more."""
    files = {f"{name}_FILE" for name in places}
    kept = {name: value for name, value in os.environ.items() if name not in files}
    return kept | places


def _check_version(manifest: Manifest) -> tuple[str, ...]:
    """Return the migrations that the backup lacks; refuse one that has what we lack."""
    if manifest.engine != connection.vendor:
        msg = f"The backup is of {manifest.engine}, and the database here is {connection.vendor}."
        raise BackupError(msg)
    known, saved = databases.of_this_version(), set(manifest.migrations)
    if unknown := sorted(saved - known):
        msg = (
            f"A later version of HEART made the backup: {', '.join(unknown)} is not known here. "
            "Install that version, restore, and go on with it."
        )
        raise BackupError(msg)
    return tuple(sorted(known - saved))


def _check_files_are_new(folder: Path) -> None:
    saved = (folder / FILES).iterdir() if (folder / FILES).is_dir() else ()
    there = [path.name for path in saved if (settings.HEART_DATA_DIR / path.name).exists()]
    if there:
        msg = f"{settings.HEART_DATA_DIR} has {', '.join(there)} already; choose a fresh folder."
        raise BackupError(msg)


def _load_files(saved: Path) -> None:
    try:
        if saved.is_dir():
            shutil.copytree(saved, settings.HEART_DATA_DIR, dirs_exist_ok=True)
    except OSError as error:
        msg = f"The files cannot be written ({error}). Do not use the database."
        raise BackupError(msg) from error


def _check_rows(manifest: Manifest) -> None:
    found = databases.rows()
    names = sorted(found.keys() | manifest.rows.keys())
    wrong = [name for name in names if found.get(name) != manifest.rows.get(name)]
    if wrong:
        told = "; ".join(
            f"{one}: {manifest.rows.get(one)} saved, {found.get(one)}" for one in wrong
        )
        msg = f"The restored rows are not those that were saved ({told}). Do not use the database."
        raise BackupError(msg)


@contextmanager
def _nobody_else() -> Iterator[None]:
    """Refuse while a site of the embedded default uses the data folder."""
    settings.HEART_DATA_DIR.mkdir(parents=True, exist_ok=True)
    with (settings.HEART_DATA_DIR / "in-use").open("w") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            msg = f"A site is running on {settings.HEART_DATA_DIR}: stop it first."
            raise BackupError(msg) from None
        yield
