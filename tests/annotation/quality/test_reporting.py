"""What a rater's report does, when a dialogue is held for everybody, and what admins decide."""

import pytest

from access.models import AppendOnlyError, LogEntry
from annotation.assignment import slots
from annotation.choices import RaterState, ReportKind, ReportOutcome
from annotation.models import Comparison, Report, ReportAlert, ReportDecision
from annotation.planning import services as planning_services
from annotation.quality import services as quality_services
from completions.choices import LeaseOutcome
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_rater,
)
from tests.helpers.factories_written_once import make_user
from tests.helpers.judged import lease_next, make_planted_study, report, submit

pytestmark = pytest.mark.django_db


def make_pairs(study, n_pairs=3):
    """Make comparisons of one context, and return them in the study's order."""
    context = make_context(dialogue=make_dialogue(dataset=study.dataset))
    return [
        make_comparison(
            study=study,
            first=make_completion(context=context),
            second=make_completion(context=context),
            position=place,
        )
        for place in range(n_pairs)
    ]


def lease_of_new_rater(study):
    lease = lease_next(make_rater(study=study))
    assert lease is not None
    return lease


def decide(comparison, outcome, reason="Read by two of us.", by=None, now=NOW + HOUR):
    return quality_services.decide_report(
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
    @pytest.mark.parametrize("kind", ReportKind.values)
    def test_stores_who_said_what_about_which_dialogue(self, kind):
        study = make_planted_study()
        make_pairs(study)
        lease = lease_of_new_rater(study)

        report(lease, ReportKind(kind), "It names a real person.")

        stored = Report.objects.get()
        assert (stored.rater, stored.lease) == (lease.rater, lease)
        assert stored.context == lease.comparison.context
        assert (stored.kind, stored.text) == (kind, "It names a real person.")

    @pytest.mark.parametrize(
        ("kind", "reason"), [(ReportKind.UPSET, "upsetting"), (ReportKind.CONTENT, "reported")]
    )
    def test_gives_the_slot_back_at_once(self, kind, reason):
        study = make_planted_study()
        [pair] = make_pairs(study, 1)
        lease = lease_of_new_rater(study)

        report(lease, kind)

        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, reason)
        pair.refresh_from_db()
        assert (pair.slots_left, pair.shown_first_as_a + pair.shown_first_as_b) == (5, 0)

    def test_hides_the_whole_dialogue_from_this_rater_alone(self):
        study = make_planted_study()
        make_pairs(study, 3)
        lease = lease_of_new_rater(study)

        report(lease)

        assert lease_next(lease.rater) is None
        assert lease_next(make_rater(study=study)) is not None

    def test_leaves_the_rater_other_dialogues(self):
        study = make_planted_study()
        make_pairs(study, 3)
        lease = lease_of_new_rater(study)
        [other] = make_pairs(study, 1)

        report(lease)

        going_on = lease_next(lease.rater)
        assert going_on is not None
        assert going_on.comparison == other

    def test_repeated_stores_one_report_and_one_alert(self):
        study = make_planted_study()
        make_pairs(study)
        lease = lease_of_new_rater(study)

        first = report(lease, ReportKind.UPSET)
        again = report(lease, ReportKind.CONTENT, "Once more.")

        assert first == again
        assert Report.objects.get().kind == ReportKind.UPSET
        assert ReportAlert.objects.get().report == first

    def test_after_an_answer_keeps_the_answer(self):
        study = make_planted_study()
        make_pairs(study)
        lease = lease_of_new_rater(study)
        judgment = submit(lease)

        report(lease)

        lease.refresh_from_db()
        assert lease.outcome == LeaseOutcome.SUBMITTED
        assert list(lease.judgments.all()) == [judgment]
        assert lease_next(lease.rater) is None

    def test_of_somebody_elses_pair_is_refused(self):
        study = make_planted_study()
        make_pairs(study)
        lease = lease_of_new_rater(study)
        lease.rater = make_rater(study=study)

        with pytest.raises(slots.LeaseNotFoundError):
            report(lease)

        assert not Report.objects.exists()

    def test_of_somebody_who_withdrew_is_refused(self):
        study = make_planted_study()
        make_pairs(study)
        lease = lease_of_new_rater(study)
        rater = lease.rater
        rater.state, rater.ended_at = RaterState.WITHDRAWN, NOW
        rater.save(update_fields=["state", "ended_at"])

        with pytest.raises(slots.LeaseNotFoundError):
            report(lease)

    def test_cannot_be_changed_afterwards(self):
        study = make_planted_study()
        make_pairs(study)
        stored = report(lease_of_new_rater(study))

        stored.text = "Never mind."
        with pytest.raises(AppendOnlyError):
            stored.save()


class TestHolding:
    def test_waits_for_as_many_raters_as_the_study_names(self):
        study = make_planted_study()
        make_pairs(study, 3)

        report(lease_of_new_rater(study))

        assert held(study) == {None}

    @pytest.mark.parametrize("kind", ReportKind.values)
    def test_takes_every_pair_of_the_dialogue_and_no_other(self, kind):
        study = make_planted_study()
        pairs = make_pairs(study, 3)
        leases = [lease_of_new_rater(study) for _ in range(2)]
        [other] = make_pairs(study, 1)

        for lease in leases:
            report(lease, ReportKind(kind))

        assert {Comparison.objects.get(pk=pair.pk).held_at for pair in pairs} == {NOW}
        assert Comparison.objects.get(pk=other.pk).held_at is None
        newcomer = lease_next(make_rater(study=study))
        assert newcomer is not None
        assert newcomer.comparison == other
        assert LogEntry.objects.get(action="reports.held").after == {"reports": 2}

    def test_leaves_the_same_dialogue_in_other_studies(self):
        study = make_planted_study()
        [pair] = make_pairs(study, 1)
        elsewhere = make_comparison(
            study=make_planted_study(dataset=study.dataset), first=pair.first, second=pair.second
        )

        for _ in range(2):
            report(lease_of_new_rater(study))

        elsewhere.refresh_from_db()
        assert elsewhere.held_at is None

    def test_takes_pairs_that_are_planned_later(self):
        study = make_planted_study(pairs_per_context=0)
        [pair] = make_pairs(study, 1)
        for _ in range(2):
            report(lease_of_new_rater(study))
        make_completion(context=pair.context)

        planning_services.plan_study(study=study, now=NOW + HOUR)

        dialogue = study.comparisons.filter(context=pair.context)
        assert dialogue.count() == 3
        assert not dialogue.filter(held_at=None).exists()

    def test_lets_those_who_have_a_pair_on_the_screen_finish_it(self):
        study = make_planted_study()
        make_pairs(study, 3)
        reading = lease_of_new_rater(study)
        for _ in range(2):
            report(lease_of_new_rater(study))

        judgment = submit(reading)

        assert not judgment.is_surplus


class TestDecideReport:
    @pytest.fixture
    def dialogue(self):
        study = make_planted_study()
        pairs = make_pairs(study, 2)
        for _ in range(2):
            report(lease_of_new_rater(study))
        return pairs[0]

    def test_releases_the_dialogue_to_everybody_but_those_who_reported_it(self, dialogue):
        decide(dialogue, ReportOutcome.RELEASED)

        assert held(dialogue.study) == {None}
        assert lease_next(make_rater(study=dialogue.study)) is not None
        assert lease_next(Report.objects.earliest("pk").rater) is None

    def test_keeps_a_dropped_dialogue_from_everybody(self, dialogue):
        decide(dialogue, ReportOutcome.DROPPED)

        assert None not in held(dialogue.study)
        assert lease_next(make_rater(study=dialogue.study)) is None

    def test_drops_a_dialogue_that_too_few_reported_to_be_held(self):
        study = make_planted_study()
        [pair] = make_pairs(study, 1)
        report(lease_of_new_rater(study))

        decide(pair, ReportOutcome.DROPPED)

        assert None not in held(study)

    def test_counts_reports_from_zero_after_a_release(self, dialogue):
        decide(dialogue, ReportOutcome.RELEASED)

        report(lease_of_new_rater(dialogue.study), now=NOW + 2 * HOUR)
        assert held(dialogue.study) == {None}
        report(lease_of_new_rater(dialogue.study), now=NOW + 3 * HOUR)
        assert held(dialogue.study) == {NOW + 3 * HOUR}

    def test_can_be_taken_back_and_keeps_every_decision(self, dialogue):
        decide(dialogue, ReportOutcome.DROPPED)
        decide(dialogue, ReportOutcome.RELEASED, now=NOW + 2 * HOUR)

        assert held(dialogue.study) == {None}
        decisions = ReportDecision.objects.order_by("pk").values_list("outcome", flat=True)
        assert list(decisions) == [ReportOutcome.DROPPED, ReportOutcome.RELEASED]

    def test_names_who_and_why_in_row_and_log(self, dialogue):
        admin = make_user()

        decide(dialogue, ReportOutcome.RELEASED, " Nothing in it. ", by=admin)

        decision = ReportDecision.objects.get()
        assert (decision.decided_by, decision.reason) == (admin, "Nothing in it.")
        entry = LogEntry.objects.get(action="reports.released")
        assert (entry.by, entry.after) == (admin, {"reason": "Nothing in it."})
        assert dialogue.context.key in entry.subject

    def test_needs_a_reason(self, dialogue):
        with pytest.raises(quality_services.ReasonMissingError):
            decide(dialogue, ReportOutcome.RELEASED, "  ")

        assert None not in held(dialogue.study)
        assert not ReportDecision.objects.exists()
