"""Columns of Parquet, made from their buffers.

PyArrow's own ``pa.array`` imports pandas to see whether it was given a frame: 70 MiB, for a
process that writes rows in batches to need little.
"""

import datetime as dt
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MICROSECOND = dt.timedelta(microseconds=1)


def arrow_array(values: Sequence[Any], kind: pa.DataType) -> "pa.Array[Any]":
    """Return the values, or None, as a column of text, int64, float64, bool or UTC microseconds.

    Raises
    ------
    AttributeError, TypeError
        If a value is of another kind.
    """
    present = [one is not None for one in values]
    valid = None if all(present) else _bits(present)
    return pa.Array.from_buffers(kind, len(values), [valid, *_content(values, kind)])


def _content(values: Sequence[Any], kind: pa.DataType) -> list[pa.Buffer]:
    if pa.types.is_string(kind):
        return _texts(values)
    if pa.types.is_boolean(kind):
        return [_bits([bool(one) for one in values])]
    if pa.types.is_timestamp(kind):
        return _numbers("q", [one and (one - EPOCH) // MICROSECOND for one in values])
    return _numbers("d" if pa.types.is_floating(kind) else "q", values)


def _numbers(code: str, values: Sequence[Any]) -> list[pa.Buffer]:
    return [pa.py_buffer(array(code, [0 if one is None else one for one in values]))]


def _texts(values: Sequence[str | None]) -> list[pa.Buffer]:
    content = [b"" if one is None else one.encode() for one in values]
    ends = np.cumsum([0, *map(len, content)], dtype=np.int32)
    return [pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(content))]


def _bits(values: Sequence[bool]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.array(values, dtype=np.bool_), bitorder="little").tobytes())
