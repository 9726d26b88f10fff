"""The stack that the drills share, and the table of what came of them."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults import services
from tests.faults.crowd import Crowd, balance
from tests.faults.services import Stack, Web

HEADINGS = ("drill", "what was done", "acknowledged", "lost", "double", "seen", "healed after")
DRILLS = (
    "worker-killed",
    "database-restarted",
    "redis-restarted",
    "celery-killed",
    "two-webs",
    "browser",
)
"""Each has a study of its own."""
ROUNDS = int(os.environ.get("HEART_FAULT_ROUNDS", "1"))
"""How often each drill breaks things; `make faults` does it more often than `make test-all`."""
Table = Callable[..., None]


@pytest.hookimpl(tryfirst=True)  # before xdist writes the groups into the names
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep all drills on one worker, so that they share one stack and do not break another's."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("faults"))


@pytest.fixture(scope="package")
def stack() -> Iterator[Stack]:
    # Not under pytest's folders, which are for their owner alone: PostgreSQL refuses root.
    with (
        tempfile.TemporaryDirectory(prefix="heart-faults-") as name,
        tempfile.TemporaryDirectory(prefix="heart-faults-postgres-") as data,
        services.cluster(Path(data)) as cluster,
        services.broker(Path(name)) as broker,
    ):
        stack = Stack(cluster, broker, Path(name))
        stack.run("-m", "tests.faults.filling", *DRILLS)
        yield stack


@pytest.fixture(scope="package")
def web(stack: Stack) -> Iterator[Web]:
    """One web server for all drills: each leaves it healed."""
    with stack.web() as web:
        yield web


@pytest.fixture
def settle(stack: Stack, record_property: Callable[[str, object], None]) -> Table:
    """Check the books of a drill after its crowd has gone, and note its line of the table."""

    def settle(study: str, done: str, crowd: Crowd, *, healed_s: float) -> None:
        told = crowd.acknowledged
        found = balance(stack.cluster, study, told)
        line = (study, done, len(told), len(found.lost), len(found.twice))
        record_property("drill", (*line, _seen(crowd.troubles), f"{healed_s:.1f} s"))
        found.check(told, n_raters=len(crowd.raters))
        assert [word for one in crowd.raters for word in one.unkind] == []

    return settle


def _seen(troubles: Counter[str]) -> str:
    return ", ".join(f"{n} x {what}" for what, n in sorted(troubles.items())) or "nothing"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what came of each drill."""
    reports = [one for kind in terminalreporter.stats.values() for one in kind]
    rows = [
        tuple(map(str, value))
        for one in reports
        for name, value in getattr(one, "user_properties", ())
        if name == "drill" and one.when == "call"
    ]
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows, strict=True)]
    terminalreporter.section("drills")
    for row in (HEADINGS, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        terminalreporter.write_line("  ".join(cells).rstrip())
