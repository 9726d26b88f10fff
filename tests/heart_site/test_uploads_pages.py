"""What is too large to be taken in is refused before it is kept, with a page that says so."""

import tempfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Study
from heart_site.middleware.uploads import MOST_BYTES
from tests.helpers.factories_written_once import make_member

pytestmark = pytest.mark.django_db

DOORS = ("/console/new/file/", "/console/new/texts/", "/console/models/import/")


@pytest.mark.parametrize("address", DOORS)
def test_a_huge_file_is_refused_and_spooled_nowhere(address, tmp_path, monkeypatch, settings):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    client = Client()
    client.force_login(make_member())

    answer = client.post(address, {"file": SimpleUploadedFile("x.csv", b"a" * (MOST_BYTES + 1))})

    assert answer.status_code == 413
    assert "too large" in answer.content.decode()
    assert [*Path(tmp_path).iterdir()] == []
    assert not Study.objects.exists()


@pytest.mark.parametrize("address", DOORS)
@pytest.mark.parametrize(
    "content",
    [
        *(b"PK\x03\x04" + b"\0" * 100, b"\xff\xfea\0", b"\0\0\0", b"[" * 50_000, b"9" * 50_000),
        *(b"x = " + b"[" * 50_000, b"x = " + b"9" * 50_000, b'{"\\ud800": 1}'),
    ],
    ids=["zip", "utf-16", "nul", "nested", "number", "nested TOML", "number in TOML", "name"],
)
def test_what_is_no_such_file_is_told_and_stores_nothing(address, content):
    client = Client()
    client.force_login(make_member())

    answer = client.post(address, {"file": SimpleUploadedFile("x.csv", content)})

    assert answer.status_code in {200, 302, 400, 422}
    assert not Study.objects.exists()
