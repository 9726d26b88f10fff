"""Reads about the releases that there are, and of their files; light enough for any page."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import F, QuerySet

from annotation.models import Study
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


def listed(release: Release) -> dict[str, str]:
    """Return the SHA-256 of the files of a built release by their paths, as its list has them.

    The list itself is the last. None are there unless the site has each of them, and that list.
    """
    folder, manifest = folder_of(release), release.manifest_hash
    if not (folder / SUMS).is_file() or sha256_of(folder / SUMS) != manifest:
        return {}
    found = read_sums((folder / SUMS).read_text(encoding="utf-8")) | {SUMS: manifest}
    return found if all((folder / name).is_file() for name in found) else {}


def files_of(release: Release) -> list[dict[str, Any]]:
    """Return path, size in bytes and SHA-256 of the files of a release that the site has."""
    folder = folder_of(release)
    return [
        {"path": name, "size": (folder / name).stat().st_size, "sha256": digest}
        for name, digest in listed(release).items()
    ]
