"""An owner sees the backups and when each was last restored, and has them made and tried."""

import datetime as dt
import json
import os
import resource
import sqlite3
import subprocess
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError
from django.urls import reverse
from django.utils import timezone

from access.log import record
from access.models import LONGEST_SUBJECT, LogEntry
from completions.runs.services import asking
from heart_site import tasks
from heart_site.backups import databases, services, state
from tests.helpers.factories import NOW
from tests.helpers.factories_written_once import make_member
from tests.helpers.threads import doing_elsewhere

pytestmark = pytest.mark.django_db
MANIFEST = {
    "made_at": "2026-11-23T02:00:00+00:00",
    "code": "c",
    "engine": "sqlite",
    "server": "3.40",
    "migrations": [],
    "rows": {"a": 1200, "b": 34},
    "files": {},
    "format": 1,
}
NAME = "heart-20261123T020000Z"


@pytest.fixture
def out(settings, tmp_path):
    settings.HEART_BACKUP_DIR = tmp_path
    return tmp_path


@pytest.fixture
def kept(out):
    folder = out / NAME
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(MANIFEST))
    return folder


@pytest.fixture
def owner(client):
    owner = make_member()
    client.force_login(owner)
    return owner


@pytest.fixture
def handed(monkeypatch):
    handed: list[tuple[str, dict[str, object]]] = []
    monkeypatch.setattr(
        "access.background.hand_over", lambda task, **told: handed.append((task, told))
    )
    return handed


def page(client):
    return client.get(reverse("backups:all")).content.decode()


def test_each_backup_says_whether_its_rows_came_back(client, owner, kept):
    assert "1,234" in page(client)
    assert "never" in page(client)

    state.LastRestore("2026-11-24T10:00:00+00:00").write(kept)
    assert "all rows came back" in page(client)

    state.LastRestore("2026-11-25T10:00:00+00:00", "It is damaged.").write(kept)
    assert "It is damaged." in page(client)
    assert "2026-11-25T10:00" in page(client)


def test_what_is_no_backup_is_not_listed(client, owner, out):
    (out / "heart-notes").mkdir()
    (out / "heart-broken").mkdir()
    (out / "heart-broken" / "manifest.json").write_text("{")

    assert "There is no backup yet." in page(client)


@pytest.mark.parametrize("content", ["{", "[]", "null", "1", '{"format": 1}'])
def test_a_manifest_that_cannot_be_read_is_a_backup_no_more(client, owner, kept, content):
    (kept / "manifest.json").write_text(content)

    assert "There is no backup yet." in page(client)


def test_a_copy_is_a_backup_whatever_it_is_called(client, owner, kept, handed):
    name = f"{NAME} (copy).bak"
    kept.rename(kept.with_name(name))

    assert name in page(client)
    assert client.post(reverse("backups:try", args=[name])).status_code == 302
    assert handed == [("heart_site.tasks.try_restore", {"name": name, "by": owner.pk})]


def test_workers_make_a_backup_and_try_its_restore(client, owner, kept, handed):
    client.post(reverse("backups:make"))
    client.post(reverse("backups:try", args=[NAME]))
    assert client.post(reverse("backups:try", args=["heart-other"])).status_code == 404

    assert handed == [
        ("heart_site.tasks.make_backup", {"by": owner.pk}),
        ("heart_site.tasks.try_restore", {"name": NAME, "by": owner.pk}),
    ]


def test_what_a_worker_did_is_in_the_log_and_what_failed_on_the_page(
    client, owner, out, monkeypatch
):
    reason = "The disk is full." + " pg_dump said so." * 20

    def fail(*_args, **_told):
        raise state.BackupError(reason)

    monkeypatch.setattr(
        "heart_site.backups.services.make_backup", lambda *_args, **_told: out / NAME
    )
    monkeypatch.setattr(
        "heart_site.backups.services.try_restore", lambda *_args, **_told: "all as saved"
    )
    tasks.make_backup(by=owner.pk)
    tasks.try_restore(name=NAME, by=owner.pk)
    monkeypatch.setattr(services, "make_backup", fail)
    tasks.make_backup(by=owner.pk)

    assert list(LogEntry.objects.order_by("pk").values_list("action", "subject", "by")) == [
        ("backup.made", NAME, owner.pk),
        ("restore.tried", NAME, owner.pk),
        ("backup.failed", "backup", owner.pk),
    ]
    assert LogEntry.objects.get(action="backup.failed").after == {"said": reason}
    assert reason in page(client)


def test_a_restore_is_tried_beside_the_backup_and_is_no_backup_under_way(
    client, owner, kept, monkeypatch
):
    def restore(command, *, env, **_told):
        place = Path(env["HEART_DATA_DIR"])
        assert place.parent == kept.parent
        assert "One is being made." not in page(client)
        assert services._broken_off(kept.parent, timezone.now() + dt.timedelta(days=2)) == [place]
        return subprocess.CompletedProcess(command, 0, stdout="all as saved\n", stderr="")

    monkeypatch.setattr(subprocess, "run", restore)

    assert services.try_restore(kept, now=NOW) == "all as saved"
    assert [one.name for one in kept.parent.iterdir() if one.name.startswith(".")] == []


def test_one_restore_is_tried_at_a_time(owner, kept):
    with doing_elsewhere("trying a restore"):
        tasks.try_restore(name=NAME, by=owner.pk)

    assert "another process is trying a restore now" in LogEntry.objects.get().after["said"]


def test_a_long_name_of_a_backup_loses_its_end_in_the_log(owner, kept, monkeypatch):
    name = NAME + "-kept" * 40
    monkeypatch.setattr(
        "heart_site.backups.services.try_restore", lambda *_args, **_told: "all as saved"
    )

    tasks.try_restore(name=name, by=owner.pk)

    assert LogEntry.objects.get().subject == name[:LONGEST_SUBJECT]


def test_what_is_under_way_or_failed_with_its_reason_as_the_subject_is_shown(client, owner, out):
    broken_off, part = out / ".heart-1.part", out / ".heart-2.part"
    broken_off.mkdir()  # by a process that was killed this moment
    part.mkdir()
    record(action="backup.failed", subject="The disk is full.", now=timezone.now())

    with state.locked(part):
        assert "One is being made." in page(client)
    assert "One is being made." not in page(client)
    assert "The disk is full." in page(client)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SoftTimeLimitExceeded(), "nine minutes"),
        (OperationalError("terminating connection"), "The database went away"),
        (PermissionError(13, "Permission denied"), "an error of the software"),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("task", [tasks.make_backup, tasks.try_restore])
@pytest.mark.usefixtures("kept")
def test_what_broke_off_says_why_on_the_page(task, owner, client, monkeypatch, error, said):
    def stop(*_args, **_told):
        raise error

    monkeypatch.setattr(services, task.__name__, stop)

    task(by=owner.pk, **({} if task is tasks.make_backup else {"name": NAME}))

    entry = LogEntry.objects.get()
    assert entry.action == task.__name__.replace("make_", "").replace("try_", "") + ".failed"
    assert said in entry.after["said"]
    assert said in page(client)


def test_a_backup_that_a_restart_of_the_database_ended_is_told_when_it_is_back(owner, monkeypatch):
    troubles = [OperationalError, InterfaceError, OperationalError]

    def away_at_first(*given, **named):
        if troubles:
            raise troubles.pop()
        return record(*given, **named)

    monkeypatch.setattr(asking, "AWAY_S", (0, 0))
    monkeypatch.setattr(services, "make_backup", away_at_first)
    monkeypatch.setattr(tasks, "record", away_at_first)

    tasks.make_backup(by=owner.pk)

    assert LogEntry.objects.get(action="backup.failed").by == owner


@contextmanager
def little_room():
    """Have a disk on which no file holds more than 50 kB."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


class TestMaking:
    """A backup beside all that goes on meanwhile; what is saved of the database is made up."""

    @pytest.fixture
    def data(self, settings, tmp_path):
        data = settings.HEART_DATA_DIR = tmp_path / "data"
        data.mkdir()
        return data

    @pytest.fixture
    def meanwhile(self, monkeypatch):
        """Return a function that has something happen while the database is saved."""

        def save(act):
            monkeypatch.setattr(databases, "save", lambda folder: act(folder) or ("3", {}, ()))

        save(lambda _folder: None)
        return save

    @pytest.fixture
    def left(self, out):
        return lambda: sorted(one.name for one in out.iterdir() if one.name != "data")

    def test_of_two_in_one_second_one_is_whole(self, data, out, meanwhile, left):
        others = iter([lambda: services.make_backup(out, now=NOW)])
        meanwhile(lambda _folder: next(others, lambda: None)() and None)

        with pytest.raises(state.BackupError, match="cannot be written"):
            services.make_backup(out, now=NOW)

        (made,) = state.kept_backups(out)
        assert left() == [made.name]

    def test_is_closed_to_others_without_closing_what_other_threads_write(
        self, data, out, meanwhile
    ):
        masks = []
        meanwhile(lambda folder: masks.append((os.umask(0o022), folder.stat().st_mode & 0o777)))

        services.make_backup(out, now=NOW)

        assert masks == [(0o022, 0o700)]

    def test_has_the_files_of_which_its_database_tells_and_none_half_written(
        self, data, out, meanwhile
    ):
        def finish(_folder):
            (data / ".part").mkdir()
            (data / "r1").write_text("built")

        meanwhile(finish)

        made = services.make_backup(out, now=NOW)

        assert list(state.read_manifest(made).files) == ["files/r1"]

    def test_holds_no_backups_wherever_they_lie(self, data, out, meanwhile, settings, monkeypatch):
        (data / "kept" / "backups" / "heart-old").mkdir(parents=True)
        (data / "kept" / "notes").write_text("mine")
        (data / "kept" / "backups" / "heart-old" / "x").write_text("large")
        monkeypatch.chdir(data)
        settings.HEART_BACKUP_DIR = Path("kept/backups")

        made = services.make_backup(out, now=NOW)

        assert list(state.read_manifest(made).files) == ["files/kept/notes"]

    def test_clears_away_after_a_day_what_was_broken_off(self, data, out, meanwhile, left):
        old, new = (out / f".heart-2026010{day}T020000Z.part" for day in (1, 2))
        for part, age in ((old, dt.timedelta(days=1, minutes=1)), (new, dt.timedelta(hours=23))):
            part.mkdir()
            os.utime(part, ((NOW - age).timestamp(),) * 2)

        seen = []
        meanwhile(lambda _folder: seen.append(state.is_being_made(out)))

        made = services.make_backup(out, now=NOW)

        assert left() == [new.name, made.name]
        assert [*seen, state.is_being_made(out)] == [True, False]

    def test_says_which_file_could_not_be_read(self, data, out, meanwhile):
        (data / "gone").symlink_to(data / "nowhere")

        with pytest.raises(state.BackupError, match=r"gone.*No such file"):
            services.make_backup(out, now=NOW)

    def test_on_a_full_disk_says_so(self, data, out, monkeypatch, left, tmp_path_factory):
        database = tmp_path_factory.mktemp("large") / "heart.sqlite3"
        with closing(sqlite3.connect(database)) as link:
            link.execute("CREATE TABLE a AS SELECT zeroblob(100000) AS b")
            link.commit()
        monkeypatch.setattr(databases, "_database", lambda: database)
        with little_room(), pytest.raises(state.BackupError, match="cannot be copied"):
            services.make_backup(out, now=NOW)

        assert left() == []


def test_files_that_find_no_room_are_told_of_when_they_are_restored(kept, settings, monkeypatch):
    settings.HEART_DATA_DIR = kept.parent / "data"
    (kept / "files").mkdir()
    (kept / "files" / "r1").write_bytes(bytes(100_000))
    monkeypatch.setattr(services, "check_files", lambda *_given: None)
    for check in ("refuse_unless_empty", "load", "rows"):
        monkeypatch.setattr(databases, check, lambda *_given, **_named: MANIFEST["rows"])

    with little_room(), pytest.raises(state.BackupError, match=r"r1.*Do not use the database"):
        services.restore_backup(kept)
