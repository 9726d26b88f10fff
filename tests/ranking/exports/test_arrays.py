"""Columns of Parquet from their buffers."""

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from ranking.exports.rows.arrays import arrow_array

AT = dt.datetime(1969, 7, 20, 20, 17, 40, 123456, tzinfo=dt.UTC)
KINDS: dict[Any, list[Any]] = {
    pa.string(): ["", "Zoë\n\U0001f600", "a"],
    pa.int64(): [0, -(2**62), 7],
    pa.float64(): [0.1, -0.0, float("inf")],
    pa.bool_(): [True, False, True],
    pa.timestamp("us", tz="UTC"): [AT, AT + dt.timedelta(days=40_000), AT],
}


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("n", [0, 1, 9, 33])
def test_are_those_that_pyarrow_makes(kind, n):
    values = ([*KINDS[kind], None] * n)[:n]

    for given in (values, [one for one in values if one is not None]):
        found = arrow_array(given, kind)
        found.validate(full=True)
        assert found.equals(pa.array(given, kind))


def test_take_no_value_of_another_kind():
    with pytest.raises(TypeError):
        arrow_array([1.5], pa.int64())
