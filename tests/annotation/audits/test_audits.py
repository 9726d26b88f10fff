"""Audits of a study's blinding: run once whatever dies, and the console's page on them."""

import datetime as dt
from unittest.mock import Mock

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError
from django.test import Client
from django.urls import reverse

from access import background
from access.background import TOO_LONG
from access.choices import Role
from access.models import LogEntry
from annotation import audits
from annotation.choices import AuditState
from annotation.models import BlindingAudit
from heart_site import tasks
from heart_site.blinding import auditing
from tests.helpers.factories import NOW, make_lease, make_study
from tests.helpers.factories_of_people import make_audit
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db
MINUTE = dt.timedelta(minutes=1)
LONG = 5 * MINUTE


@pytest.fixture
def study():
    return make_lease().rater.study


@pytest.fixture
def audit(study):
    """One that was asked for and not begun."""
    return audits.claim_audit(study=study, now=NOW)


def run(audit, now=NOW):
    ended = auditing.run_audit(audit_id=audit.pk, clock=lambda: now)
    audit.refresh_from_db()
    return ended


def test_an_audit_is_run_once_and_logs_who_started_it(study):
    member = make_member()
    audit = audits.claim_audit(study=study, now=NOW, by=member)
    audits.claim_audit(study=make_study(), now=NOW)
    with pytest.raises(audits.AuditUnderWayError):  # of a study, one at a time
        audits.claim_audit(study=study, now=NOW)

    assert run(audit)
    assert (audit.state, audit.n_done, audit.n_total) == (AuditState.DONE, 1, 1)
    assert audit.holds
    assert not run(audit, NOW + MINUTE)
    assert audit.ended_at == NOW
    assert LogEntry.objects.get(action="audit.blinding").by == member


def test_one_that_kills_every_worker_is_given_up(audit):
    for _ in range(3):
        audits.begin_audit(audit_id=audit.pk, now=NOW)

    assert not run(audit)
    assert audit.state == AuditState.FAILED
    assert "begun 3 times" in audit.error


@pytest.mark.parametrize(
    ("error", "said"),
    [(ZeroDivisionError(), auditing.BROKEN), (SoftTimeLimitExceeded(), TOO_LONG)],
    ids=["error", "time"],
)
def test_what_broke_it_off_is_kept_and_logged(audit, monkeypatch, caplog, error, said):
    monkeypatch.setattr(auditing, "audit", Mock(side_effect=error))

    assert run(audit)
    assert (audit.state, audit.error) == (AuditState.FAILED, said)
    assert type(error).__name__ in caplog.text


@pytest.mark.parametrize("killer", [SystemExit, InterfaceError, OperationalError])
def test_one_whose_worker_or_database_died_is_begun_anew(audit, monkeypatch, killer):
    monkeypatch.setattr(auditing, "audit", Mock(side_effect=killer))
    with pytest.raises(killer):  # nothing is caught of what kills a worker
        run(audit)
    monkeypatch.undo()

    assert audits.reclaim_lost_audits(now=NOW + MINUTE) == []
    assert audits.reclaim_lost_audits(now=NOW + LONG) == [audit.pk]
    assert audits.reclaim_lost_audits(now=NOW + LONG + MINUTE) == []
    assert run(audit, NOW + LONG + MINUTE)
    assert (audit.state, audit.begun) == (AuditState.DONE, 2)


def test_one_that_is_alive_is_left_alone(audit):
    begun = audits.begin_audit(audit_id=audit.pk, now=NOW)

    audits.note_progress(begun, n_done=1, n_total=9, now=NOW + LONG)

    assert audits.reclaim_lost_audits(now=NOW + LONG + MINUTE) == []


def test_a_worker_that_was_thought_dead_ends_nothing(audit):
    slow = audits.begin_audit(audit_id=audit.pk, now=NOW)
    audits.begin_audit(audit_id=audit.pk, now=NOW + LONG)

    with pytest.raises(audits.AuditLostError):
        audits.note_progress(slow, n_done=1, n_total=1, now=NOW + LONG)
    assert not audits.end_audit(slow, holds=True, report={}, summary={}, now=NOW + LONG)
    audit.refresh_from_db()
    assert audit.state == AuditState.RUNNING


def test_one_that_lost_its_claim_stops(audit, monkeypatch):
    honest = auditing.audit

    def overtaken(*args, **options):
        audits.begin_audit(audit_id=audit.pk, now=NOW)
        return honest(*args, **options)

    monkeypatch.setattr(auditing, "audit", overtaken)

    assert not run(audit)
    assert audit.state == AuditState.RUNNING


def test_the_tick_hands_lost_ones_to_workers(audit, monkeypatch):
    handed = []
    monkeypatch.setattr(tasks.run_audit, "delay", lambda *, audit_id: handed.append(audit_id))
    monkeypatch.setattr("heart_site.tasks.timezone.now", lambda: NOW + LONG)

    tasks.reclaim_lost_audits()
    tasks.run_audit(audit_id=audit.pk)

    assert handed == [audit.pk]
    assert BlindingAudit.objects.get().state == AuditState.DONE


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


@pytest.fixture
def handed(monkeypatch):
    sent: list[int] = []
    monkeypatch.setattr(background, "hand_over", lambda _task, audit_id: sent.append(audit_id))
    return sent


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


def test_the_page_says_that_there_was_none_and_offers_one_to_managers(study):
    shown = show(study)

    assert "There are none yet." in shown
    assert "Audit now" not in shown
    assert "Audit now" in show(study, role=Role.MANAGER)


def test_the_page_says_why_one_failed(study):
    make_audit(study=study, state=AuditState.FAILED, ended_at=NOW, error="It was begun 3 times.")

    assert "It was begun 3 times." in show(study)


def test_the_page_shows_the_newest_that_ended(study):
    make_audit(study=study, **DONE | {"holds": False}, report=REPORT)
    make_audit(study=study, **DONE, report=REPORT | {"n_pages": 29}, started_by=make_member("ada"))
    make_audit(study=study, started_at=NOW + dt.timedelta(hours=1))

    shown = show(study)

    assert "The blinding holds." in shown
    assert "29 pages, the newest of 35 pairs" in shown
    assert "ada" in shown
    assert "An audit is under way" in shown
    assert "does not hold" in shown  # the one before, in the list


def test_the_page_shows_an_earlier_one_with_what_told(study):
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


def test_the_page_starts_one_and_not_two(study, handed):
    client = member()

    client.post(address(study, "start"))
    answer = client.post(address(study, "start"), follow=True)

    audit = BlindingAudit.objects.get(study=study)
    assert handed == [audit.pk]
    assert audit.started_by is not None
    assert "An audit is under way already." in text(answer)


def test_the_page_tells_how_far_it_is_until_it_has_ended(study):
    audit = make_audit(study=study, n_done=5, n_total=30)
    client = member(Role.ANALYST)

    under_way = client.get(address(study, "progress"))
    BlindingAudit.objects.filter(pk=audit.pk).update(**DONE)

    assert "5 of 30 pages replayed." in text(under_way)
    assert client.get(address(study, "progress")).headers["HX-Refresh"] == "true"
