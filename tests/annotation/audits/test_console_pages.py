"""The console's page on audits of a study's blinding, and "audit now"."""

import datetime as dt

import pytest
from django.test import Client
from django.urls import reverse

from access import background
from access.choices import Role
from annotation.choices import AuditState
from annotation.models import BlindingAudit
from tests.helpers.factories import NOW, make_study
from tests.helpers.factories_of_people import make_audit
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import assert_turned_away, text

pytestmark = pytest.mark.django_db

GUESSES = {
    "what": "what raters guessed",
    "n": 40,
    "value": 0.612,
    "chance": 0.503,
    "p_value": 0.0042,
    "interval": [0.55, 0.67],
}
SIDES = {"what": "side on which oak stands", "n": 30, "value": 1.0, "chance": 0.5, "p_value": 0.0}
TOKEN = {"what": "token of the lease", "n": 30, "value": 0.48, "chance": 0.5, "p_value": 0.7}
REPORT = {
    "n_pages": 30,
    "n_leases": 35,
    "faults": {},
    "tests": [TOKEN, SIDES],
    "telling": [],
    "texts": [],
    "guesses": None,
    "is_simulated": False,
    "holds": True,
}
DONE = {"state": AuditState.DONE, "ended_at": NOW, "holds": True, "n_done": 30, "n_total": 30}


@pytest.fixture(autouse=True)
def handed(monkeypatch):
    sent: list[int] = []
    monkeypatch.setattr(background, "hand_over", lambda _task, audit_id: sent.append(audit_id))
    return sent


@pytest.fixture
def study():
    return make_study()


def address(study, name="audits", *args):
    return reverse(f"blinding:{name}", args=[study.slug, *args])


def member(role=Role.MANAGER):
    client = Client()
    client.force_login(make_member(role=role))
    return client


def show(study, *args, role=Role.ANALYST):
    answer = member(role).get(address(study, "audit" if args else "audits", *args))
    assert answer.status_code == 200
    return text(answer)


def test_is_for_members_alone_and_says_what_will_be_there(study, handed):
    for answer in (Client().get(address(study)), Client().post(address(study, "start"))):
        assert_turned_away(answer)
    assert handed == []
    shown = show(study)
    assert "There was none yet." in shown
    assert "Audit now" not in shown
    assert "Audit now" in show(study, role=Role.MANAGER)
    other = make_audit(**DONE, report=REPORT)
    assert member().get(address(study, "audit", other.pk)).status_code == 404


def test_says_why_one_failed(study):
    make_audit(study=study, state=AuditState.FAILED, ended_at=NOW, error="It was begun 3 times.")

    assert "It was begun 3 times." in show(study)


def test_shows_the_newest_that_ended(study):
    make_audit(study=study, **DONE | {"holds": False}, report=REPORT)
    make_audit(study=study, **DONE, report=REPORT | {"n_pages": 29}, started_by=make_member("ada"))
    make_audit(study=study, started_at=NOW + dt.timedelta(hours=1))

    shown = show(study)

    assert "The blinding holds." in shown
    assert "29 pages, the newest of 35 pairs" in shown
    assert "ada" in shown
    assert "An audit is under way" in shown
    assert "does not hold" in shown  # the one before, in the list


def test_shows_an_earlier_one_with_what_told(study):
    told = REPORT | {
        "telling": [SIDES["what"]],
        "faults": {"names": ["oak on 3 pages, the first of lease 7"]},
        "texts": ["completion 12 names oak"],
        "guesses": GUESSES,
    }
    audit = make_audit(study=study, **DONE | {"holds": False}, report=told)
    make_audit(study=study, **DONE, report=REPORT)

    shown = show(study, audit.pk)

    assert "The blinding does not hold." in shown
    assert "oak on 3 pages, the first of lease 7" in shown
    assert "completion 12 names oak" in shown
    assert "0.612 right (95 % from 0.550 to 0.670); 0.503 by chance, of 40 guesses" in shown
    assert shown.index("side on which oak stands") < shown.index("token of the lease")


def test_starts_one_and_not_two(study, handed):
    client = member()

    client.post(address(study, "start"))
    answer = client.post(address(study, "start"), follow=True)

    audit = BlindingAudit.objects.get(study=study)
    assert handed == [audit.pk]
    assert audit.started_by is not None
    assert "An audit is under way already." in text(answer)


def test_tells_how_far_it_is_until_it_has_ended(study):
    audit = make_audit(study=study, n_done=5, n_total=30)
    client = member(Role.ANALYST)

    under_way = client.get(address(study, "progress"))
    BlindingAudit.objects.filter(pk=audit.pk).update(**DONE)

    assert "5 of 30 pages replayed." in text(under_way)
    assert client.get(address(study, "progress")).headers["HX-Refresh"] == "true"
