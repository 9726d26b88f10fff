"""Raters who report one dialogue at once, and reviews of raters at once, in real threads."""

from functools import partial

import pytest
from django.contrib.auth.models import User

from access.models import LogEntry
from annotation.choices import ReportKind, ReportOutcome
from annotation.judging.services import leasing
from annotation.models import Comparison, Exclusion, Lease, Report
from annotation.quality.services import excluding, reporting
from ranking.raters import services
from tests.annotation.quality.reported import make_pairs
from tests.helpers.factories import (
    NOW,
    make_rater,
)
from tests.helpers.judged import make_planted_study, make_study_content
from tests.helpers.released import LATER, decisions, make_reviewed_study
from tests.helpers.threads import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


def lease(study):
    found = leasing.lease_next_comparison(rater=make_rater(study=study), now=NOW)
    assert found is not None
    return found


def report(held):
    return partial(
        reporting.report_context,
        token=held.token,
        rater=held.rater,
        kind=ReportKind.CONTENT,
        now=NOW,
    )


def assign_next(study):
    return partial(leasing.lease_next_comparison, rater=make_rater(study=study), now=NOW)


class TestReporters:
    def test_who_are_just_enough_hold_the_dialogue_once_and_give_every_slot_back(self, crowd):
        for _ in range(crowd.rounds):
            n = crowd.people
            study = make_planted_study(
                content=make_study_content(checks={"gold_set": ""}, reports_to_hold=n)
            )
            pairs = make_pairs(study, 4, slots_left=50)
            leases = [lease(study) for _ in range(n)]

            together([report(one) for one in leases])

            rows = Comparison.objects.filter(study=study)
            assert Report.objects.filter(rater__study=study).count() == n
            assert not rows.filter(held_at=None).exists()
            assert set(rows.values_list("slots_left", flat=True)) == {50}
            subject = f"context {pairs[0].context.key} in study {study.slug}"
            assert LogEntry.objects.filter(action="reports.held", subject=subject).count() == 1

    def test_and_those_who_lease_and_decide_never_stand_in_each_others_way(self, crowd):
        for _ in range(crowd.rounds):
            study = make_planted_study(content=make_study_content(checks={"gold_set": ""}))
            [pair, *_others] = make_pairs(study, 4, slots_left=50)
            leases = [lease(study) for _ in range(4)]
            decide = partial(
                reporting.decide_report,
                study=study,
                context=pair.context,
                outcome=ReportOutcome.RELEASED,
                reason="Nothing in it.",
                by=None,
                now=NOW,
            )

            together(
                [*(report(one) for one in leases), assign_next(study), assign_next(study), decide]
            )

            assert Report.objects.filter(rater__study=study).count() == 4
            for row in Comparison.objects.filter(study=study):
                n_open = Lease.objects.filter(comparison=row, closed_at=None).count()
                assert row.slots_left == 50 - n_open

    def test_of_one_rater_in_two_tabs_are_one_report(self, crowd):
        for _ in range(crowd.rounds):
            study = make_planted_study()
            make_pairs(study, 2, slots_left=50)
            held = lease(study)

            first, second = together([report(held)] * 2)

            assert first == second
            assert Report.objects.filter(rater=held.rater).count() == 1


class TestReviewsAtOnce:
    def test_write_what_one_would(self):
        study, careless = make_reviewed_study()

        together([partial(services.review_raters, study=study, dry_run=False, now=LATER)] * 3)

        assert decisions(careless) == [(True, "checks-1")]

    def test_and_a_person_leave_one_decision_that_holds(self):
        study, careless = make_reviewed_study()
        boss = User.objects.create_user("boss")

        def by_hand():
            try:
                excluding.exclude_rater(rater=careless, reason="For a test.", by=boss, now=LATER)
            except excluding.DecisionError:
                return

        together([by_hand, partial(services.review_raters, study=study, dry_run=False, now=LATER)])

        assert Exclusion.objects.count() == 1
