"""People who withdraw, enrol, or are reported on by their platform at the same moment."""

from functools import partial

import pytest

from annotation.choices import Platform, RaterState
from annotation.models import Consent, PlatformEvent, Rater
from annotation.raters.entry_links import Entry
from annotation.raters.services import entering, submissions, withdrawing
from annotation.raters.webhooks import Event
from tests.helpers.factories import NOW, make_comparison, make_rater, make_study
from tests.helpers.judged import lease_next, make_comparisons, submit
from tests.helpers.threads import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


class TestPeopleWhoLeave:
    def test_give_every_slot_back_and_wait_for_each_other_in_no_circle(self, crowd):
        study = make_study()
        make_comparisons(study, 8)
        raters = [make_rater(study=study) for _ in range(4)]
        for rater in raters:
            for _ in range(6):
                submit(lease_next(rater), now=NOW)
            lease_next(rater)

        together([partial(withdrawing.withdraw_rater, rater=rater, now=NOW) for rater in raters])

        rows = study.comparisons.values_list("slots_left", "shown_first_as_a", "shown_first_as_b")
        assert set(rows) == {(5, 0, 0)}


class TestPeopleWhoPressTwice:
    def test_enrol_once(self, crowd):
        study = make_study()
        make_comparison(study=study)
        enter = partial(
            entering.enter_study,
            study=study,
            entry=Entry(Platform.PROLIFIC, "p-17"),
            utc_offset_minutes=None,
            now=NOW,
        )

        raters = together([enter] * crowd.people)

        assert len({rater.pk for rater in raters}) == 1
        assert Rater.objects.count() == Consent.objects.count() == 1


class TestEventsSentTwice:
    def test_are_taken_once(self, crowd):
        study = make_study()
        make_comparison(study=study, slots_left=3)
        rater = make_rater(
            study=study,
            platform=Platform.PROLIFIC,
            external_id="p-17",
            session={"SESSION_ID": "x-1"},
        )
        lease_next(rater)
        event = Event("e-1", "submission.status.change", "RETURNED", "p-17", "x-1")
        take = partial(submissions.take_event, study=study, event=event, now=NOW)

        taken = together([take] * crowd.people)

        rater.refresh_from_db()
        assert sorted(taken) == [False] * (crowd.people - 1) + [True]
        assert PlatformEvent.objects.count() == 1
        assert rater.state == RaterState.STOPPED
        assert study.comparisons.get().slots_left == 3
