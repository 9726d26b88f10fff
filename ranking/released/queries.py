"""Reads about the releases that there are, and of their files; light enough for any page."""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import F, Min, Q, QuerySet

from annotation.models import Comparison, Rater, Study
from completions.models import Completion
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


Stay = tuple[dt.datetime, dt.datetime | None]
"""Since when a release tells of somebody or of a text, and when that left."""


def release_rows(study: Study) -> list[Release]:
    """Return the releases of a study, the newest first; three queries.

    Each has ``n_left``: of one that is built, how many people or texts that are in it went since,
    so that it is stale.
    """
    releases = Release.objects.filter(study=study).select_related("study", "built_by")
    gone = [*_people_gone(study), *_texts_gone(study)]
    found = list(releases.order_by("-version"))
    for one in found:
        one.n_left = n_left(one, gone)  # type: ignore[attr-defined] # like an annotation
    return found


def is_stale(release: Release) -> bool:
    """Say whether somebody, or a text, that is in a built release left since. Two queries."""
    return n_left(release, [*_people_gone(release.study), *_texts_gone(release.study)]) > 0


def n_left(release: Release, gone: Sequence[Stay]) -> int:
    """Return how many of those who went since are in a release, if it is built."""
    if release.state != ReleaseState.DONE:
        return 0
    return sum(went is not None and came <= release.as_of < went for came, went in gone)


def _people_gone(study: Study) -> Iterator[Stay]:
    """Yield of each rater who had their answers deleted since when a release tells of them."""
    left = Rater.objects.filter(study=study, data_kept=False)
    told = left.annotate(
        judged=Min("judgments__submitted_at"), decided=Min("exclusions__decided_at")
    )
    for went, *times in told.values_list("ended_at", "judged", "decided"):
        if came := [time for time in times if time is not None]:
            yield min(came), went


def _texts_gone(study: Study) -> Iterator[Stay]:
    """Yield of each deleted text of the study's pairs when it was there."""
    pairs = Comparison.objects.filter(study=study)
    compared = Q(pk__in=pairs.values("first")) | Q(pk__in=pairs.values("second"))
    deleted = Completion.objects.filter(compared, erased_at__isnull=False)
    yield from deleted.values_list("created_at", "erased_at")
