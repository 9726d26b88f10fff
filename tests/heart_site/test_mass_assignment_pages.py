"""What a form or a program may not set stays as it is, though it is sent to every address."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import models
from django.test import Client

from access.choices import Role, Scope
from annotation.models import Judgment, Lease, Study
from tests.heart_site.permissions import TABLE, addresses
from tests.helpers.console_pages import console_pages
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member
from tests.helpers.spoiled import APPS, make_everything
from tests.helpers.visits import ANSWERS, enrol, open_study, url

pytestmark = pytest.mark.django_db

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
    for label in (*APPS, "auth"):
        yield from apps.get_app_config(label).get_models()


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


@pytest.fixture(scope="module")
def key_of_everything(module_rows):
    return make_everything().pk


@pytest.mark.parametrize(
    "role", [None, pytest.param(Role.ANALYST, marks=pytest.mark.full), Role.OWNER], ids=str
)
def test_no_address_takes_in_what_is_not_its_own(key_of_everything, role):
    study, client = Study.objects.get(pk=key_of_everything), Client()
    member = make_member(role=role) if role else None
    before, statuses = raised(), []
    for address in sorted(written_to(study)):
        if member:
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
def test_programs_are_refused_with_them(route):
    study = open_study()
    secret = make_secret(Scope.WRITE_COMPLETIONS, Scope.WRITE_JUDGMENTS)
    address = "/" + route.replace("<slug:study>", study.slug)
    headers = bearing(secret) | {"Idempotency-Key": "key-1"}

    answer = Client().post(address, PLANTED, content_type="application/json", headers=headers)

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
