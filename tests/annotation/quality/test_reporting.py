"""What a rater's report does, when a dialogue is held for everybody, and what admins decide."""

import datetime as dt
from functools import partial

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from access.models import LogEntry
from annotation import tasks
from annotation.assignment import slots
from annotation.choices import RaterState, ReportKind, ReportOutcome
from annotation.models import Comparison, Lease, Report, ReportAlert, ReportDecision
from annotation.planning import services as planning_services
from annotation.quality.services import reporting
from completions.choices import LeaseOutcome
from completions.writers import emails
from tests.helpers.factories import HOUR, NOW, TURNS, make_comparison, make_completion, make_rater
from tests.helpers.factories_written_once import make_user
from tests.helpers.judged import lease_next, make_planted_study, make_study_content, report, submit
from tests.helpers.released import make_pairs
from tests.helpers.threads import together

pytestmark = pytest.mark.django_db


def make_dialogue(study, *, n_systems=3):
    """Return all pairs of a dialogue."""
    return make_pairs(study, n_contexts=1, n_systems=n_systems)


@pytest.fixture
def study():
    return make_planted_study()


@pytest.fixture
def pairs(study):
    return make_dialogue(study)


@pytest.fixture
def lease(study, pairs):
    return lease_of_new_rater(study)


def lease_of_new_rater(study):
    return lease_next(make_rater(study=study))


def report_until_held(study):
    """Let as many raters report the dialogue as the study names."""
    leases = [lease_of_new_rater(study) for _ in range(2)]
    for lease in leases:
        report(lease)


def decide(comparison, outcome, reason="Read by two of us.", by=None, now=NOW + HOUR):
    return reporting.decide_report(
        study=comparison.study,
        context=comparison.context,
        outcome=outcome,
        reason=reason,
        by=by,
        now=now,
    )


def held(study):
    return set(study.comparisons.values_list("held_at", flat=True))


class TestReportContext:
    @pytest.mark.parametrize(
        ("kind", "skipped"), [(ReportKind.UPSET, "upsetting"), (ReportKind.CONTENT, "reported")]
    )
    def test_stores_who_said_what_and_gives_the_slot_back_at_once(self, lease, kind, skipped):
        report(lease, kind, "It names a real person.")

        stored = Report.objects.get()
        assert (stored.rater, stored.lease) == (lease.rater, lease)
        assert stored.context == lease.comparison.context
        assert (stored.kind, stored.text) == (kind, "It names a real person.")
        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, skipped)
        pair = lease.comparison
        pair.refresh_from_db()
        assert (pair.slots_left, pair.shown_first_as_a + pair.shown_first_as_b) == (5, 0)

    def test_hides_the_whole_dialogue_and_no_other_from_this_rater_alone(self, study, lease):
        report(lease)

        assert lease_next(lease.rater) is None
        assert lease_next(make_rater(study=study)) is not None
        [other] = make_dialogue(study, n_systems=2)
        assert lease_next(lease.rater).comparison == other

    def test_repeated_stores_one_report_and_one_alert(self, lease):
        first = report(lease, ReportKind.UPSET)
        again = report(lease, ReportKind.CONTENT, "Once more.")

        assert first == again
        assert Report.objects.get().kind == ReportKind.UPSET
        assert ReportAlert.objects.get().report == first

    def test_after_an_answer_keeps_the_answer(self, lease):
        judgment = submit(lease)

        report(lease)

        lease.refresh_from_db()
        assert lease.outcome == LeaseOutcome.SUBMITTED
        assert list(lease.judgments.all()) == [judgment]
        assert lease_next(lease.rater) is None

    def test_of_somebody_elses_pair_and_of_who_withdrew_is_refused(self, study, lease):
        rater = lease.rater
        lease.rater = make_rater(study=study)
        with pytest.raises(slots.LeaseNotFoundError):
            report(lease)

        lease.rater = rater
        rater.state, rater.ended_at = RaterState.WITHDRAWN, NOW
        rater.save(update_fields=["state", "ended_at"])
        with pytest.raises(slots.LeaseNotFoundError):
            report(lease)

        assert not Report.objects.exists()


class TestHolding:
    @pytest.mark.parametrize("kind", ReportKind)
    def test_takes_every_pair_of_the_dialogue_and_no_other_once_enough_reported_it(
        self, study, pairs, kind
    ):
        elsewhere = make_comparison(
            study=make_planted_study(dataset=study.dataset),
            first=pairs[0].first,
            second=pairs[0].second,
        )
        one, enough = (lease_of_new_rater(study) for _ in range(2))
        [other] = make_dialogue(study, n_systems=2)

        report(one, kind)
        assert held(study) == {None}
        report(enough, kind)

        assert {Comparison.objects.get(pk=pair.pk).held_at for pair in pairs} == {NOW}
        for row in (other, elsewhere):
            row.refresh_from_db()
            assert row.held_at is None
        assert lease_next(make_rater(study=study)).comparison == other
        assert LogEntry.objects.get(action="reports.held").after == {"reports": 2}

    def test_takes_pairs_that_are_planned_later(self):
        study = make_planted_study(pairs_per_context=0)
        [pair] = make_dialogue(study, n_systems=2)
        report_until_held(study)
        make_completion(context=pair.context)

        planning_services.plan_study(study=study, now=NOW + HOUR)

        dialogue = study.comparisons.filter(context=pair.context)
        assert dialogue.count() == 3
        assert not dialogue.filter(held_at=None).exists()

    def test_takes_a_quarter_of_the_study_and_waits_then_for_a_decision(self, study):
        make_pairs(study, n_contexts=8, n_systems=2)

        def held_after(n_raters, now):
            for _ in range(n_raters):
                rater = make_rater(study=study)
                while (lease := lease_next(rater, now)) is not None:
                    report(lease, now=now)
            return study.comparisons.exclude(held_at=None)

        first = list(held_after(4, NOW))
        assert len(first) == 2
        assert lease_next(make_rater(study=study)) is not None

        for pair in first:
            decide(pair, ReportOutcome.DROPPED, now=NOW + HOUR)
        assert held_after(1, NOW + 2 * HOUR).count() == 4

    def test_lets_those_who_have_a_pair_on_the_screen_finish_it(self, study, lease):
        report_until_held(study)

        assert not submit(lease).is_surplus


class TestDecideReport:
    @pytest.fixture
    def dialogue(self, study):
        pairs = make_dialogue(study)
        report_until_held(study)
        return pairs[0]

    def test_releases_the_dialogue_to_everybody_but_those_who_reported_it(self, study, dialogue):
        admin = make_user()

        decide(dialogue, ReportOutcome.RELEASED, " Nothing in it. ", by=admin)

        assert held(study) == {None}
        assert lease_next(make_rater(study=study)) is not None
        assert lease_next(Report.objects.earliest("pk").rater) is None
        decision = ReportDecision.objects.get()
        assert (decision.decided_by, decision.reason) == (admin, "Nothing in it.")
        entry = LogEntry.objects.get(action="reports.released")
        assert (entry.by, entry.after) == (admin, {"reason": "Nothing in it."})
        assert dialogue.context.key in entry.subject

    def test_keeps_a_dropped_dialogue_from_everybody_until_it_is_taken_back(self, study, dialogue):
        decide(dialogue, ReportOutcome.DROPPED)
        assert None not in held(study)
        assert lease_next(make_rater(study=study)) is None

        decide(dialogue, ReportOutcome.RELEASED, now=NOW + 2 * HOUR)

        assert held(study) == {None}
        decisions = ReportDecision.objects.order_by("pk").values_list("outcome", flat=True)
        assert list(decisions) == [ReportOutcome.DROPPED, ReportOutcome.RELEASED]

    def test_drops_a_dialogue_that_too_few_reported_to_be_held(self, study, lease):
        report(lease)

        decide(lease.comparison, ReportOutcome.DROPPED)

        assert None not in held(study)

    def test_counts_reports_from_zero_after_a_release(self, study, dialogue):
        decide(dialogue, ReportOutcome.RELEASED)

        report(lease_of_new_rater(study), now=NOW + 2 * HOUR)
        assert held(study) == {None}
        report(lease_of_new_rater(study), now=NOW + 3 * HOUR)
        assert held(study) == {NOW + 3 * HOUR}

    def test_needs_a_reason(self, study, dialogue):
        with pytest.raises(reporting.ReasonMissingError):
            decide(dialogue, ReportOutcome.RELEASED, "  ")

        assert None not in held(study)
        assert not ReportDecision.objects.exists()


LATER = NOW + reporting.RETRY_AFTER


@pytest.fixture
def mail_set_up(settings):
    settings.HEART_ADMINS = ["one@example.org", "two@example.org"]
    settings.HEART_EMAIL_FROM = "heart@example.org"
    settings.HEART_SITE_URL = "https://heart.example.org"


def make_report(text="It names my street."):
    study = make_planted_study()
    make_comparison(study=study)
    return report(lease_next(make_rater(study=study)), ReportKind.CONTENT, text)


def send(now=NOW):
    return reporting.send_report_alerts(now=now)


@pytest.mark.usefixtures("mail_set_up")
class TestAlert:
    def test_gathers_what_waits_in_one_message_to_every_admin_without_what_was_written(self):
        stored, _ = make_report("It names my street."), make_report()

        assert send() == 2

        [message] = mail.outbox
        assert message.to == ["one@example.org", "two@example.org"]
        assert message.from_email == "heart@example.org"
        assert message.subject == "HEART: 2 reports by raters"
        study = stored.rater.study
        for named in (study.title, stored.context.key, f"/console/{study.slug}/reports/"):
            assert named in message.body
        assert "https://heart.example.org/console/" in message.body
        words = f"{message.subject}\n{message.body}"
        for hidden in (stored.text, stored.rater.code, *(turn["text"] for turn in TURNS)):
            assert hidden not in words

    def test_is_sent_once_though_the_task_runs_twice(self):
        make_report()

        tasks.send_report_alerts()
        tasks.send_report_alerts()

        assert len(mail.outbox) == 1
        assert ReportAlert.objects.get().sent_at is not None

    def test_that_another_sender_has_is_left_to_it_until_that_one_is_lost(self):
        make_report()
        ReportAlert.objects.update(claimed_at=NOW, attempts=1)

        assert send(NOW + dt.timedelta(minutes=1)) == 0
        assert mail.outbox == []
        assert send(LATER) == 1

        assert len(mail.outbox) == 1
        assert ReportAlert.objects.get().attempts == 2

    def test_that_the_mail_server_refused_waits_with_the_error_and_is_tried_again_later(
        self, monkeypatch
    ):
        def fail(self, messages):
            msg = "no route to host"
            raise ConnectionError(msg)

        with monkeypatch.context() as patch:
            patch.setattr(EmailBackend, "send_messages", fail)
            make_report()
            send()

        alert = ReportAlert.objects.get()
        assert (alert.sent_at, alert.error) == (None, "ConnectionError: no route to host")
        assert send(NOW + dt.timedelta(minutes=1)) == 0
        assert send(LATER) == 1
        alert.refresh_from_db()
        assert (alert.sent_at, alert.error) == (LATER, "")

    @pytest.mark.parametrize(
        "missing",
        [{"HEART_ADMINS": []}, {"EMAIL_BACKEND": emails.NO_SERVER}],
        ids=["nobody to write to", "no server"],
    )
    def test_waits_unclaimed_for_the_console_without_mail(self, missing, settings):
        for name, value in missing.items():
            setattr(settings, name, value)
        make_report()

        assert send() == 0

        assert not reporting.is_mail_set_up()
        assert ReportAlert.objects.get().attempts == 0


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
class TestReportersAtOnce:
    def test_who_are_just_enough_hold_the_dialogue_once_and_give_every_slot_back(self, crowd):
        for _ in range(crowd.rounds):
            n = crowd.people
            study = make_planted_study(
                content=make_study_content(checks={"gold_set": ""}, reports_to_hold=n)
            )
            pairs = make_dialogue(study)
            study.comparisons.update(slots_left=50)
            leases = [lease_of_new_rater(study) for _ in range(n)]

            together([partial(report, one) for one in leases])

            rows = Comparison.objects.filter(study=study)
            assert Report.objects.filter(rater__study=study).count() == n
            assert not rows.filter(held_at=None).exists()
            assert set(rows.values_list("slots_left", flat=True)) == {50}
            subject = f"context {pairs[0].context.key} in study {study.slug}"
            assert LogEntry.objects.filter(action="reports.held", subject=subject).count() == 1

    def test_and_those_who_lease_and_decide_never_stand_in_each_others_way(self, crowd):
        for _ in range(crowd.rounds):
            study = make_planted_study(content=make_study_content(checks={"gold_set": ""}))
            [pair, *_others] = make_dialogue(study)
            study.comparisons.update(slots_left=50)
            reports = [partial(report, lease_of_new_rater(study)) for _ in range(4)]
            release = partial(decide, pair, ReportOutcome.RELEASED, now=NOW)

            assigning = [partial(lease_next, make_rater(study=study)) for _ in range(2)]

            together([*reports, *assigning, release])

            assert Report.objects.filter(rater__study=study).count() == 4
            for row in Comparison.objects.filter(study=study):
                n_open = Lease.objects.filter(comparison=row, closed_at=None).count()
                assert row.slots_left == 50 - n_open

    def test_of_one_rater_in_two_tabs_are_one_report(self, crowd):
        for _ in range(crowd.rounds):
            study = make_planted_study()
            make_dialogue(study)
            lease = lease_of_new_rater(study)

            first, second = together([partial(report, lease)] * 2)

            assert first == second
            assert Report.objects.filter(rater=lease.rater).count() == 1
