"""Files of releases as answers: one packed file of all, or each alone."""

from collections.abc import Iterator
from pathlib import Path

from django.http import Http404, StreamingHttpResponse
from django.utils.http import content_disposition_header

from ranking.models import Release
from ranking.released.archive import PART, zipped
from ranking.released.queries import file_of, folder_of_files

BYTES = "application/octet-stream"


def zip_answer(release: Release) -> StreamingHttpResponse:
    """Return the files of a release as a zip, the same bytes each time, part by part.

    Raises
    ------
    django.http.Http404
        If the site does not have them.
    """
    folder = folder_of_files(release)
    if folder is None:
        msg = f"the files of {release.key} are not here"
        raise Http404(msg)
    name = name_of(release)
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.zip"',
        "ETag": f'"{release.manifest_hash}"',
    }
    parts = zipped(folder, name)
    return StreamingHttpResponse(parts, content_type="application/zip", headers=headers)


def file_answer(release: Release, path: str) -> StreamingHttpResponse:
    """Return one file of a release, to be saved and never shown as a page of this site.

    Raises
    ------
    django.http.Http404
        If the release lists no such file, or the site does not have it.
    """
    found = file_of(release, path)
    if found is None or not found[0].is_file():
        msg = f"there is no such file in {release.key}"
        raise Http404(msg)
    place, digest = found
    headers = {
        "Content-Disposition": content_disposition_header(True, place.name) or "attachment",  # noqa: FBT003 (only by position)
        "Content-Length": str(place.stat().st_size),
        "ETag": f'"{digest}"',
    }
    return StreamingHttpResponse(_parts(place), content_type=BYTES, headers=headers)


def _parts(place: Path) -> Iterator[bytes]:
    """Yield a file part by part; it is opened when the first part is asked for, if ever."""
    with place.open("rb") as source:
        while part := source.read(PART):
            yield part


def name_of(release: Release) -> str:
    """Return the name of a release's folder and of its zip, which says if it is simulated."""
    said = "simulated-" if release.is_simulated else ""
    return f"{said}{release.study.slug}-{release.key}"
