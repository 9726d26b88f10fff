"""The sizes of tables, and what lists of the API cost, for benchmarks.scale."""

import base64
import logging
import statistics
import sys
import time
from functools import partial

from django.db import connection
from django.test import Client

from access.choices import Scope
from annotation.models import Comparison, Judgment, Study
from benchmarks.console import noted
from completions.models import Completion, Context
from tests.helpers.factories_of_site import bearing, make_secret

N_ROUNDS = 5
MOST_ROWS = 1_000
MEBI = 2**20
SIZES = """
SELECT relname, n_live_tup, pg_table_size(relid), pg_indexes_size(relid)
FROM pg_stat_user_tables WHERE n_live_tup >= %s ORDER BY pg_total_relation_size(relid) DESC
"""


def tell_sizes() -> None:
    """Print how many rows each large table has, and what it and its indexes take."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(SIZES, [MOST_ROWS])
        rows = cursor.fetchall()
    heads = ("table MiB", "indexes MiB", "bytes a row")
    sys.stdout.write(f"\n{'rows':>12}" + "".join(f"{head:>13}" for head in heads) + "  table\n")
    for name, n, table, indexes in rows:
        cells = (table / MEBI, indexes / MEBI, (table + indexes) / n)
        said = "".join(f"{cell:>13,.0f}" for cell in cells)
        sys.stdout.write(f"{n:>12,}{said}  {name}\n")
    sys.stdout.flush()


def tell_lists(study: Study) -> None:
    """Print what the first page of each list of the API costs, and one in the middle."""
    logging.disable(logging.INFO)  # a line for each request
    client, headers = Client(SERVER_NAME="localhost"), bearing(make_secret(*Scope))
    sys.stdout.write(f"\n{'queries':>8}{'ms':>8}  list of the API, 100 rows\n")
    for path, middle in _lists(study).items():
        for cursor in ("", _cursor(middle)) if middle else ("",):
            parameters = {"cursor": cursor} if cursor else {}
            queries: list[str] = []
            with connection.execute_wrapper(partial(noted, queries)):
                assert client.get(path, parameters, headers=headers).status_code == 200  # noqa: S101, PLR2004
            taken = []
            for _ in range(N_ROUNDS):
                started = time.perf_counter()
                client.get(path, parameters, headers=headers)
                taken.append(1000.0 * (time.perf_counter() - started))
            place = " in the middle" if cursor else ""
            sys.stdout.write(f"{len(queries):>8}{statistics.median(taken):>8.0f}  {path}{place}\n")
            sys.stdout.flush()


def _lists(study: Study) -> dict[str, int]:
    """Return the lists, each with the key of the row in its middle, or 0 of a short one."""
    of_study = f"/api/v1/studies/{study.slug}"
    return {
        "/api/v1/studies/": 0,
        "/api/v1/systems/": 0,
        "/api/v1/contexts/": _middle(Context),
        "/api/v1/completions/": _middle(Completion),
        f"{of_study}/comparisons/": _middle(Comparison),
        f"{of_study}/judgments/": _middle(Judgment),
        f"{of_study}/fits/": 0,
    }


def _middle(table: type[Context | Completion | Comparison | Judgment]) -> int:
    keys = table.objects.values_list("pk", flat=True)
    first, last = (keys.order_by(order)[0] for order in ("pk", "-pk"))
    return int(first + last) // 2


def _cursor(key: int) -> str:
    return base64.urlsafe_b64encode(str(key).encode()).decode()
