"""Whether the files of a release are those that its list of checksums names."""

from collections.abc import Iterator
from pathlib import Path

from ranking.released.writing import SUMS, files_of, read_sums, sha256_of


def problems_of_files(folder: Path) -> Iterator[str]:
    """Yield what is wrong: a file that is missing, one too many, or another than the listed one."""
    try:
        listed = read_sums((folder / SUMS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        yield f"{SUMS}: cannot be read ({error})"
        return
    there = set(files_of(folder)) - {SUMS}
    for name in sorted(there | listed.keys()):
        if name not in there:
            yield f"{name}: is in {SUMS} and not in the folder"
        elif name not in listed:
            yield f"{name}: is in the folder and not in {SUMS}"
        elif (folder / name).is_symlink():
            yield f"{name}: is a link and not a file"
        elif sha256_of(folder / name) != listed[name]:
            yield f"{name}: its checksum is not the one in {SUMS}"
