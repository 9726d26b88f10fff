"""An owner sees the backups and when each was last restored, and has them made and tried."""

import json

import pytest
from django.urls import reverse
from django.utils import timezone

from access.log import record
from access.models import LONGEST_SUBJECT, LogEntry
from heart_site import tasks
from heart_site.backups import services, state
from tests.helpers.factories_written_once import make_member

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


def test_a_long_name_of_a_backup_loses_its_end_in_the_log(owner, kept, monkeypatch):
    name = NAME + "-kept" * 40
    monkeypatch.setattr(
        "heart_site.backups.services.try_restore", lambda *_args, **_told: "all as saved"
    )

    tasks.try_restore(name=name, by=owner.pk)

    assert LogEntry.objects.get().subject == name[:LONGEST_SUBJECT]


def test_what_is_under_way_or_failed_with_its_reason_as_the_subject_is_shown(client, owner, out):
    (out / ".heart-20261123T020000Z.part").mkdir()
    record(action="backup.failed", subject="The disk is full.", now=timezone.now())

    assert "One is being made." in page(client)
    assert "The disk is full." in page(client)
