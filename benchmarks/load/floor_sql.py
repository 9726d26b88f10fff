"""The SQL of the bare floor, its tables, and the same SQL alone, in pgbench.

As many statements as an answer of a rater takes, on rows that are looked up as its rows are.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import psycopg

TABLES: Final = """
CREATE TABLE floor_pair (id serial PRIMARY KEY, slots_left int NOT NULL);
CREATE TABLE floor_lease (
    id serial PRIMARY KEY, pair_id int NOT NULL, rater text NOT NULL, closed_at timestamptz);
CREATE TABLE floor_answer (
    id serial PRIMARY KEY, lease_id int NOT NULL, rater text NOT NULL, verdict int NOT NULL,
    rationale text NOT NULL, at timestamptz NOT NULL DEFAULT now());
"""
NAMES: Final = ("floor_pair", "floor_lease", "floor_answer")
PAIRS: Final = "INSERT INTO floor_pair (slots_left) SELECT %s FROM generate_series(1, %s)"
FIND: Final = "SELECT pair_id FROM floor_lease WHERE id = %s FOR UPDATE"
STORE: Final = """
WITH changed AS (UPDATE floor_lease SET closed_at = now() WHERE id = %s)
INSERT INTO floor_answer (lease_id, rater, verdict, rationale) VALUES (%s,%s,%s,%s)
"""
CLAIM: Final = """
SELECT id FROM floor_pair WHERE slots_left > 0 AND id >= %s ORDER BY id
LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
"""
LEASE: Final = """
WITH changed AS (UPDATE floor_pair SET slots_left = slots_left - 1 WHERE id = %s)
INSERT INTO floor_lease (pair_id, rater) VALUES (%s, %s) RETURNING id
"""
NEXT: Final = re.compile(rb'action="(/\d+/)"')
N_PAIRS: Final = "HEART_FLOOR_PAIRS"
"""The variable that tells the floor how many pairs there are."""
SALT: Final = "rater"
MOST_CLIENTS: Final = 32  # a web server has fewer connections than raters, too
PGBENCH: Final = r"""
\set start random(1, {n_pairs} / 2)
\set rater random(1, {n_raters})
BEGIN;
{find};
{store};
SELECT coalesce(({claim}), 1) AS id \gset
{lease};
COMMIT;
"""


def make_tables(url: str, n_pairs: int, n_each: int) -> None:
    """Make the floor's tables, with as many pairs and free slots as the study has."""
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(TABLES)
        link.execute(PAIRS, [n_each, n_pairs])
        link.execute("VACUUM ANALYZE floor_pair")


def transactions_a_second(
    url: str, *, n_pairs: int, n_clients: int, seconds: float, folder: Path
) -> float | None:
    """Return what pgbench reaches with the floor's SQL and nothing else; None without pgbench."""
    if (program := shutil.which("pgbench")) is None:
        return None
    rater = "'R' || :rater"
    words = PGBENCH.format(
        n_pairs=n_pairs,
        n_raters=n_clients,
        find=FIND.replace("%s", ":start"),
        store=STORE.replace(
            "(%s,%s,%s,%s)", f"(:start, {rater}, 1, 'It takes up what was said.')"
        ).replace("%s", ":start"),
        claim=CLAIM.strip().replace("%s", ":start"),
        lease=LEASE.replace("(%s, %s)", f"(:id, {rater})").replace("%s", ":id"),
    )
    script = folder / "floor.sql"
    script.write_text(words, encoding="utf-8")
    n_clients = min(n_clients, MOST_CLIENTS)
    options = ["--no-vacuum", "--protocol=prepared", f"--client={n_clients}", "--jobs=2"]
    how_long = [f"--time={max(1, round(seconds))}", f"--file={script}"]
    command = [program, *options, *how_long, url]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    found = re.search(r"^tps = ([\d.]+)", said, re.MULTILINE)
    return float(found[1]) if found else None
