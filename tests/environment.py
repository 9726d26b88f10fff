"""A test run: its environment, set before Django reads its settings, and who runs what.

``HEART_TEST_DATABASE`` picks the database: ``sqlite`` (the default) or ``postgres``. For the
latter, tests/postgres.py finds a server: DATABASE_URL, or the usual local port.

Tests are shared out among processes by group where one is named, else by file: what a module
prepares for all its tests is then prepared once, not in every process. The longest come first, so
that no process is left alone with them at the end, and groups of several files are among them.
Browser tests come in a row, so that each process starts one site for them.
"""

import os
import signal
import tempfile
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling

from tests import postgres

VARIABLES = {
    "HEART_SECRET_KEY": "only-for-tests",
    "HEART_ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
    "HEART_BROKER_URL": "memory://localhost/",
    "HEART_BOOTSTRAP_REPLICATES": "200",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "",
    "HEART_DATA_DIR": tempfile.mkdtemp(prefix="heart-tests-"),
    # pytest-playwright's event loop would make Django refuse the ORM in browser tests.
    "DJANGO_ALLOW_ASYNC_UNSAFE": "true",
}

# Shells make what they run in the background ignore it, and tests interrupt themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.update(VARIABLES)
if os.environ.get("HEART_TEST_DATABASE", "sqlite") == "postgres":
    os.environ["DATABASE_URL"] = postgres.server_url()
else:
    os.environ["DATABASE_URL"] = f"sqlite:///{Path(VARIABLES['HEART_DATA_DIR']) / 'db.sqlite3'}"

LONGEST_FIRST = ("tests/browser/", "tests/faults/", "tests/deploy/")


class ByFile(LoadGroupScheduling):
    """Keep groups together as `--dist loadgroup` does, and files that name no group."""

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        return nodeid.split("::", 1)[0] if group == nodeid else group


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile | None:
    """Take the place of the scheduler that `--dist loadgroup` would make."""
    return ByFile(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(trylast=True)  # after they were shuffled
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest first; files stay whole."""
    items.sort(
        key=lambda item: (
            *(not item.nodeid.startswith(one) for one in LONGEST_FIRST),
            item.get_closest_marker("xdist_group") is None,
        )
    )
