"""Files of releases as answers, and a folder as one zip file in the same bytes each time."""

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.http import Http404, StreamingHttpResponse
from django.utils.http import content_disposition_header

from ranking.models import Release
from ranking.released.queries import folder_of, listed
from ranking.released.writing import Pipe

BYTES = "application/octet-stream"


def zip_answer(release: Release) -> StreamingHttpResponse:
    """Return the files of a release as a zip, the same bytes each time, part by part.

    Raises
    ------
    django.http.Http404
        If the site does not have them.
    """
    files = listed(release)
    if not files:
        msg = f"the files of {release.key} are not here"
        raise Http404(msg)
    name = name_of(release)
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.zip"',
        "ETag": f'"{release.manifest_hash}"',
    }
    parts = zipped(folder_of(release), sorted(files), name)
    return StreamingHttpResponse(parts, content_type="application/zip", headers=headers)


def file_answer(release: Release, path: str) -> StreamingHttpResponse:
    """Return one file of a release, to be saved and never shown as a page of this site.

    Raises
    ------
    django.http.Http404
        If the release lists no such file, or the site does not have it.
    """
    files, place = listed(release), folder_of(release) / path
    if path not in files:
        msg = f"there is no such file in {release.key}"
        raise Http404(msg)
    headers = {
        "Content-Disposition": content_disposition_header(True, place.name) or "attachment",  # noqa: FBT003 (only by position)
        "Content-Length": str(place.stat().st_size),
        "ETag": f'"{files[path]}"',
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


EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows
MODE = 0o644 << 16
PART = 1 << 18


def zipped(folder: Path, paths: Iterable[str], name: str) -> Iterator[bytes]:
    """Yield the bytes of a zip of these files of a folder, under one folder of that name.

    Files have neither owner nor time. Memory does not grow with their sizes.
    """
    out = Pipe()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in paths:
            entry = zipfile.ZipInfo(f"{name}/{path}", EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, MODE
            entry.create_system = 3  # as Unix does it, on any system
            with (folder / path).open("rb") as source, archive.open(entry, "w") as target:
                while part := source.read(PART):
                    target.write(part)
                    yield out.taken()
    yield out.taken()
