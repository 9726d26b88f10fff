"""A study's state as the files of a release: read from the database, written to a folder."""

from ranking.releases.building.building import LeakError, write_release
from ranking.releases.building.contents import Contents, contents_of

__all__ = ["Contents", "LeakError", "contents_of", "write_release"]
