"""What is too large to be taken in is refused before it is kept, told, and logged by nobody."""

import json
import logging
import tempfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from access.choices import Scope
from annotation.models import Study
from completions.models import Completion
from heart_site.middleware import MOST_BYTES as MOST_WITH_FILES
from heart_site.security_settings import DATA_UPLOAD_MAX_MEMORY_SIZE as MOST_BYTES
from tests.helpers.factories import make_context, make_dialogue, make_study, make_system
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member

pytestmark = pytest.mark.django_db

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
DOORS = ("/console/new/file/", "/console/new/texts/", "/console/models/import/")


@pytest.fixture
def console():
    client = Client()
    client.force_login(make_member())
    return client


@pytest.mark.parametrize("address", DOORS)
def test_a_huge_file_is_refused_and_spooled_nowhere(
    address, console, tmp_path, monkeypatch, settings, caplog
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    file = SimpleUploadedFile("x.csv", b"a" * MOST_WITH_FILES)

    with caplog.at_level(logging.ERROR):
        answer = console.post(address, {"file": file})

    assert answer.status_code == 413
    assert "too large" in answer.content.decode()
    assert "larger than the 4 MB" in answer.content.decode()
    assert not caplog.records
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
def test_what_is_no_such_file_is_told_and_stores_nothing(address, content, console):
    answer = console.post(address, {"file": SimpleUploadedFile("x.csv", content)})

    assert answer.status_code in {200, 302, 400, 422}
    assert not Study.objects.exists()


@pytest.fixture
def secret():
    return make_secret(Scope.WRITE_COMPLETIONS, Scope.WRITE_JUDGMENTS)


def send(secret, content, address="/api/v1/completions/"):
    headers = bearing(secret) | {"Idempotency-Key": "key-1"}
    return Client().post(address, content, content_type=JSON, headers=headers)


def test_a_batch_of_the_size_that_is_documented_is_taken(secret):
    make_system(slug="ash", name="Ash")
    rows, dialogue = [], make_dialogue()
    for number in range(1_000):
        make_context(dialogue=dialogue, key=f"key{number}")
        text = f"{number} " + "I hear how hard that is. " * 150
        rows.append({"context": f"key{number}", "system": "ash", "text": text})

    answer = send(secret, json.dumps({"completions": rows}))

    assert (answer.status_code, answer.json()["n_new"]) == (201, 1_000)
    assert Completion.objects.count() == 1_000


@pytest.mark.parametrize(
    "address", ["/api/v1/completions/", "/api/v1/studies/{study}/external-judgments/"]
)
def test_what_is_larger_is_a_problem_that_names_the_limit(secret, caplog, address):
    study = make_study()
    with caplog.at_level(logging.ERROR):
        answer = send(secret, b" " * (MOST_BYTES + 1), address.format(study=study.slug))

    assert answer.status_code == 413
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"] == "At most 8,000,000 bytes at once: send smaller batches."
    assert not caplog.records


@pytest.mark.parametrize("address", ["/accounts/login/", "/console/models/import/store/"])
def test_a_form_that_is_larger_is_answered_with_a_calm_page(console, caplog, address):
    with caplog.at_level(logging.ERROR):
        answer = console.post(address, b"a=" + b"b" * MOST_BYTES, content_type=FORM)

    assert answer.status_code == 413
    assert "larger than the 8 MB" in answer.content.decode()
    assert not caplog.records
