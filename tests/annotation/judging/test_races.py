"""Raters who act at the same moment, in real threads."""

from functools import partial

import pytest

from annotation.choices import Platform, Side
from annotation.judging import services as judging_services
from annotation.models import Comparison, Consent, Judgment, Rater
from annotation.planning import services as planning_services
from annotation.raters import services as rater_services
from annotation.studies.verdicts import Answer
from tests.helpers.factories import HOUR, NOW, make_comparison, make_rater, make_study
from tests.helpers.threads import together, while_uncommitted

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]

LATER = NOW + HOUR  # every lease has run out by then
ANSWER = Answer(1, "It names the loss.")


def make_raters(study, n):
    return [make_rater(study=study) for _ in range(n)]


def lease_next(rater, now=NOW):
    return judging_services.lease_next_comparison(rater=rater, now=now)


def answer(lease, said=ANSWER, now=NOW):
    return judging_services.submit_judgment(
        rater=lease.rater, submission=judging_services.Submission(lease.token, said), now=now
    )


def lease_and_answer(rater, now=NOW):
    lease = lease_next(rater, now)
    return answer(lease, now=now) if lease else None


def judge_until_nothing_is_left(rater):
    n = 0
    while lease_and_answer(rater) is not None:
        n += 1
    return n


def books_balance(comparison, *, slots):
    """Every slot is free, held by an open lease, or filled by a judgment that counts."""
    comparison = Comparison.objects.get(pk=comparison.pk)
    counted = Judgment.objects.filter(comparison=comparison, is_surplus=False, revises=None)
    holders = [
        *comparison.leases.filter(closed_at=None).values_list("first_side", flat=True),
        *counted.values_list("first_side", flat=True),
    ]
    as_a, as_b = holders.count(Side.A), holders.count(Side.B)
    shown = (comparison.shown_first_as_a, comparison.shown_first_as_b)
    return comparison.slots_left + len(holders) == slots and shown == (as_a, as_b)


class TestRaters:
    def test_fill_exactly_the_slots_and_see_both_sides_equally_often(self, crowd):
        study = make_study(session_length=1000)
        slots = crowd.people // 2
        pairs = [make_comparison(study=study, slots_left=slots) for _ in range(4)]
        raters = make_raters(study, crowd.people)

        judged = together([partial(judge_until_nothing_is_left, one) for one in raters])

        assert sum(judged) == 4 * slots
        for pair in Comparison.objects.filter(pk__in=[pair.pk for pair in pairs]):
            assert books_balance(pair, slots=slots)
            assert (pair.slots_left, pair.judgments.count()) == (0, slots)
            assert abs(pair.shown_first_as_a - pair.shown_first_as_b) <= 1

    def test_never_get_more_leases_of_one_comparison_than_it_has_slots(self, crowd):
        for _ in range(crowd.rounds):
            pair = make_comparison(slots_left=3)
            raters = make_raters(pair.study, crowd.people)

            leases = together([partial(lease_next, rater) for rater in raters])

            assert sum(lease is not None for lease in leases) == 3
            assert books_balance(pair, slots=3)

    def test_are_not_told_that_nothing_is_left_while_rows_are_merely_busy(self, crowd):
        for _ in range(crowd.rounds):
            pair = make_comparison(slots_left=crowd.people)
            raters = make_raters(pair.study, crowd.people)

            leases = together([partial(lease_next, rater) for rater in raters])

            assert None not in leases
            pair.refresh_from_db()
            assert abs(pair.shown_first_as_a - pair.shown_first_as_b) <= 1

    def test_get_one_lease_however_many_tabs_they_open(self, crowd):
        study = make_study()
        for _ in range(4):
            make_comparison(study=study)

        for rater in make_raters(study, crowd.rounds):
            leases = together([partial(lease_next, rater)] * 4)

            assert len({lease.pk for lease in leases}) == rater.leases.count() == 1


class TestOneAnswerSentTwice:
    def test_at_once_gives_one_judgment(self, crowd):
        for _ in range(crowd.rounds):
            lease = lease_next(make_rater(study=make_comparison().study))

            judgments = together([partial(answer, lease)] * 2)

            assert len(set(judgments)) == 1
            assert Judgment.objects.filter(lease=lease).count() == 1

    def test_with_two_contents_gives_a_judgment_and_its_revision(self, crowd):
        for _ in range(crowd.rounds):
            lease = lease_next(make_rater(study=make_comparison().study))
            said = [Answer(1, "warm"), Answer(-1, "cold")]

            judgments = together([partial(answer, lease, one) for one in said])

            original, revision = sorted(judgments, key=lambda judgment: judgment.pk)
            assert (original.revises, revision.revises) == (None, original)


class TestNewRaters:
    def test_are_let_in_while_the_study_is_being_planned(self):
        study = make_comparison().study

        rater = while_uncommitted(
            partial(planning_services.plan_study, study=study, now=NOW),
            partial(
                rater_services.enter_study,
                study=study,
                entry=rater_services.Entry(),
                utc_offset_minutes=None,
                now=NOW,
            ),
            has_to_wait=False,
        )

        assert Rater.objects.get() == rater


class TestOnePersonWhoEntersTwice:
    def test_at_once_is_one_rater_with_one_consent(self, crowd):
        study = make_comparison().study
        for n in range(crowd.rounds):
            entry = rater_services.Entry(Platform.PROLIFIC, f"person {n}")
            enter = partial(
                rater_services.enter_study,
                study=study,
                entry=entry,
                utc_offset_minutes=None,
                now=NOW,
            )

            raters = together([enter] * 2)

            assert len(set(raters)) == 1
            assert Rater.objects.filter(external_id=entry.external_id).count() == 1
            assert Consent.objects.filter(rater__in=raters).count() == 1


class TestTheSweepOfExpiredLeases:
    def test_never_costs_an_answer_that_comes_in_meanwhile(self, crowd):
        for _ in range(crowd.rounds):
            pair = make_comparison(slots_left=4)
            late = [lease_next(rater) for rater in make_raters(pair.study, 4)]
            others = make_raters(pair.study, 4)

            together(
                [
                    partial(judging_services.release_expired_leases, now=LATER),
                    *(partial(answer, lease, now=LATER) for lease in late),
                    *(partial(lease_and_answer, rater, LATER) for rater in others),
                ]
            )

            assert Judgment.objects.filter(lease__in=late).count() == 4
            assert books_balance(pair, slots=4)

    def test_leaves_no_rater_with_a_lease_that_it_is_closing(self):
        pair = make_comparison(slots_left=1)
        lease = lease_next(make_rater(study=pair.study))

        again = while_uncommitted(
            partial(judging_services.release_expired_leases, now=LATER),
            partial(lease_next, lease.rater, LATER),
            has_to_wait=True,
        )

        assert again is None
        assert books_balance(pair, slots=1)
