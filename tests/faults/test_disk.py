"""A disk that is full in the middle of an export.

A limit on the size of files stands for it: a full disk needs a disk of its own, and rights.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

from tests.faults.stack import Stack
from tests.helpers.processes import ROOT

ROOM = 2_000
"""Bytes; the table has more."""


def leave_little_room() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def export(stack: Stack, out: Path, *, is_full: bool) -> "subprocess.CompletedProcess[str]":
    command = ["manage.py", "export", "comparisons", "--study", "browser", "--out", str(out)]
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        # What Python compiles would be cut off as well, and be there for every later process.
        env={**os.environ, **stack.env, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=leave_little_room if is_full else None,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_export_on_a_full_disk_leaves_nothing_and_is_whole_when_there_is_room(stack, tmp_path):
    out = tmp_path / "comparisons.csv"

    refused = export(stack, out, is_full=True)

    assert refused.returncode != 0
    assert f"{out} cannot be written" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert list(tmp_path.iterdir()) == []

    written = export(stack, out, is_full=False)

    assert written.returncode == 0, written.stderr
    assert [one.name for one in tmp_path.iterdir()] == [out.name]
    assert out.stat().st_size > ROOM
