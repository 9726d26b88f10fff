"""docker-compose.yml and the Dockerfile without an engine: what they promise, and what they start.

Every service runs as a plain process; the image's steps are those of the Makefile.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path

import psycopg
import pytest
from packaging.specifiers import SpecifierSet

from heart_site import schedule
from tests import postgres
from tests.conftest import REDIS_URL, missing
from tests.helpers import processes
from tests.helpers.processes import COMPOSE, OURS, ROOT, SERVICES, ComposedProcess, free_port

WORKERS = sorted(name for name in OURS if name.startswith("worker-"))
READY = dict.fromkeys(WORKERS, "ready.") | {"beat": "beat: Starting"}
ADDRESSES = {"web": "/readyz", "offline-llm": "/v1/models"}
ONCE = {"migrate", "backup"}
IMAGE_TAG = re.compile(r"[\w/.]+:\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?")


def answers(port: int, path: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as response:
            return response.status == 200
    except OSError:
        return False


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


class Stack:
    """All long-running services of ours, each with exactly the variables that the file gives."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        self.database = database
        self.ports = {name: free_port() for name in ADDRESSES}
        self.processes: dict[str, ComposedProcess] = {}

    def environment(self, service: str) -> dict[str, str]:
        """Replace what only the network of compose knows, and paths of a container."""
        values = processes.environment(service)
        assert "@db:5432/" in values["DATABASE_URL"]
        assert values["HEART_BROKER_URL"] == "redis://redis:6379/0"
        values |= {"DATABASE_URL": self.database, "HEART_BROKER_URL": REDIS_URL}
        values |= {"HEART_BROKER_PREFIX": f"{self.folder.name}-{os.getpid()}:"}
        values |= {"HEART_DATA_DIR": str(self.folder)}
        values |= {"HEART_BACKUP_DIR": str(self.folder / "backups")}
        values |= {"HEART_HEARTBEAT_FILE": self.replacements(service)["/tmp/heartbeat"]}
        values |= {"PROMETHEUS_MULTIPROC_DIR": str(self.folder / "metrics")}
        return {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", **values}

    def replacements(self, service: str) -> dict[str, str]:
        port = str(self.ports.get(service, 0))
        return {
            "/tmp/beat": str(self.folder / "beat"),
            "/tmp/heartbeat": str(self.folder / f"{service}.alive"),
            "0.0.0.0": "127.0.0.1",  # noqa: S104 (what it is in a container)
            "8000": port,
            "8899": port,
        }

    def start(self, service: str) -> None:
        words = processes.replaced(OURS[service]["command"], self.replacements(service))
        self.processes[service] = ComposedProcess(
            words, self.environment(service), self.folder / f"{service}.log"
        )

    def migrate(self) -> None:
        subprocess.run(
            OURS["migrate"]["command"],
            cwd=ROOT,
            env=self.environment("migrate"),
            check=True,
            capture_output=True,
        )


@pytest.fixture(scope="module")
def stack(database, tmp_path_factory, redis_url):
    """Everything is started at once: most of what they do is to import."""
    stack = Stack(tmp_path_factory.mktemp("composed"), database)
    stack.migrate()
    with processes.killed_at_the_end(stack.processes):
        for service in (*READY, *ADDRESSES):
            stack.start(service)
        yield stack


class TestComposeFile:
    def test_all_services_of_ours_share_one_image_and_one_environment(self):
        assert {service["image"] for service in OURS.values()} == {OURS["web"]["image"]}
        assert all(
            service["environment"] == OURS["web"]["environment"] for service in OURS.values()
        )

    @pytest.mark.parametrize("lacking", ["HEART_SECRET_KEY", "POSTGRES_PASSWORD"])
    def test_is_refused_without_a_secret(self, lacking):
        given = {name: value for name, value in processes.GIVEN.items() if name != lacking}

        with pytest.raises(processes.NotGivenError, match=lacking):
            processes.environment("web", given)

    def test_a_default_may_name_another_variable(self):
        assert processes.environment("web")["HEART_SITE_URL"] == "http://127.0.0.1:8000"
        given = processes.GIVEN | {"HEART_PORT": "9000"}
        assert processes.environment("web", given)["HEART_SITE_URL"] == "http://127.0.0.1:9000"

    def test_the_schedule_and_the_workers_cover_the_same_queues(self):
        commands = [service["command"] for service in OURS.values()]
        listened = {command[command.index("-Q") + 1] for command in commands if "-Q" in command}
        assert listened == schedule.QUEUES.keys()

    @pytest.mark.parametrize("name", sorted(SERVICES))
    def test_every_service_is_bounded(self, name):
        service = SERVICES[name]

        assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory"}
        assert "no-new-privileges:true" in service["security_opt"]
        assert service["logging"]["options"]["max-size"]

    @pytest.mark.parametrize("name", sorted(set(SERVICES) - ONCE))
    def test_every_service_that_stays_has_a_health_check_and_comes_back(self, name):
        assert SERVICES[name]["healthcheck"]["test"]
        assert SERVICES[name]["restart"] == "unless-stopped"

    @pytest.mark.parametrize("name", sorted({*OURS, "proxy"}))
    def test_what_faces_people_writes_nowhere_and_may_nothing(self, name):
        service = SERVICES[name]

        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert "privileged" not in service
        assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else [])

    def test_database_and_broker_are_reached_from_inside_alone(self):
        assert COMPOSE["networks"]["inside"]["internal"]
        for name in ("db", "redis"):
            assert SERVICES[name]["networks"] == ["inside"]
            assert "ports" not in SERVICES[name]
        assert SERVICES["proxy"]["networks"] == ["outside"]
        assert OURS["web"]["ports"] == ["127.0.0.1:${HEART_PORT:-8000}:8000"]

    @pytest.mark.parametrize("name", sorted(set(SERVICES) - set(OURS)))
    def test_images_of_others_have_an_exact_tag(self, name):
        assert IMAGE_TAG.fullmatch(SERVICES[name]["image"])

    def test_a_backup_holds_the_files_of_the_site_too(self):
        folders = {volume.split(":")[1] for volume in OURS["backup"]["volumes"]}
        values = processes.environment("backup")
        assert folders == {values["HEART_BACKUP_DIR"], values["HEART_DATA_DIR"]}


OPTION = r" -T| --[a-z-]+| -e \w+=\"[^\"]*\""
RUN = re.compile(rf"docker compose(?: --profile \w+)? run((?:{OPTION})*) ([a-z-]+)(.*)")
RUNS = [
    (page.name, *found)
    for page in sorted((ROOT / "docs").glob("*.md"))
    for found in RUN.findall(page.read_text(encoding="utf-8"))
]


class TestPages:
    @pytest.mark.parametrize(("page", "options", "service", "words"), RUNS)
    def test_run_services_that_there_are(self, page, options, service, words):
        assert service in OURS
        assert "--rm" in options

    def test_restore_before_anything_migrates(self):
        """A database is fresh until a service runs whose condition is that another migrated it."""
        restoring = [options for _page, options, _name, words in RUNS if "restore" in words]

        assert restoring
        assert all("--no-deps" in options for options in restoring)


class TestServices:
    @pytest.mark.parametrize("service", sorted({*READY, *ADDRESSES}))
    def test_gets_ready_is_healthy_and_ends(self, service, stack):
        process = stack.processes[service]

        if service in READY:
            process.wait_until(lambda: READY[service] in process.said())
        else:
            process.wait_until(lambda: answers(stack.ports[service], ADDRESSES[service]))
        process.wait_until(
            lambda: processes.is_healthy(
                service, stack.replacements(service), stack.environment(service)
            )
        )

        assert process.ended() in {0, -signal.SIGTERM}

    def test_those_that_run_are_all_that_stay(self):
        assert {*READY, *ADDRESSES} == set(OURS) - ONCE

    def test_a_service_that_gives_no_sign_is_not_healthy(self, stack):
        places = stack.replacements("beat") | {"/tmp/heartbeat": str(stack.folder / "old")}
        env = stack.environment("beat")
        assert not processes.is_healthy("beat", places, env)

        (stack.folder / "old").touch()
        assert processes.is_healthy("beat", places, env)

        os.utime(stack.folder / "old", (0, 0))
        assert not processes.is_healthy("beat", places, env)

    def test_a_backup_is_made(self, stack):
        command = OURS["backup"]["command"]
        if shutil.which("pg_dump") is None:
            missing("pg_dump", "apt-get install postgresql-client")

        subprocess.run(command, cwd=ROOT, env=stack.environment("backup"), check=True)

        assert [path.name for path in (stack.folder / "backups").glob("heart-*/database.dump")]

    def test_redis_starts_and_answers(self, tmp_path):
        if shutil.which("redis-server") is None:
            missing("redis-server", "apt-get install redis-server")
        port = str(free_port())
        env = {"PATH": "/usr/bin:/bin"}
        words = [*SERVICES["redis"]["command"], "--port", port, "--dir", str(tmp_path)]
        process = ComposedProcess(words, env, tmp_path / "log")

        with processes.killed_at_the_end({"redis": process}):
            ping = ["redis-cli", "-p", port, "ping"]
            assert SERVICES["redis"]["healthcheck"]["test"] == ["CMD", "redis-cli", "ping"]
            process.wait_until(
                lambda: (
                    subprocess.run(ping, env=env, capture_output=True, check=False).stdout
                    == b"PONG\n"
                )
            )
            assert process.ended() == 0


DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
STEPS = [
    tuple(line.split(maxsplit=1))
    for line in DOCKERFILE.splitlines()
    if line and not line.startswith(("#", " "))
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
BASES = [rest for step, rest in STEPS if step == "FROM"]
PINNED = f"postgres:17.11-bookworm@sha256:{'0' * 64}"


def steps(name: str) -> list[str]:
    return [rest for step, rest in STEPS if step == name]


def copied() -> dict[str, str]:
    """Return what is copied from the checkout, and where to."""
    found: dict[str, str] = {}
    for words in map(str.split, steps("COPY")):
        if not words[0].startswith("--from"):
            found |= dict.fromkeys(words[:-1], words[-1])
    return found


def ignored() -> list[str]:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    return [line.removeprefix("**/") for line in lines]


class TestStages:
    def test_one_builds_and_one_is_kept(self):
        assert len(BASES) == 2
        assert BASES[0] == f"{BASES[1]} AS build"
        assert "--from=build /opt/heart /opt/heart" in steps("COPY")

    def test_the_python_is_an_exact_one_that_the_project_runs_on(self):
        version = re.fullmatch(
            r"python:(\d+\.\d+\.\d+)-slim-bookworm(@sha256:[0-9a-f]{64})?", BASES[1]
        )
        assert version is not None
        assert version[1] in SpecifierSet(PROJECT["project"]["requires-python"])

    def test_it_runs_as_somebody_who_owns_nothing_of_the_code(self):
        assert STEPS[-3:][0] == ("USER", "heart")
        assert re.search(r"useradd --system --uid 10001 ", DOCKERFILE)
        assert "chown" not in " ".join(steps("COPY"))

    def test_its_command_is_that_of_web(self):
        assert steps("CMD") == [str(OURS["web"]["command"]).replace("'", '"')]


class TestInstalling:
    def test_takes_the_lock_with_hashes_as_make_does(self):
        (install,) = [rest for rest in steps("RUN") if "pip install" in rest]
        assert "-m pip install --require-hashes --no-deps -r requirements.lock" in install
        assert "install $(quietly) --no-compile --require-hashes --no-deps -r $(1)" in MAKEFILE
        assert ".venv/.runtime: requirements.lock" in MAKEFILE
        assert "requirements.lock" in copied()

    def test_its_dump_is_as_new_as_the_database(self):
        (server,) = re.findall(r"postgres:(\d+)", SERVICES["db"]["image"])
        assert f"postgresql-client-{server} " in DOCKERFILE


class TestCopying:
    @pytest.mark.parametrize("source", sorted(copied()))
    def test_source_exists_and_is_not_ignored(self, source):
        assert (ROOT / source).exists()
        assert source not in ignored()

    def test_every_package_that_the_site_imports_is_there(self):
        packages = set(PROJECT["tool"]["importlinter"]["root_packages"])
        assert packages <= set(copied())
        assert {"templates", "static"} <= set(copied())

    @pytest.mark.parametrize("folder", [".git", ".venv", "var", "tests", ".env", "staticfiles"])
    def test_what_is_private_or_of_no_use_stays_out(self, folder):
        assert folder in ignored()

    def test_static_files_are_collected_from_what_is_copied(self, tmp_path):
        """The very step of the file, in a folder that has what the image has and nothing else."""
        for source in copied():
            if (ROOT / source).is_dir():
                shutil.copytree(
                    ROOT / source, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copyfile(ROOT / source, tmp_path / source)
        (step,) = [rest for rest in steps("RUN") if "collectstatic" in rest]
        (storage,) = re.findall(r"HEART_STATIC_STORAGE=\S+", DOCKERFILE)
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"

        subprocess.run(
            ["/bin/sh", "-c", step.replace("/tmp/build", str(tmp_path / "build"))],
            cwd=tmp_path,
            env={"PATH": path, **dict([storage.split("=")])},
            check=True,
            capture_output=True,
        )

        assert (tmp_path / "staticfiles/staticfiles.json").exists()
        assert not (tmp_path / "build").exists()


class TestPinning:
    def test_writes_the_digest_behind_each_tag(self, tmp_path):
        for name in ("docker-compose.yml", "Dockerfile"):
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
        docker = tmp_path / "bin/docker"
        docker.parent.mkdir()
        docker.write_text(f'#!/bin/sh\necho "$4" >> asked\necho sha256:{"0" * 64}\n')
        docker.chmod(0o755)
        env = {"PATH": f"{docker.parent}:/usr/bin:/bin"}

        for _ in range(2):  # a digest that is there is renewed, not doubled
            subprocess.run([ROOT / "deploy/pin-images"], cwd=tmp_path, env=env, check=True)

        pinned = (tmp_path / "docker-compose.yml").read_text()
        assert pinned.count("@sha256:") == 3
        assert f"image: {PINNED}\n" in pinned
        assert "image: heart:local\n" in pinned
        assert (tmp_path / "Dockerfile").read_text().count("@sha256:") == 2
        assert set((tmp_path / "asked").read_text().split()) == {
            BASES[1].partition("@")[0],
            *(
                service["image"].partition("@")[0]
                for service in SERVICES.values()
                if "build" not in service
            ),
        }
