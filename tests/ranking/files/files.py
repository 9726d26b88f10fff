"""Files of judgments, written for a test."""

import csv
import json

import pyarrow as pa
from pyarrow import parquet

COLUMNS = ("context_id", "system_a", "system_b", "winner")


def row(context="c1", system_a="ada", system_b="bo", winner="a", **more):
    return {
        "context_id": context,
        "system_a": system_a,
        "system_b": system_b,
        "winner": winner,
        **more,
    }


def write(path, rows):
    """Write rows in the format that the name of the file ends in."""
    {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}[path.suffix](path, rows)
    return path


def _csv(path, rows):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _jsonl(path, rows):
    path.write_text("".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8")


def _parquet(path, rows):
    parquet.write_table(pa.Table.from_pylist(rows), path)
