"""Backups of a site with judgments, restored into a fresh place from which the site answers."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from heart_site.backups import databases
from heart_site.backups.state import BackupError, kept_backups, read_manifest
from tests import postgres as servers
from tests.conftest import missing

ROOT = Path(__file__).resolve().parents[2]
SETUP = "import django; django.setup(); "
FILL = SETUP + (
    "from tests.helpers.judged import make_judged_study; "
    "from tests.helpers.factories import make_study; "
    "make_judged_study(study=make_study(slug='kept', title='A study to keep'), with_llm=True)"
)
ASK = SETUP + (
    "from django.test import Client; answer = Client().get('/results/kept/'); "
    "print(answer.status_code, 'A study to keep' in answer.content.decode()); "
    "from annotation.models import Judgment; print(Judgment.objects.count()); "
    "from django.core.management import call_command; call_command('migrate', '--check')"
)
CALL = SETUP + (
    "import sys; from django.core.management import call_command; call_command(*sys.argv[1:])"
)
REFUSED = (
    SETUP
    + """
from django.core.management import CommandError, call_command
for folder in {folders!r}:
    try:
        call_command("restore", folder)
    except CommandError as refused:
        print(refused)
"""
)
LEAVE_SCRATCH = SETUP + (
    "from heart_site.backups import databases; "
    "databases._run(['createdb', databases.scratch_name()])  # as a killed process does"
)
SESSION = "INSERT INTO django_session VALUES (?, 'x', '2030-01-01')"


class Site:
    """A place with a database and a data folder of its own, in which commands are run."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "DJANGO_SETTINGS_MODULE": "heart_site.settings",
            "HEART_SECRET_KEY": "only-for-tests",
            "HEART_DATA_DIR": str(folder),
            "HEART_ALLOWED_HOSTS": "testserver",
            **({"DATABASE_URL": url} if url else {}),
        }

    def manage(self, *arguments: object, succeeds: bool = True) -> str:
        return self._run(["manage.py", *map(str, arguments)], succeeds=succeeds)

    def call(self, *arguments: object, succeeds: bool = True) -> str:
        """Run a command without the checks that manage.py begins with, which take longer."""
        return self._run(["-c", CALL, *map(str, arguments)], succeeds=succeeds)

    def python(self, code: str) -> str:
        return self._run(["-c", code], succeeds=True)

    def _run(self, arguments: list[str], *, succeeds: bool) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode == 0) is succeeds, done.stderr
        return (done.stdout if succeeds else done.stderr).strip()


def postgres_databases(n: int):
    """Create databases on a server that can be reached, and drop them in the end."""
    try:
        server = servers.server_url()
        with psycopg.connect(server) as link:
            version = str(link.info.server_version // 10_000)
        databases.check_tool("pg_dump", version)
        databases.check_tool("pg_restore", version)
    except (servers.NoServerError, BackupError) as error:
        missing("PostgreSQL with pg_dump", str(error))
    names = [f"heart_backup_{os.getpid()}_{number}" for number in range(n)]
    with psycopg.connect(server, autocommit=True) as link:
        for name in names:
            link.execute(f"CREATE DATABASE {name}")
        yield [re.sub(r"/[^/?]*(\?|$)", rf"/{name}\1", server) for name in names]
        for name in names:
            link.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def empty(tmp_path_factory, migrated):
    """The file of an empty site: tables take long to make and are made alike each time."""
    site = Site(tmp_path_factory.mktemp("empty") / "site")
    migrated(site.folder)
    if not any(site.folder.iterdir()):
        site.manage("migrate", "--noinput")
    return site.folder / "heart.sqlite3"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def sites(request, empty, tmp_path_factory):
    """A filled site with a backup of it, and a fresh one of the same kind."""
    folder = tmp_path_factory.mktemp(request.param)
    is_postgres = request.param == "postgresql"
    made = postgres_databases(2) if is_postgres else iter([["", ""]])
    old, new = (Site(folder / name, url) for name, url in zip("on", next(made), strict=True))
    if is_postgres:
        old.call("migrate", "--noinput")
    else:
        shutil.copy(empty, old.folder)
    (old.folder / "releases").mkdir()
    (old.folder / "releases" / "r1.txt").write_text("built")
    (old.folder / "secret-key").write_text("nobody's business")
    old.python(FILL)
    backup = Path(old.manage("backup", "--out", folder / "backups"))
    yield old, new, backup
    next(made, None)


class TestBackup:
    def test_says_what_is_in_it(self, sites):
        old, _, backup = sites

        manifest = read_manifest(backup)

        assert manifest.rows["annotation_judgment"] == 24
        assert "annotation.0001_initial" in manifest.migrations
        assert set(manifest.files) == {
            "files/releases/r1.txt",
            f"database.{'dump' if manifest.engine == 'postgresql' else 'sqlite3'}",
        }
        assert backup.stat().st_mode & 0o077 == 0
        assert old.environment["HEART_SECRET_KEY"] not in (backup / "manifest.json").read_text()

    def test_is_not_restored_when_damaged_or_of_a_later_version(self, sites, tmp_path):
        _, new, backup = sites
        damaged, later = (Path(shutil.copytree(backup, tmp_path / name)) for name in "dl")
        reasons = ("files/releases/r1.txt", "9999_from_the_future", "no backup")
        (damaged / "files/releases/r1.txt").write_text("bui1t")
        manifest = json.loads((later / "manifest.json").read_text())
        manifest["migrations"].append("ranking.9999_from_the_future")
        (later / "manifest.json").write_text(json.dumps(manifest))

        why = new.python(REFUSED.format(folders=[str(damaged), str(later), str(tmp_path)]))
        for said, reason in zip(why.splitlines(), reasons, strict=True):
            assert reason in said

    def test_is_tried_in_a_scratch_database_that_is_dropped_again(self, sites):
        old, _, backup = sites
        old.environment["HEART_BACKUP_DIR"] = str(backup.parent)
        if "DATABASE_URL" in old.environment:
            old.python(LEAVE_SCRATCH)

        said = old.manage("restore", "--try", backup)

        assert "all as saved" in said
        [kept] = kept_backups(backup.parent)
        assert kept.manifest.n_rows == sum(read_manifest(backup).rows.values())
        assert kept.last_restore.problem == ""
        if url := old.environment.get("DATABASE_URL"):
            with psycopg.connect(url) as link:
                left = link.execute("SELECT datname FROM pg_database WHERE datname ~ '^heart_res'")
                assert left.fetchall() == []
        damaged = Path(shutil.copytree(backup, backup.parent / "heart-damaged"))
        (damaged / "files/releases/r1.txt").write_text("bui1t")
        assert "damaged" in old.call("restore", "--try", damaged, succeeds=False)
        assert "damaged" in kept_backups(backup.parent)[0].last_restore.problem
        shutil.rmtree(damaged)

    def test_is_tried_elsewhere_where_files_name_the_database_and_the_folder(self, sites, tmp_path):
        old, _, backup = sites
        ours = f"sqlite:///{old.folder / 'heart.sqlite3'}"
        told = {"DATABASE_URL": ours, **old.environment}
        asked = Site(tmp_path / "asked")
        for name in ("DATABASE_URL", "HEART_DATA_DIR"):
            asked.environment.pop(name, None)
            (tmp_path / name).write_text(told[name])
            asked.environment[f"{name}_FILE"] = str(tmp_path / name)

        assert "all as saved" in asked.call("restore", "--try", backup)

    def test_comes_back_whole_and_the_site_answers_from_it(self, sites):
        _, new, backup = sites

        said = new.manage("restore", backup)

        assert "all as saved" in said
        assert "migrate" not in said
        assert new.python(ASK) == "200 True\n24"
        assert (new.folder / "releases" / "r1.txt").read_text() == "built"
        assert not (new.folder / "secret-key").exists()

    def test_is_never_restored_over_something(self, sites):
        old, _, backup = sites

        assert "not empty" in old.call("restore", backup, succeeds=False)


class TestSqlite:
    @pytest.fixture
    def site(self, empty, tmp_path):
        site = Site(tmp_path / "site")
        shutil.copy(empty, site.folder)
        return site

    def test_is_saved_in_one_state_while_others_write(self, site, tmp_path):
        stop, written = threading.Event(), []  # type: ignore[var-annotated]

        def write() -> None:
            with closing(sqlite3.connect(site.folder / "heart.sqlite3", timeout=30)) as link:
                while not stop.is_set():
                    with link:  # two rows or none
                        link.execute(SESSION, (f"a{len(written)}",))
                        link.execute(SESSION, (f"b{len(written)}",))
                    written.append(1)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            backup = Path(site.call("backup", "--out", tmp_path / "backups"))
        finally:
            stop.set()
            writer.join()

        manifest = read_manifest(backup)
        n = manifest.rows["django_session"]
        assert n % 2 == 0
        assert 0 < n <= 2 * len(written)
        fresh = Site(tmp_path / "fresh")
        assert "all as saved" in fresh.call("restore", backup)

    def test_keeps_the_newest_backups_alone(self, site, tmp_path):
        out = tmp_path / "backups"
        for name in ("heart-20200101T000000Z", "heart-20200102T000000Z", "heart-notes"):
            (out / name).mkdir(parents=True)
        for name in ("heart-20200101T000000Z", "heart-20200102T000000Z"):
            (out / name / "manifest.json").write_text("{}")

        made = Path(site.call("backup", "--out", out, "--keep", "2"))

        left = {path.name for path in out.iterdir()}
        assert left == {made.name, "heart-20200102T000000Z", "heart-notes"}


class TestTools:
    def test_that_are_older_than_the_server_are_refused_with_a_way_out(self):
        if shutil.which("pg_dump") is None:
            missing("pg_dump", "apt-get install postgresql-client")

        with pytest.raises(BackupError, match=r"must not be older \(Debian: apt-get install"):
            databases.check_tool("pg_dump", "99.1")

    def test_that_are_missing_are_named(self):
        with pytest.raises(BackupError, match="pg_nothing is not installed"):
            databases.check_tool("pg_nothing", "15")

    def test_are_told_the_password_by_their_environment_alone(self, monkeypatch, tmp_path):
        seen = []

        def run(command, *, env, **_options):
            seen.append((command, env))
            return subprocess.CompletedProcess(command, 0, "", "")

        way = {"host": "db", "user": "heart", "password": "pa ss", "dbname": "heart"}
        monkeypatch.setattr("subprocess.run", run)
        monkeypatch.setattr(
            databases, "connection", type("C", (), {"get_connection_params": lambda _: way})()
        )

        databases.dump(tmp_path, seen_as="1-1")
        databases.load_dump(tmp_path)

        assert all("pa ss" not in " ".join(command) for command, _ in seen)
        assert {env["PGPASSWORD"] for _, env in seen} == {"pa ss"}
