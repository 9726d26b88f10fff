"""Reviews of raters, and people who decide, at the same moment, in real threads."""

from functools import partial

import pytest
from django.contrib.auth.models import User

from annotation.models import Exclusion
from annotation.quality import services as annotation_services
from ranking.raters import services
from tests.helpers.released import LATER, decisions, make_reviewed_study
from tests.helpers.threads import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


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
                annotation_services.exclude_rater(
                    rater=careless, reason="For a test.", by=boss, now=LATER
                )
            except annotation_services.DecisionError:
                return

        together([by_hand, partial(services.review_raters, study=study, dry_run=False, now=LATER)])

        assert Exclusion.objects.count() == 1
