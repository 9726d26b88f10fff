"""How the rater's loop stands a crowd: python -m benchmarks.load, or make load.

Starts the processes of docker-compose.yml on a PostgreSQL database of its own and on Redis, and
sends raters through the real pages over HTTP: entry, consent, questions, then pair after pair.
First so many at once, without a pause; then a crowd that arrives within a minute and thinks. In the
same run bare Django with the same kind of SQL, and that SQL alone, say what the machine can do. In
the end the database is held against what must be so. Client, servers and database share the
machine, so ratios and processor time tell more than seconds.

Exits with 1 if a rule is broken or a request failed. Needs DATABASE_URL or a server as the tests
do, and Redis.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from django.core import signing
from django.db import connections
from django.utils import timezone

from benchmarks.load import crowd, floor_sql, stack
from benchmarks.load.run import HEAD, Run, goals, ratio
from benchmarks.scratch import scratch_site
from benchmarks.simulation import machine

if TYPE_CHECKING:
    from annotation.models import Study

BARE = "benchmarks.load.floor:application"


def main() -> int:
    """Measure on a database of its own, and return 1 if something that must hold does not."""
    options = arguments().parse_args()
    with tempfile.TemporaryDirectory() as folder, scratch_site() as url:
        return load(options, url=url, folder=Path(folder))


def load(options: argparse.Namespace, *, url: str, folder: Path) -> int:
    """Make the study in the database of the address, measure, print, and return the exit code."""
    from benchmarks.load.rows import N_EACH, make_loaded_study, right_answers  # noqa: PLC0415

    study = make_loaded_study(options.comparisons, now=timezone.now())
    floor_sql.make_tables(url, options.comparisons, N_EACH)
    connections.close_all()
    env = stack.environment(url=url, prefix=f"heart-load-{uuid.uuid4()}:", folder=folder)
    env[floor_sql.N_PAIRS] = str(options.comparisons)
    signer = signing.get_cookie_signer(salt=floor_sql.SALT)
    with ExitStack() as running:
        if not options.no_workers:
            running.enter_context(stack.workers(folder, env))
        bare = running.enter_context(stack.served(BARE, folder, env, **_changes(options)))
        checkouts = {"site": None} | ({"before": options.before} if options.before else {})
        runs = [
            Run(
                site=running.enter_context(
                    stack.served(stack.SITE, folder, env, checkout, **_changes(options))
                ),
                bare=bare,
                name=name,
                cookies=[signer.sign(f"R{place}") for place in range(max(options.raters))],
                slug=study.slug,
                right=right_answers(study),
                seconds=options.seconds,
            )
            for name, checkout in checkouts.items()
        ]

        def alone(n: int) -> float | None:
            return floor_sql.transactions_a_second(
                url,
                n_pairs=options.comparisons,
                n_clients=n,
                seconds=options.seconds,
                folder=folder,
            )

        asyncio.run(_measure(runs, options, alone))
    return max(_verify(run, study) for run in runs)


def arguments() -> argparse.ArgumentParser:
    """Return the parser of what can be asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, nargs="+", default=[1, 16, 64, 128, 256])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each step")
    parser.add_argument("--comparisons", type=int, default=57_000, help="5 slots each")
    parser.add_argument("--crowd", type=int, default=500, help="raters who arrive and think")
    parser.add_argument("--arrive", type=float, default=60.0, help="seconds until all came")
    parser.add_argument("--think", type=float, nargs=2, default=[20.0, 40.0], help="seconds")
    parser.add_argument("--over", type=float, default=90.0, help="seconds that the crowd has")
    parser.add_argument(
        "--web",
        nargs=2,
        metavar=("PROCESSES", "THREADS"),
        help="of the web server, if not those of docker-compose.yml",
    )
    parser.add_argument("--before", type=Path, help="a checkout of the commit to compare with")
    parser.add_argument("--no-workers", action="store_true", help="the web server alone")
    return parser


def _changes(options: argparse.Namespace) -> dict[str, str]:
    """Return what is asked for of the web server, by granian's options."""
    return dict(zip(("workers", "blocking-threads"), options.web or (), strict=False))


async def _measure(
    runs: Sequence[Run], options: argparse.Namespace, alone: Callable[[int], float | None]
) -> None:
    """Take the steps, each on the site, at the floor and in pgbench, and then the crowd.

    With a commit before, it takes each step as well, one after the other.
    """
    run = runs[0]
    _say(f"{machine()}; load average {os.getloadavg()[0]:.1f} before; {options.seconds:g} s a step")
    _say(" ".join(stack.command("web", **_changes(options))[1:]))
    _say(HEAD.strip("\n"))
    steps, ratios = [], []
    for n in options.raters:
        taken = [await one.together(n) for one in runs]
        for step in taken:
            _say(str(step))
        steps.append(taken[0])
        bare = await run.at_the_floor(n)
        _say(str(bare))
        for error, times in run.errors.items():
            _say(f"{'':<12}so far {times} x {error}")
        ratios.append(ratio(steps[-1], bare, alone(n)))
    plan = crowd.Arrivals(
        options.crowd, options.arrive, (options.think[0], options.think[1]), options.over
    )
    arrived = await run.arriving(plan)
    for one in runs:
        await one.leave()
    _say(f"{arrived}\n")
    for line in (*ratios, *goals(steps, arrived)):
        _say(line)


def _verify(run: Run, study: "Study") -> int:
    """Print what was lost or broken, and return the exit code."""
    from benchmarks.load.rows import broken  # noqa: PLC0415 (models need the settings)

    found = dict(broken(study, run.acknowledged))
    for error, times in run.errors.most_common():
        _say(f"{times:>6} x {error}")
    _say(f"\n{len(run.acknowledged)} answers acknowledged; in the database:")
    for rule, n in found.items():
        _say(f"{n:>6} {rule}")
    return int(any(found.values()) or bool(run.errors))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
