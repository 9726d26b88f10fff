"""The folder of data that is shared beside the repository and never copied into it."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


def shared_file(name: str) -> Path:
    """Return the path of a shared file, or skip the test with a line that says where to put it.

    The folder is ``HEART_SHARED_DATA``, or ``../shared/data`` beside the repository.
    """
    beside = REPOSITORY.parent / "shared" / "data"
    folder = Path(os.environ.get("HEART_SHARED_DATA") or beside)
    path = folder / name
    if not path.exists():
        pytest.skip(f"{name} is not in {folder}; set HEART_SHARED_DATA to the folder that has it")
    return path
