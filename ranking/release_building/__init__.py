"""A study's state as the files of a release: read from the database, written to a folder."""

from ranking.release_building.building import LeakError, write_release
from ranking.release_building.contents import Contents, contents_of

__all__ = ["Contents", "LeakError", "contents_of", "write_release"]
