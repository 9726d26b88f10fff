"""What counts of a study, added up by comparison, as it was kept at the last look (ADR-0018)."""

import datetime as dt
import hashlib
import secrets
import zlib
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotation.models import Study
from ranking.models import KeptCounts
from ranking.numerics.arrays import Integers

KEYS = ("comparison", "dialogue", "first", "second", "newest", "sum_of_keys")
NUMBERS = ("n", "n_first", "n_second", "size_first", "size_second")
FLAGS = ("is_simulated", "is_adversarial", "is_graded", "is_judge")
ROW = np.dtype(
    [(one, "<i8") for one in KEYS]
    + [(one, "<i4") for one in NUMBERS]
    + [(one, "u1") for one in FLAGS]
)
"""The answers to a comparison by people or by judges, on one scale; keys are those of rows."""
Rows = NDArray[np.void]
"""Of type `ROW`, sorted by comparison."""
RULE = ("analysis_set.py", "frames/groups.py", "frames/keeping.py", "frames/kept.py")
NEW = -1  # in place of a row's place
FAST = 1  # of zlib's levels: most of the bytes are zeros of large numbers


@cache
def rule() -> str:
    """Return a mark of the code that says what counts and how it is kept."""
    sources = [Path(__file__).parents[1] / name for name in RULE]
    return hashlib.sha256(b"".join(one.read_bytes() for one in sources)).hexdigest()[:16]


def kept_rows(study: Study, *, as_of: dt.datetime) -> Rows | None:
    """Return what counts as of a time, if that is what is kept, or None.

    One query says whether it is; one reads it, unless this process had it in hand last.
    """
    there = KeptCounts.objects.filter(study=study, rule=rule(), since__lte=as_of, until__gte=as_of)
    mark = there.values_list("mark", flat=True).first()
    if mark is None:
        return None
    if (rows := _SHARED.get(mark)) is not None:
        return rows
    kept = there.first()  # as one: it may have changed since
    return None if kept is None else all_rows(kept)


def all_rows(kept: KeptCounts) -> Rows:
    """Return what is kept; the fits of one look share it, so nobody may change it."""
    rows = _SHARED.get(kept.mark)
    if rows is None:
        rows = stored_rows(kept)
        hold(kept, rows)
    return rows


def stored_rows(kept: KeptCounts) -> Rows:
    """Unpack what is stored, whatever this process has in hand."""
    _SHARED.clear()  # before others are made: of ten million judgments they take 150 MB
    return joined(unpacked(bytes(kept.rows)), unpacked(bytes(kept.newer_rows)))


def share(kept: KeptCounts, rows: Rows) -> None:
    """Mark what is kept anew, and let the next look have its rows without unpacking them."""
    kept.mark = secrets.token_hex(16)
    hold(kept, rows)


def hold(kept: KeptCounts, rows: Rows) -> None:
    """Have the rows of a mark at hand for whoever asks next in this process."""
    rows.setflags(write=False)
    _SHARED.clear()
    _SHARED[kept.mark] = rows


_SHARED: dict[str, Rows] = {}
"""Rows in hand by their mark; read by one ``get``, for another thread may clear it meanwhile."""


def joined(rows: Rows, newer: Rows) -> Rows:
    """Return rows with those of some comparisons in place of what was there; 0 of them are none."""
    if not len(newer):
        return rows
    is_old = np.isin(rows["comparison"], newer["comparison"])
    newer = newer[newer["n"] > 0]
    newer = newer[np.argsort(newer["comparison"], kind="stable")]
    if np.array_equal(rows["comparison"][is_old], newer["comparison"]):
        found = rows.copy()  # for each row one, as almost always: they lie where those did
        found[is_old] = newer
        return found
    left = np.flatnonzero(~is_old)
    if not len(left):
        return newer
    # Places first, so that rows are copied once.
    comparisons = rows["comparison"][left]
    order = np.insert(left, np.searchsorted(comparisons, newer["comparison"]), NEW)
    found = rows[order]
    found[order == NEW] = newer
    return found


def without(rows: Rows, comparisons: Integers) -> Rows:
    """Leave out the rows of some comparisons."""
    return rows[~np.isin(rows["comparison"], comparisons)]


def packed(rows: Rows) -> bytes:
    """Return rows as they are stored."""
    return zlib.compress(rows.view("u1").data, FAST)


def unpacked(stored: bytes) -> Rows:
    """Return the rows that `packed` stored."""
    return np.frombuffer(zlib.decompress(stored), dtype=ROW)
