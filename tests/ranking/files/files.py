"""Files of judgments, written for a test, and judgments made up for a test of rankings."""

import csv
import json

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from ranking.files.options import Options
from ranking.files.rating import rate
from ranking.files.reading import ReadOptions, read_judgments


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


def swapped(rows):
    """Return the rows as if the two sides had been exchanged."""
    other = {"a": "b", "b": "a", "tie": "tie"}
    return [
        one
        | {
            "system_a": one["system_b"],
            "system_b": one["system_a"],
            "winner": other[one["winner"]],
        }
        for one in rows
    ]


def read(tmp_path, rows, **wanted):
    return read_judgments(write(tmp_path / "judgments.csv", rows), ReadOptions(**wanted))


def rated(tmp_path, rows, **options):
    return rate(read(tmp_path, rows), Options(replicates=50, **options))


def by_name(found):
    return {one.system: one for one in found.rows}


def duel(won, lost, tied=0, *, n_contexts=10, strength=""):
    """Return judgments of two systems, spread over contexts, sides in turn."""
    outcomes = ["ada"] * won + ["bo"] * lost + ["tie"] * tied
    rows = []
    for number, outcome in enumerate(outcomes):
        sides = ("ada", "bo") if number % 2 else ("bo", "ada")
        winner = "tie" if outcome == "tie" else "ab"[sides.index(outcome)]
        given = "" if outcome == "tie" else strength
        rows.append(row(f"c{number % n_contexts}", *sides, winner, strength=given))
    return rows


def tournament(seed, *, n_systems=4, n_contexts=60, n_each=20, strengths=False):
    """Return judgments of random pairs, with ties; the systems are evenly apart."""
    rng = np.random.default_rng(seed)
    rows = []
    for context in range(n_contexts):
        luck = rng.normal(0.0, 0.5, size=n_systems) + 0.4 * np.arange(n_systems)
        for _ in range(n_each):
            one, other = rng.permutation(n_systems)[:2]
            seen = luck[one] - luck[other] + rng.logistic()
            winner = "tie" if abs(seen) < 0.5 else "ab"[int(seen < 0)]
            strength = str(rng.integers(1, 6)) if strengths and winner != "tie" else ""
            rows.append(row(f"c{context}", f"s{one}", f"s{other}", winner, strength=strength))
    return rows
