"""The end for raters for whom nothing is left."""

import pytest

from annotation.choices import RaterState
from annotation.judging import services
from tests.helpers.factories import NOW, make_comparison, make_rater, make_study
from tests.helpers.judged import judge_all, lease_next

pytestmark = pytest.mark.django_db


@pytest.fixture
def rater():
    return make_rater(study=make_study())


def finish(rater):
    services.finish_with_nothing_left(rater=rater, now=NOW)
    rater.refresh_from_db()
    return rater.state


class TestFinishWithNothingLeft:
    def test_who_answered_something_has_finished(self, rater):
        make_comparison(study=rater.study)
        judge_all(rater)

        assert finish(rater) == RaterState.FINISHED
        assert rater.ended_at == NOW

    def test_who_came_too_late_finds_the_study_full(self, rater):
        make_comparison(study=rater.study, slots_left=0)

        assert finish(rater) == RaterState.FULL

    def test_changes_nothing_while_a_pair_is_left(self, rater):
        make_comparison(study=rater.study)

        assert finish(rater) == RaterState.ACTIVE

    def test_changes_nothing_while_a_pair_is_open(self, rater):
        make_comparison(study=rater.study, slots_left=1)
        lease_next(rater)

        assert finish(rater) == RaterState.ACTIVE

    def test_changes_nothing_after_the_end(self, rater):
        services.stop_judging(rater=rater, now=NOW)

        assert finish(rater) == RaterState.STOPPED
