"""What the docs promise is taken on every address; what is larger is told, and logged by nobody."""

import json
import logging

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from access.choices import Scope
from completions.models import Completion
from heart_site.middleware.uploads import MOST_BYTES as MOST_WITH_FILES
from heart_site.security_settings import DATA_UPLOAD_MAX_MEMORY_SIZE as MOST_BYTES
from tests.helpers.factories import make_context, make_dialogue, make_study, make_system
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member

pytestmark = pytest.mark.django_db

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def secret():
    return make_secret(Scope.WRITE_COMPLETIONS, Scope.WRITE_JUDGMENTS)


@pytest.fixture
def console():
    client = Client()
    client.force_login(make_member())
    return client


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


def test_a_file_that_is_larger_is_answered_with_a_calm_page(console, caplog):
    file = SimpleUploadedFile("x.csv", b"a" * MOST_WITH_FILES)
    with caplog.at_level(logging.ERROR):
        answer = console.post("/console/models/import/", {"file": file})

    assert answer.status_code == 413
    assert "larger than the 4 MB" in answer.content.decode()
    assert not caplog.records
