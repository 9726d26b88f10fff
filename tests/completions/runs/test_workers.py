"""Workers and beat are processes on Redis and a real database; only the model is none.

One nudge makes a run; and a drill of 400 calls has faults, killed workers, a lost broker and too
little money, with a provider that keeps a log.
"""

import datetime as dt
import os
import signal
import sqlite3
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
import redis
from celery import Celery
from django.db import connection
from django.db.models import F
from django.utils import timezone

from access import nudges
from annotation.studies.rubric import load_rubric
from completions.choices import CallState, PauseReason, RunState
from completions.generation.services import start_generation_run
from completions.models import Completion, GenerationCall, GenerationRun
from completions.offline import Fault, OfflineServer
from completions.offline.answers import make_answer
from completions.runs.services import running
from heart_site import schedule
from tests.faults import services
from tests.helpers.factories import (
    TURNS,
    make_comparison,
    make_context,
    make_dataset,
    make_generation_call,
    make_judge,
    make_judge_call,
    make_study,
    make_system,
)
from tests.helpers.processes import (
    PATIENCE_S,
    Process,
    first_line,
    has_left,
    logged,
    started,
    wait_until,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.full,
    pytest.mark.postgres,  # and on SQLite: workers need what each keeps for processes
]
N_CONTEXTS, VOICES = 200, ("offline-alder", "offline-birch")
TRANSIENT = {"429": 0.05, "500": 0.04, "cut": 0.04, "broken-body": 0.04}
FINAL = {"empty": 0.02, "filtered": 0.01}
SEED = 25  # with which nobody is turned away often, so that the drill is not spent on waiting
UNPAID = {Fault.RATE_LIMITED, Fault.SERVER_ERROR, Fault.BROKEN_BODY}
PRICE = {"input": 100.0, "output": 400.0}
FIRST_BUDGET, MORE = Decimal(20), Decimal(20)
WORKER = ["-m", "celery", "-A", "heart_site", "worker", "-Q", "maintenance,llm", "-c", "2"]
BEAT = ["-m", "celery", "-A", "heart_site", "beat", "--pidfile="]


@dataclass
class Drill:
    """The run, the processes around it, and the admin who watches it."""

    run: GenerationRun
    folder: Path
    env: Mapping[str, str]
    broker: services.Broker
    others: list[Process]
    name: str = field(default_factory=lambda: f"drill-{uuid.uuid4()}")
    """What the worker's connections to the database are called."""
    n_pauses: int = 0
    n_lost: int = 0

    @contextmanager
    def worker(self) -> Iterator[Process]:
        """Run a worker with two processes."""
        env = {**self.env, "PGAPPNAME": self.name}
        with started("worker", *WORKER, folder=self.folder, env=env) as process:
            yield process

    def wait_for(self, n_ended: int, worker: Process) -> None:
        """Watch until so many calls have ended."""
        self._watch(lambda: self.run.calls.exclude(ended_at=None).count() >= n_ended, worker)

    def wait_for_the_end(self, worker: Process) -> None:
        """Watch until the run is over."""
        self._watch(lambda: bool(self.run.state == RunState.ENDED), worker)

    def _watch(self, is_reached: Callable[[], bool], worker: Process) -> None:
        """Give the run more money whenever it asks for it, until that is so."""

        def reached() -> bool:
            self._look_after_the_money()
            return is_reached()

        wait_until(reached, worker, *self.others, doing=self._describe)

    def _describe(self) -> str:
        calls = self.run.calls.values("state", "attempts", "retry_at", "claimed_at")
        return f"{self.run.state} at {timezone.now()}, open: {list(calls.filter(ended_at=None))}"

    def kill(self, worker: Process) -> None:
        """Kill a worker in the middle of its calls, and let an hour pass."""
        claimed = self.run.calls.filter(state=CallState.CLAIMED)
        wait_until(claimed.exists, worker)
        worker.kill()
        wait_until(lambda: has_left(self.name))
        hour = dt.timedelta(hours=1)
        self.n_lost += claimed.update(claimed_at=F("claimed_at") - hour)
        self.run.calls.update(retry_at=F("retry_at") - hour)

    def _look_after_the_money(self) -> None:
        self.run.refresh_from_db()
        budget = self.run.budget_usd or Decimal(0)
        assert self.run.spent_usd + self.run.reserved_usd <= budget
        if self.run.state == RunState.PAUSED:
            assert self.run.pause_reason == PauseReason.BUDGET, self.run.pause_detail
            self.n_pauses += 1
            running.resume_run(self.run, now=timezone.now(), budget_usd=budget + MORE)
            nudges.publish(self.run.work, app=self._app())  # as a site on this broker does

    def _app(self) -> Celery:
        app = Celery(broker=self.broker.url, set_as_current=False)
        app.conf.broker_transport_options = {"global_keyprefix": self.env["HEART_BROKER_PREFIX"]}
        app.conf.task_queues, app.conf.task_routes = schedule.QUEUES, schedule.ROUTES
        return app


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[services.Broker]:
    """A Redis of its own: the drill empties it, and nobody else may empty it meanwhile."""
    with services.broker(tmp_path) as server:
        yield server


@pytest.fixture
def run() -> GenerationRun:
    dataset = make_dataset()
    for number in range(N_CONTEXTS):
        said = {"role": "seeker", "text": f"I cannot sleep. {case(number)}"}
        make_context(dataset=dataset, turns=[*TURNS[:2], said])
    systems = [
        make_system(
            is_simulated=True,
            name=f"Simulated {voice}",
            model_id=f"hosted_vllm/{voice}",
            parameters={"price": PRICE},
        )
        for voice in VOICES
    ]
    return start_generation_run(
        dataset=dataset, systems=systems, now=timezone.now(), budget_usd=FIRST_BUDGET
    )


@pytest.fixture
def drill(run: GenerationRun, broker: services.Broker, tmp_path: Path) -> Iterator[Drill]:
    database = urlsplit(os.environ["DATABASE_URL"])
    env = {
        "DATABASE_URL": urlunsplit(database._replace(path=f"/{connection.settings_dict['NAME']}")),
        "HEART_BROKER_URL": broker.url,
        "HEART_BROKER_PREFIX": f"heart-drill-{uuid.uuid4()}:",
        "HEART_LLM_CONCURRENCY": "16",
        "HEART_LLM_LIMITS": '{"*": {"requests_per_minute": 60000, "concurrency": 500}}',
        "HEART_LOG_LEVEL": "WARNING",
    }
    faults = [f"--fault={name}={share}" for name, share in (TRANSIENT | FINAL).items()]
    pace = ["--port=0", "--latency=0.2", "--retry-after=0.1", f"--seed={SEED}"]
    log = f"--log={tmp_path / 'calls.jsonl'}"
    with ExitStack() as stack:

        def start(name: str, *command: str) -> Process:
            return stack.enter_context(started(name, *command, folder=tmp_path, env=env))

        provider = start("provider", "manage.py", "offline_llm", *pace, *faults, log)
        env["HEART_OFFLINE_LLM_URL"] = first_line(provider).split()[3]
        beat = start("beat", *BEAT, f"--schedule={tmp_path / 'beat'}")
        yield Drill(run, tmp_path, env, broker, [provider, beat])


def case(number: int) -> str:
    """Return what marks the number-th context in the provider's log."""
    return f"This is night {number} of it."


def by_item(log: list[dict[str, Any]]) -> Mapping[tuple[str, str], list[dict[str, Any]]]:
    """Return the calls that came in, by model and by what the seeker said last."""
    found = defaultdict(list)
    for one in log:
        found[one["model"], one["request"]["messages"][-1]["content"]].append(one)
    return found


def bill(log: list[dict[str, Any]]) -> float:
    """Return what a provider would ask for all that it had to do with."""
    answers = [
        make_answer(one["model"], one["request"]["messages"], one["fault"])
        for one in log
        if one["fault"] not in UNPAID
    ]
    per_million = sum(
        PRICE["input"] * one.n_prompt_tokens + PRICE["output"] * one.n_tokens for one in answers
    )
    return per_million / 1e6


def check_answers(calls: list[GenerationCall]) -> None:
    """Every call has one answer, or the reason why it has none."""
    failed = {call.error_kind for call in calls if call.state == CallState.FAILED}
    done = [call for call in calls if call.state == CallState.DONE]
    assert {call.state for call in calls} == {CallState.DONE, CallState.FAILED}
    assert failed == {"content_filtered", "empty"}
    assert len(done) == len({call.completion_id for call in done}) == Completion.objects.count()


def check_log(calls: list[GenerationCall], log: list[dict[str, Any]]) -> None:
    """The provider was asked about every call, never more often than noted or after its end."""
    asked = by_item(log)
    assert len(asked) == len(calls)
    for call in calls:
        model = call.system.model_id.rpartition("/")[2]
        times = [one["at"] for one in asked[model, call.context.turns[-1]["text"]]]
        assert len(times) <= call.attempts
        assert call.ended_at is not None
        assert max(times) <= call.ended_at.timestamp()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="the drill needs PostgreSQL")
def test_a_run_outlives_its_workers_and_its_broker_and_asks_nothing_twice(drill, tmp_path):
    with drill.worker() as worker:
        drill.wait_for(60, worker)
        drill.kill(worker)
    with drill.worker() as worker:
        drill.wait_for(140, worker)
        drill.broker.flush()
        drill.wait_for(220, worker)
        drill.kill(worker)
    with drill.worker() as worker:
        drill.wait_for_the_end(worker)

    calls = list(drill.run.calls.select_related("context", "system"))
    log = logged(tmp_path / "calls.jsonl")
    assert drill.n_lost > 0
    assert len(calls) == N_CONTEXTS * len(VOICES)
    check_answers(calls)
    check_log(calls, log)
    assert drill.n_pauses > 0
    assert bill(log) <= drill.run.spent_usd <= drill.run.budget_usd
    assert drill.run.reserved_usd == 0


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
def shared_broker(redis_url: str) -> Iterator[Celery]:
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
    shared_broker: Celery, database: SharedDatabase, provider: OfflineServer, tmp_path: Path
) -> Iterator[Process]:
    env = {
        "DATABASE_URL": database.url,
        "HEART_BROKER_URL": shared_broker.conf.broker_url,
        "HEART_BROKER_PREFIX": shared_broker.conf.broker_transport_options["global_keyprefix"],
        "HEART_OFFLINE_LLM_URL": provider.base_url,
        "HEART_LOG_LEVEL": "WARNING",
    }
    with started("worker", *WORKER, folder=tmp_path, env=env) as process:
        yield process


def test_a_worker_completes_a_run_and_stops_when_asked(shared_broker, database, provider, worker):
    shared_broker.send_task("completions.tasks.look_after_runs", queue="maintenance")

    wait_until(lambda: database.count(COMPLETED) == N_COMPLETIONS, worker)
    wait_until(lambda: database.count(JUDGED) == N_JUDGMENTS, worker)
    worker.popen.send_signal(signal.SIGTERM)

    assert worker.popen.wait(PATIENCE_S) == 0
    assert database.count("SELECT COUNT(*) FROM annotation_judgment") == N_JUDGMENTS
    assert len(provider.calls) == N_COMPLETIONS + N_JUDGMENTS
