"""docker-compose.yml without an engine: every service of ours runs as a plain process."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psycopg
import pytest
import yaml

from heart_site import schedule
from tests import postgres
from tests.conftest import missing

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
OURS = {name: service for name, service in COMPOSE["services"].items() if "build" in service}
GIVEN = {"HEART_SECRET_KEY": "from-the-env-file", "POSTGRES_PASSWORD": "secret"}
READY = {
    "worker-maintenance": "ready.",
    "worker-llm": "ready.",
    "worker-analysis": "ready.",
    "beat": "beat: Starting",
}
PATIENCE_S = 60.0


def substituted(value: object) -> str:
    """What compose makes of ${NAME:-default} and ${NAME:?message} with GIVEN as .env file."""
    pattern = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")

    def replace(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if name in GIVEN:
            return GIVEN[name]
        assert kind != "?", f"{name} has to be given"
        return rest or ""

    return pattern.sub(replace, str(value))


@pytest.fixture(scope="module")
def database():
    """A database of its own on a real server."""
    try:
        server = postgres.server_url()
    except postgres.NoServerError as error:
        missing("PostgreSQL", str(error))
    name = f"heart_compose_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield re.sub(r"/[^/?]*(\?|$)", rf"/{name}\1", server)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def environment(database, redis_url, tmp_path):
    """Exactly what the file gives, with the two host names of its network replaced."""
    values = {name: substituted(value) for name, value in OURS["web"]["environment"].items()}
    assert "@db:5432/" in values["DATABASE_URL"]
    assert values["HEART_BROKER_URL"] == "redis://redis:6379/0"
    values |= {"DATABASE_URL": database, "HEART_BROKER_URL": redis_url}
    values |= {"HEART_BROKER_PREFIX": f"{tmp_path.name}:", "HEART_DATA_DIR": str(tmp_path)}
    return {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", **values}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def start(service: str, environment: dict[str, str], log: Path, port: int) -> subprocess.Popen:
    command = [
        re.sub(r"^0\.0\.0\.0:8000$", f"127.0.0.1:{port}", word) for word in OURS[service]["command"]
    ]
    command = [str(port) if word == "8899" else word for word in command]
    command = [str(log.with_suffix(".beat")) if word == "/tmp/beat" else word for word in command]
    with log.open("wb") as out:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out)


def wait_until(process: subprocess.Popen, is_ready, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        if is_ready():
            return
        time.sleep(0.1)
    pytest.fail(f"{process.args!r} did not get ready:\n{log.read_text()[-3000:]}")


def stop(process: subprocess.Popen) -> int:
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def migrate(environment: dict[str, str]) -> None:
    subprocess.run(
        OURS["migrate"]["command"], cwd=ROOT, env=environment, check=True, capture_output=True
    )


def test_all_services_of_ours_share_one_image_and_one_environment():
    assert {service["image"] for service in OURS.values()} == {OURS["web"]["image"]}
    assert all(service["environment"] == OURS["web"]["environment"] for service in OURS.values())


def test_a_file_without_secrets_is_refused():
    for service in OURS.values():
        for name in ("HEART_SECRET_KEY", "DATABASE_URL"):
            assert ":?" in service["environment"][name]


def test_migrate_ends_by_itself(environment):
    migrate(environment)


@pytest.mark.parametrize("service", sorted(READY))
def test_a_worker_starts_and_ends_as_a_plain_process(service, environment, tmp_path):
    log = tmp_path / "log"
    process = start(service, environment, log, port=0)

    wait_until(process, lambda: READY[service] in log.read_text(), log)

    assert stop(process) == 0


@pytest.mark.parametrize(("service", "path"), [("web", "/readyz"), ("offline-llm", "/v1/models")])
def test_a_server_answers_and_ends_as_a_plain_process(service, path, environment, tmp_path):
    log, port = tmp_path / "log", free_port()
    process = start(service, environment, log, port)

    def answers() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as response:
                return response.status == 200
        except urllib.error.URLError:
            return False

    wait_until(process, answers, log)

    assert stop(process) in {0, -signal.SIGTERM}


def test_the_schedule_and_the_workers_cover_the_same_queues():
    commands = [service["command"] for service in OURS.values()]
    listened = {command[command.index("-Q") + 1] for command in commands if "-Q" in command}
    assert listened == {queue.name for queue in schedule.QUEUES}
