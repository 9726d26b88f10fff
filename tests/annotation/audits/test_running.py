"""An audit outlives its worker, is run once, and is given up when it kills every worker."""

import datetime as dt
import sys

import pytest

from access.models import LogEntry
from annotation import audits
from annotation.choices import AuditState
from annotation.models import BlindingAudit
from heart_site import tasks
from heart_site.blinding import auditing
from tests.helpers.factories import NOW, make_lease, make_study
from tests.helpers.factories_written_once import make_member

pytestmark = pytest.mark.django_db
MINUTE = dt.timedelta(minutes=1)
LONG = 5 * MINUTE


@pytest.fixture
def study():
    return make_lease().rater.study


def run(audit, now=NOW):
    ended = auditing.run_audit(audit_id=audit.pk, clock=lambda: now)
    audit.refresh_from_db()
    return ended


def test_is_run_once_and_logs_who_started_it(study):
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


def test_one_that_kills_every_worker_is_given_up(study):
    audit = audits.claim_audit(study=study, now=NOW)
    for _ in range(3):
        audits.begin_audit(audit_id=audit.pk, now=NOW)

    assert not run(audit)
    assert audit.state == AuditState.FAILED
    assert "begun 3 times" in audit.error


def test_an_error_of_the_software_is_kept_and_logged(study, monkeypatch, caplog):
    audit = audits.claim_audit(study=study, now=NOW)
    monkeypatch.setattr(auditing, "audit", lambda *_args, **_options: 1 / 0)

    assert run(audit)
    assert (audit.state, audit.error) == (AuditState.FAILED, auditing.BROKEN)
    assert "ZeroDivisionError" in caplog.text


def test_one_whose_worker_died_is_begun_anew(study, monkeypatch):
    audit = audits.claim_audit(study=study, now=NOW)
    monkeypatch.setattr(auditing, "audit", lambda *_args, **_options: sys.exit())
    with pytest.raises(SystemExit):  # nothing is caught of what kills a worker
        run(audit)
    monkeypatch.undo()

    assert audits.reclaim_lost_audits(now=NOW + MINUTE) == []
    assert audits.reclaim_lost_audits(now=NOW + LONG) == [audit.pk]
    assert audits.reclaim_lost_audits(now=NOW + LONG + MINUTE) == []
    assert run(audit, NOW + LONG + MINUTE)
    assert (audit.state, audit.begun) == (AuditState.DONE, 2)


def test_one_that_is_alive_is_left_alone(study):
    audit = audits.claim_audit(study=study, now=NOW)
    begun = audits.begin_audit(audit_id=audit.pk, now=NOW)

    audits.note_progress(begun, n_done=1, n_total=9, now=NOW + LONG)

    assert audits.reclaim_lost_audits(now=NOW + LONG + MINUTE) == []


def test_a_worker_that_was_thought_dead_ends_nothing(study):
    audit = audits.claim_audit(study=study, now=NOW)
    slow = audits.begin_audit(audit_id=audit.pk, now=NOW)
    audits.begin_audit(audit_id=audit.pk, now=NOW + LONG)

    with pytest.raises(audits.AuditLostError):
        audits.note_progress(slow, n_done=1, n_total=1, now=NOW + LONG)
    assert not audits.end_audit(slow, holds=True, report={}, summary={}, now=NOW + LONG)
    audit.refresh_from_db()
    assert audit.state == AuditState.RUNNING


def test_one_that_lost_its_claim_stops(study, monkeypatch):
    audit = audits.claim_audit(study=study, now=NOW)
    honest = auditing.audit

    def overtaken(*args, **options):
        audits.begin_audit(audit_id=audit.pk, now=NOW)
        return honest(*args, **options)

    monkeypatch.setattr(auditing, "audit", overtaken)

    assert not run(audit)
    assert audit.state == AuditState.RUNNING


def test_the_tick_hands_lost_ones_to_workers(study, monkeypatch):
    audit = audits.claim_audit(study=study, now=NOW)
    handed = []
    monkeypatch.setattr(tasks.run_audit, "delay", lambda *, audit_id: handed.append(audit_id))
    monkeypatch.setattr("heart_site.tasks.timezone.now", lambda: NOW + LONG)

    tasks.reclaim_lost_audits()
    tasks.run_audit(audit_id=audit.pk)

    assert handed == [audit.pk]
    assert BlindingAudit.objects.get().state == AuditState.DONE
