"""What is held about people is deleted when its time is over, and no sooner."""

import datetime as dt
from io import StringIO

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.management import call_command
from hypothesis import example, given
from hypothesis import strategies as st

from access.evidence import person_hash
from access.models import ConsentEvidence, LogEntry
from annotation import tasks
from annotation.choices import Platform, StudyState
from annotation.models import PlatformEvent, Rater, RationaleScan
from annotation.rationales.services import scanning
from annotation.retention import rules
from annotation.retention import services as retention_services
from annotation.retention.rules import HeldKind, due_on, latest_due, months_after
from completions.models import Writer
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_dataset,
    make_judgment,
    make_rater,
    make_study,
    make_writer,
)
from tests.helpers.factories_of_people import make_event, make_report
from tests.helpers.factories_written_once import make_evidence, make_log_entry, make_user

pytestmark = pytest.mark.django_db
MONTHS = dt.timedelta(days=31)
LATER = NOW + 7 * MONTHS


def enforce(now=LATER):
    return retention_services.enforce_retention(now=now)


def closed_study(**fields):
    study = make_study(
        **{"state": StudyState.CLOSED, "locked_at": NOW, "protocol_hash": "0" * 64} | fields
    )
    make_log_entry(action="study.closed", subject=f"study {study.slug}", at=NOW)
    return study


def known(study, n=1, **fields):
    return make_rater(
        study=study,
        platform=Platform.PROLIFIC,
        external_id=f"p-{n}",
        session={"STUDY_ID": "s", "SESSION_ID": "x"},
        utc_offset_minutes=60,
        **fields,
    )


class TestContact:
    def test_cuts_what_leads_to_people_and_keeps_their_code(self):
        rater = known(closed_study())
        make_event(rater=rater, study=rater.study)

        enforce()

        rater.refresh_from_db()
        assert (rater.external_id, rater.utc_offset_minutes) == ("", None)
        submission = rater.submissions.get()
        assert (submission.session_id, submission.ids) == ("", {})
        assert rater.forgotten_at == LATER
        assert PlatformEvent.objects.get().rater is None

    def test_leaves_no_way_from_a_guest_to_the_address_of_the_same_writer(self):
        study = closed_study()
        writer = make_writer(dataset=study.dataset, email="a@example.org")
        rater = make_rater(study=study, writer=writer)

        (due,) = enforce()

        rater.refresh_from_db()
        assert (due.n, rater.writer, rater.forgotten_at) == (1, None, LATER)
        assert Writer.objects.get().email  # the dataset is not frozen: it is still written

    def test_is_not_due_before_its_day_nor_in_a_study_that_is_open(self):
        early, still = known(closed_study()), known(make_study())

        enforce(NOW + 5 * MONTHS)
        assert Rater.objects.get(pk=early.pk).external_id
        enforce()
        assert Rater.objects.get(pk=still.pk).external_id

    def test_goes_in_batches_and_logs_counts_alone_once(self, monkeypatch):
        monkeypatch.setattr(retention_services, "BATCH", 2)
        study = closed_study()
        for n in range(3):
            known(study, n)

        enforce()

        assert enforce() == []
        entries = LogEntry.objects.filter(action="retention.contact").order_by("pk")
        assert [entry.after for entry in entries] == [{"deleted": 2}, {"deleted": 1}]
        assert {entry.subject for entry in entries} == {f"study {study.slug}"}


@pytest.mark.parametrize("months", [None, 1], ids=["kept for good", "for a month"])
def test_reasons_go_with_the_words_of_reports_where_the_site_says_so(settings, months):
    if months:
        settings.HEART_RETENTION_REASONS_MONTHS = months
    comparison = make_comparison(study=closed_study())
    judgment = make_judgment(comparison=comparison, rationale="It is warm.", chips="warm")
    report = make_report(lease=judgment.lease, text="It upset me.")
    scanning.scan_rationales(clock=lambda: NOW)

    enforce()

    judgment.refresh_from_db()
    report.refresh_from_db()
    kept = [judgment.rationale, report.text, RationaleScan.objects.exists()]
    assert kept == (["", "", False] if months else ["It is warm.", "It upset me.", True])
    assert judgment.chips == "warm"  # the study's word, of an answer that counts


def test_reasons_that_are_read_while_they_go_leave_nothing_behind(settings, monkeypatch):
    settings.HEART_RETENTION_REASONS_MONTHS = 6
    make_judgment(comparison=make_comparison(study=closed_study()), rationale="It is warm.")

    def forget_and_read(judgments):
        scanning.forget_scans(judgments)
        scanning.scan_rationales(clock=lambda: NOW)

    monkeypatch.setattr(retention_services, "forget_scans", forget_and_read)
    enforce()

    assert not RationaleScan.objects.exists()


def test_addresses_of_writers_go_when_their_dataset_was_frozen_long_ago():
    frozen = make_writer(dataset=make_dataset(frozen_at=NOW), email="a@example.org")
    open_ = make_writer(dataset=make_dataset(), email="b@example.org")

    enforce()

    assert Writer.objects.get(pk=frozen.pk).email == ""
    assert Writer.objects.get(pk=open_.pk).email


def test_evidence_goes_after_its_own_time(settings):
    settings.HEART_RETENTION_EVIDENCE_MONTHS = 12
    old = make_evidence(given_on=LATER.date() - dt.timedelta(days=366))
    new = make_evidence(given_on=LATER.date() - dt.timedelta(days=360))

    enforce()

    assert list(ConsentEvidence.objects.all()) == [new]
    assert old != new


def test_sessions_go_once_they_have_run_out():
    Session.objects.create(session_key="a", session_data="", expire_date=NOW)
    Session.objects.create(session_key="b", session_data="", expire_date=LATER + MONTHS)

    for key in "ab":
        user = make_user(username=key)
        UserSession.objects.create(user=user, session_key=key, ip="192.0.2.1")

    enforce()

    assert Session.objects.get().session_key == "b"
    assert UserSession.objects.get().session_key == "b"


class TestTheCommandAndTheTask:
    def run(self, action):
        out = StringIO()
        call_command("retention", action, stdout=out)
        return out.getvalue()

    def test_shows_what_falls_due_and_changes_nothing(self):
        rater = known(closed_study())

        said = self.run("show")

        assert f"study {rater.study.slug}" in said
        assert Rater.objects.get().external_id

    def test_apply_and_the_task_delete_what_is_due(self):
        for apply in (lambda: self.run("apply"), tasks.enforce_retention):
            Session.objects.create(session_key="a", session_data="", expire_date=NOW)
            assert "sessions" in self.run("show")

            apply()

            assert not Session.objects.exists()
            assert self.run("show").strip() == "Nothing."


POLICY = {
    HeldKind.CONTACT: 6,
    HeldKind.REASONS: 0,
    HeldKind.ADDRESSES: 1,
    HeldKind.EVIDENCE: 120,
}
CLOSED = dt.date(2026, 8, 31)
days = st.dates(dt.date(1990, 1, 1), dt.date(2090, 1, 1))


def test_counts_from_the_day_and_takes_the_last_of_a_short_month():
    assert due_on(POLICY, HeldKind.CONTACT, CLOSED) == dt.date(2027, 2, 28)
    assert due_on(POLICY, HeldKind.EVIDENCE, CLOSED) == dt.date(2036, 8, 31)


@pytest.mark.parametrize(("today", "is_due"), [((2027, 2, 27), False), ((2027, 2, 28), True)])
def test_is_due_from_its_day_on_unless_it_is_kept_for_good(today, is_due):
    assert rules.is_due(POLICY, HeldKind.CONTACT, CLOSED, dt.date(*today)) is is_due
    assert due_on(POLICY, HeldKind.REASONS, CLOSED) is None
    assert not rules.is_due(POLICY, HeldKind.REASONS, CLOSED, dt.date(*today))


@given(day=days, months=st.integers(0, 240))
def test_months_are_counted_back_as_they_are_counted_on(day, months):
    after = months_after(day, months)

    assert (after.year * 12 + after.month) - (day.year * 12 + day.month) == months
    assert months_after(after, -months) <= day
    assert after.day <= day.day


@example(since=dt.date(2026, 8, 31), months=6, offset=0)
@example(since=dt.date(2026, 2, 28), months=1, offset=2)
@given(since=days, months=st.integers(1, 240), offset=st.integers(-4, 4))
def test_all_that_is_due_is_found_by_the_day_from_which_it_counts(since, months, offset):
    policy = {HeldKind.EVIDENCE: months}
    today = months_after(since, months) + dt.timedelta(days=offset)

    assert (since <= latest_due(policy, HeldKind.EVIDENCE, today)) is (offset >= 0)


WHO = {"kind": "RATER", "scope": "demo", "identifier": "5f3b"}


class TestPersonHash:
    def test_is_the_same_for_the_same_person_however_it_is_typed(self):
        assert person_hash("k", **WHO) == person_hash("k", **WHO | {"identifier": " 5F3B"})

    @pytest.mark.parametrize("changed", [{"kind": "WRITER"}, {"scope": "b"}, {"identifier": "x"}])
    def test_differs_for_another_and_under_another_key(self, changed):
        assert person_hash("k", **WHO) != person_hash("k", **WHO | changed)
        assert person_hash("k", **WHO) != person_hash("l", **WHO)

    def test_knows_nobody_by_nothing(self):
        with pytest.raises(ValueError, match="nobody"):
            person_hash("k", kind="RATER", scope="demo", identifier=" ")
