"""Withdrawal removes a person's words and identity, and their answers from the analysis."""

import pytest

from annotation import services
from annotation.choices import Platform, RaterState
from annotation.models import Comparison, Judgment
from annotation.verdicts import Answer
from completions.models import LogEntry
from ranking import frames
from tests.factories import make_comparison, make_rater, make_study

pytestmark = pytest.mark.django_db
ANSWER = Answer(verdict=1, rationale="My own words about it.")


@pytest.fixture
def rater(now):
    study = make_study()
    for _ in range(2):
        make_comparison(study=study, slots_left=3)
    rater = make_rater(
        study=study, platform=Platform.PROLIFIC, external_id="p-77", session={"STUDY_ID": "s"}
    )
    lease = services.lease_next_comparison(rater=rater, now=now)
    assert lease is not None
    services.submit_judgment(
        rater=rater, submission=services.Submission(lease.token, ANSWER), now=now
    )
    services.lease_next_comparison(rater=rater, now=now)
    return rater


class TestWithdrawRater:
    def test_removes_reasons_and_identity(self, rater, now):
        services.withdraw_rater(rater=rater, now=now)

        rater.refresh_from_db()
        assert (rater.external_id, rater.session) == ("", {})
        assert rater.state == RaterState.WITHDRAWN
        assert Judgment.objects.get().rationale == ""

    def test_leaves_the_answers_out_of_the_analysis(self, rater, now):
        assert frames.n_judgments(study=rater.study, as_of=now) == 1

        services.withdraw_rater(rater=rater, now=now)

        assert frames.n_judgments(study=rater.study, as_of=now) == 0

    def test_gives_every_slot_back_to_others(self, rater, now):
        services.withdraw_rater(rater=rater, now=now)

        rows = Comparison.objects.values_list("slots_left", "shown_first_as_a", "shown_first_as_b")
        assert list(rows) == [(3, 0, 0), (3, 0, 0)]

    def test_repeating_it_changes_nothing(self, rater, now):
        services.withdraw_rater(rater=rater, now=now)
        services.withdraw_rater(rater=rater, now=now)

        assert set(Comparison.objects.values_list("slots_left", flat=True)) == {3}
        assert LogEntry.objects.filter(action="rater.withdrew").count() == 1

    def test_ends_the_rater_for_good(self, rater, now):
        services.withdraw_rater(rater=rater, now=now)

        with pytest.raises(services.RaterEndedError):
            services.lease_next_comparison(rater=rater, now=now)
