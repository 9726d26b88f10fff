"""Reads about the releases that there are, and of their files; light enough for any page."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import F, QuerySet

from annotation.models import Study
from ranking.choices import ReleaseState
from ranking.models import Release
from ranking.released.writing import SUMS, read_sums, sha256_of


def releases_of(study: Study, *, with_all: bool) -> QuerySet[Release]:
    """Return a study's releases: all of them for the team, else those that are published."""
    found = Release.objects.filter(study=study).select_related("study")
    return found if with_all else found.filter(published_at__isnull=False)


def release_by_key(study: Study, key: str) -> Release | None:
    """Return the release of that permanent name, or None."""
    return releases_of(study, with_all=True).filter(key=key).first()


def published_release(study: Study) -> Release | None:
    """Return the newest release that everybody may download, or None."""
    return releases_of(study, with_all=False).order_by(F("version").desc()).first()


def folder_of(release: Release) -> Path:
    """Return where the site keeps the files of a release."""
    return settings.HEART_DATA_DIR / "releases" / release.study.slug / release.key


def folder_of_files(release: Release) -> Path | None:
    """Return where the files of a built release are, or None if the site does not have them."""
    folder = folder_of(release)
    return folder if release.state == ReleaseState.DONE and (folder / SUMS).exists() else None


def files_of(release: Release) -> list[dict[str, Any]]:
    """Return path, size in bytes and SHA-256 of the files of a release, by its list of checksums.

    The list itself is the last; without its files on the site there is none.
    """
    folder = folder_of_files(release)
    if folder is None:
        return []
    listed = read_sums((folder / SUMS).read_text(encoding="utf-8"))
    listed[SUMS] = release.manifest_hash
    return [
        {"path": name, "size": (folder / name).stat().st_size, "sha256": digest}
        for name, digest in listed.items()
    ]


def file_of(release: Release, path: str) -> tuple[Path, str] | None:
    """Return where a file of a release is and its SHA-256; None unless the release lists it."""
    folder = folder_of_files(release)
    if folder is None:
        return None
    listed = read_sums((folder / SUMS).read_text(encoding="utf-8"))
    listed[SUMS] = sha256_of(folder / SUMS)
    return (folder / path, listed[path]) if path in listed else None
