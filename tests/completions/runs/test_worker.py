"""A real Celery worker on Redis and a real database makes a run from one nudge."""

import os
import signal
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
import redis
from celery import Celery
from django.db import connection

from annotation.studies.rubric import load_rubric
from completions.offline import OfflineServer
from tests.helpers.factories import (
    make_comparison,
    make_generation_call,
    make_judge,
    make_judge_call,
    make_study,
    make_system,
)
from tests.helpers.processes import PATIENCE_S, Process, started, wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.full,
    pytest.mark.postgres,  # and on SQLite: workers need what each keeps for processes
]
N_COMPLETIONS, N_JUDGMENTS = 6, 4
COMPLETED = "SELECT COUNT(*) FROM completions_generationcall WHERE state = 'DONE'"
JUDGED = "SELECT COUNT(*) FROM annotation_judgecall WHERE state = 'DONE'"


@dataclass(frozen=True)
class SharedDatabase:
    """The rows of the test, where another process can reach them."""

    url: str
    count: Callable[[str], int]


@pytest.fixture
def rows() -> None:
    system = make_system(
        is_simulated=True, name="Simulated A", model_id="hosted_vllm/offline-alder"
    )
    for _ in range(N_COMPLETIONS):
        make_generation_call(system=system)
    study = make_study(content={"rubric": load_rubric("heart-1").content()})
    judge = make_judge(
        is_simulated=True, name="Simulated J", model_id="hosted_vllm/offline-judge-birch"
    )
    for _ in range(N_JUDGMENTS):
        make_judge_call(comparison=make_comparison(study=study), judge=judge)


@pytest.fixture
def database(rows: None, tmp_path: Path) -> SharedDatabase:
    if connection.vendor == "sqlite":
        return _copied(tmp_path / "shared.sqlite3")
    server = urlsplit(os.environ["DATABASE_URL"])
    url = urlunsplit(server._replace(path=f"/{connection.settings_dict['NAME']}"))
    return SharedDatabase(url, _count_here)


def _copied(file: Path) -> SharedDatabase:
    """Copy the tests' database, which lives in memory, to a file."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(file)])
    with closing(sqlite3.connect(file)) as copy:
        # As a site's file is since it was migrated; two processes cannot both change it to that.
        copy.execute("PRAGMA journal_mode = WAL")

    def count(query: str) -> int:
        with closing(sqlite3.connect(file)) as reader:
            return int(reader.execute(query).fetchone()[0])

    return SharedDatabase(f"sqlite:///{file}", count)


def _count_here(query: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.fetchone()[0])


@pytest.fixture
def broker(redis_url: str) -> Iterator[Celery]:
    prefix = f"heart-test-{uuid.uuid4()}:"
    app = Celery(broker=redis_url, set_as_current=False)
    app.conf.broker_transport_options = {"global_keyprefix": prefix}
    yield app
    app.close()
    with redis.Redis.from_url(redis_url) as client:
        for key in client.scan_iter(f"{prefix}*"):
            client.delete(key)


@pytest.fixture
def worker(
    broker: Celery, database: SharedDatabase, provider: OfflineServer, tmp_path: Path
) -> Iterator[Process]:
    options = ["-P", "prefork", "-c", "2", "-Q", "maintenance,llm", "--loglevel", "WARNING"]
    command = ["-m", "celery", "-A", "heart_site", "worker", *options]
    env = {
        "DATABASE_URL": database.url,
        "HEART_BROKER_URL": broker.conf.broker_url,
        "HEART_BROKER_PREFIX": broker.conf.broker_transport_options["global_keyprefix"],
        "HEART_OFFLINE_LLM_URL": provider.base_url,
    }
    with started("worker", *command, folder=tmp_path, env=env) as process:
        yield process


def test_a_worker_completes_a_run_and_stops_when_asked(broker, database, provider, worker):
    broker.send_task("completions.tasks.look_after_runs", queue="maintenance")

    wait_until(lambda: database.count(COMPLETED) == N_COMPLETIONS, worker)
    wait_until(lambda: database.count(JUDGED) == N_JUDGMENTS, worker)
    worker.popen.send_signal(signal.SIGTERM)

    assert worker.popen.wait(PATIENCE_S) == 0
    assert database.count("SELECT COUNT(*) FROM annotation_judgment") == N_JUDGMENTS
    assert len(provider.calls) == N_COMPLETIONS + N_JUDGMENTS
