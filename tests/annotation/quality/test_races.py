"""Raters who report one dialogue at once while others lease its pairs, in real threads."""

from functools import partial

import pytest

from access.models import LogEntry
from annotation.choices import ReportKind, ReportOutcome
from annotation.judging import services as judging_services
from annotation.models import Comparison, Lease, Report
from annotation.quality import services as quality_services
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_rater,
)
from tests.helpers.judged import make_planted_study, make_study_content
from tests.helpers.threads import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


def make_pairs(study, n_pairs):
    context = make_context(dialogue=make_dialogue(dataset=study.dataset))
    return [
        make_comparison(
            study=study,
            first=make_completion(context=context),
            second=make_completion(context=context),
            slots_left=50,
        )
        for _ in range(n_pairs)
    ]


def lease(study):
    found = judging_services.lease_next_comparison(rater=make_rater(study=study), now=NOW)
    assert found is not None
    return found


def report(held):
    words = quality_services.ReportWords(ReportKind.CONTENT)
    return partial(
        quality_services.report_context, token=held.token, rater=held.rater, words=words, now=NOW
    )


def assign_next(study):
    return partial(judging_services.lease_next_comparison, rater=make_rater(study=study), now=NOW)


class TestReporters:
    def test_who_are_just_enough_hold_the_dialogue_once_and_give_every_slot_back(self, crowd):
        for _ in range(crowd.rounds):
            n = crowd.people
            study = make_planted_study(
                content=make_study_content(checks={"gold_set": ""}, reports_to_hold=n)
            )
            pairs = make_pairs(study, 4)
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
            [pair, *_others] = make_pairs(study, 4)
            leases = [lease(study) for _ in range(4)]
            decide = partial(
                quality_services.decide_report,
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
            make_pairs(study, 2)
            held = lease(study)

            first, second = together([report(held)] * 2)

            assert first == second
            assert Report.objects.filter(rater=held.rater).count() == 1
