"""What is sent and not taken in: files and forms that are too large, fields that are not theirs.

What is too large is refused before it is kept, told, and logged by nobody. What a form or a program
may not set stays as it is, though it is sent to every address.
"""

import json
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import models
from django.test import Client, RequestFactory

from access.choices import Role, Scope
from annotation.models import Judgment, Lease, Study
from completions.models import Completion
from heart_site.middleware import MOST_BYTES as MOST_WITH_FILES
from heart_site.security_settings import DATA_UPLOAD_MAX_MEMORY_SIZE as MOST_BYTES
from heart_site.wsgi import application
from tests.conftest import rolled_back
from tests.heart_site.permissions import TABLE, addresses
from tests.helpers.factories import make_context, make_dialogue, make_study, make_system
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import console_pages
from tests.helpers.rows import make_everything, our_models
from tests.helpers.visits import ANSWERS, enrol, open_study, url

pytestmark = pytest.mark.django_db

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
DOORS = ("/console/new/file/", "/console/new/texts/", "/console/models/import/")


@pytest.mark.parametrize("address", DOORS)
def test_a_huge_file_is_refused_and_spooled_nowhere(
    address, staff, tmp_path, monkeypatch, settings, caplog
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    file = SimpleUploadedFile("x.csv", b"a" * MOST_WITH_FILES)

    with caplog.at_level(logging.ERROR):
        answer = staff.post(address, {"file": file})

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
def test_what_is_no_such_file_is_told_and_stores_nothing(address, content, staff):
    answer = staff.post(address, {"file": SimpleUploadedFile("x.csv", content)})

    assert answer.status_code in {200, 302, 400, 422}
    assert not Study.objects.exists()


@pytest.fixture
def secret():
    return make_secret(Scope.WRITE_COMPLETIONS, Scope.WRITE_JUDGMENTS)


def send(secret, content, address="/api/v1/completions/"):
    headers = bearing(secret) | {"Idempotency-Key": "key-1"}
    return Client().post(address, content, content_type=JSON, headers=headers)


@pytest.mark.parametrize("charset", ["zlib_codec", "rot13", "undefined", "utf-16", "latin-1"])
def test_a_charset_that_is_named_does_not_choose_how_a_request_is_read(charset):
    asked = RequestFactory().get("/accounts/login/?next=n%C3%A9")
    answered = Mock()

    sent = asked.environ | {"CONTENT_TYPE": f"{FORM}; charset={charset}"}
    page = application(sent, answered)

    assert answered.call_args.args[0] == "200 OK"
    assert 'name="next" value="né"' in b"".join(page).decode()


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
def test_a_form_that_is_larger_is_answered_with_a_calm_page(staff, caplog, address):
    with caplog.at_level(logging.ERROR):
        answer = staff.post(address, b"a=" + b"b" * MOST_BYTES, content_type=FORM)

    assert answer.status_code == 413
    assert "larger than the 8 MB" in answer.content.decode()
    assert not caplog.records


WORD, NUMBER, DAY = "planted-x9", "987654321", "2099-01-01"
FLAGS = ("is_superuser", "is_staff", "is_simulated", "is_hidden")
PLANTED = (
    dict.fromkeys(("id", "pk", "study_id", "rater_id", "owner_id", "dataset_id"), NUMBER)
    | dict.fromkeys(("slots_left", "n_judgments", "attempts", "position"), NUMBER)
    | dict.fromkeys(("state", "study", "rater", "owner", "role", "seed", "content_hash"), WORD)
    | dict.fromkeys(("created_at", "closed_at", "expires_at", "locked_at"), f"{DAY}T00:00:00Z")
    | dict.fromkeys(FLAGS, "true")
)


def tables() -> Iterator[type[models.Model]]:
    yield from (*our_models(), *apps.get_app_config("auth").get_models())


def planted() -> list[str]:
    """Name the field of every row that holds one of the values."""
    return sorted(
        {
            f"{model.__name__}.{name}"
            for model in tables()
            for row in model._base_manager.values()
            for name, value in row.items()
            if any(one in str(value) for one in (WORD, NUMBER, DAY))
        }
    )


def raised() -> dict[str, int]:
    """Count the rows with each flag of those that were sent."""
    return {
        f"{model.__name__}.{field.name}": model._base_manager.filter(**{field.name: True}).count()
        for model in tables()
        for field in model._meta.concrete_fields
        if field.name in FLAGS and isinstance(field, models.BooleanField)
    }


def written_to(study: Study) -> set[str]:
    """Return every address but those of the admin, where it can be with the keys of rows."""
    others = {
        one.example.replace("/demo/", f"/{study.slug}/")
        for one in addresses()
        if {"POST", "PUT", "PATCH"} & set(TABLE.get(one.route, "").split())
        and not one.route.startswith(("admin/", "accounts/logout/"))
    }
    return others | {page.address for page in console_pages(study)}


@pytest.fixture(scope="class")
def key_of_everything(module_rows):
    with rolled_back():
        yield make_everything().pk


class TestFieldsThatAreNotTheirs:
    @pytest.mark.parametrize(
        "role", [None, pytest.param(Role.ANALYST, marks=pytest.mark.full), Role.OWNER], ids=str
    )
    def test_are_taken_in_at_no_address(self, key_of_everything, role):
        study, client = Study.objects.get(pk=key_of_everything), Client()
        member = make_member(role=role) if role else None
        before, statuses = raised(), []
        for address in sorted(written_to(study)):
            if member and "_auth_user_id" not in client.session:  # some addresses sign out
                client.force_login(member)
            answer = client.post(address, PLANTED)
            assert answer.status_code < 500, address
            statuses.append(answer.status_code)

        assert planted() == []
        assert raised() == before
        assert len(statuses) > 100


@pytest.mark.parametrize(
    "route", [route for route, rule in TABLE.items() if route.startswith("api/") and "POST" in rule]
)
def test_programs_are_refused_with_them(route, secret):
    study = open_study()

    answer = send(secret, PLANTED, "/" + route.replace("<slug:study>", study.slug))

    assert answer.status_code == 400
    assert answer.json()["errors"]
    assert planted() == []


def test_nor_does_an_answer_that_is_right_otherwise():
    study, client = open_study(), Client()
    rater = enrol(client, study)
    client.get(url(study, "judge"))
    lease = Lease.objects.get(comparison__study=study)
    before = raised()

    client.post(url(study, "submit", lease.token), ANSWERS["preference"] | PLANTED)

    assert Judgment.objects.get(lease=lease).rater == rater
    assert planted() == []
    assert raised() == before


@pytest.mark.parametrize("value", [WORD, NUMBER, f"{DAY}T00:00:00Z"])
def test_a_value_that_was_taken_in_would_be_found(value):
    Study.objects.filter(pk=open_study().pk).update(title=value)

    assert planted() == ["Study.title"]
