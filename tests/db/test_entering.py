"""How a person becomes a rater of a study."""

import datetime as dt
import hashlib
import json

import pytest
from django.db import IntegrityError

from annotation import design, services
from annotation.choices import Platform, RaterState, StudyState
from annotation.models import Consent, Rater
from annotation.services import Entry, entering
from tests.factories import NOW, RUBRIC, make_rater, make_study, make_writer

pytestmark = pytest.mark.django_db

CONSENT = {"version": "3", "content_note": "Some people in these talks are in distress."}
PROLIFIC = Entry(Platform.PROLIFIC, "60d0fe4f", {"SESSION_ID": "s1", "STUDY_ID": "p1"})
LATER = NOW + dt.timedelta(days=1)


def enter(study, entry=None, *, now=NOW, utc_offset_minutes=None, writer=None):
    return services.enter_study(
        study=study,
        entry=entry or Entry(),
        utc_offset_minutes=utc_offset_minutes,
        now=now,
        writer=writer,
    )


@pytest.fixture
def study():
    return make_study(content={"rubric": RUBRIC, "consent": CONSENT})


class TestEnterStudy:
    def test_stores_the_consent_with_the_rater(self, study):
        rater = enter(study, utc_offset_minutes=-300)

        consent = Consent.objects.get()
        text = json.dumps(CONSENT, sort_keys=True).encode()
        assert (consent.rater, consent.version, consent.given_at) == (rater, "3", NOW)
        assert consent.text_hash == hashlib.sha256(text).hexdigest()
        rater.refresh_from_db()
        assert (rater.study, rater.platform, rater.external_id) == (study, Platform.GUEST, "")
        assert (rater.entered_at, rater.utc_offset_minutes) == (NOW, -300)

    def test_starts_the_rater_at_a_place_that_the_seed_and_the_pseudonym_fix(self, study):
        rater = enter(study)

        assert rater.cursor == design.rater_start(seed=study.seed, rater_code=rater.code)

    def test_keeps_what_the_platform_calls_the_person(self, study):
        rater = enter(study, PROLIFIC)

        rater.refresh_from_db()
        assert (rater.platform, rater.external_id) == (Platform.PROLIFIC, "60d0fe4f")
        assert rater.session == {"SESSION_ID": "s1", "STUDY_ID": "p1"}

    def test_keeps_that_the_person_also_writes(self, study):
        writer = make_writer(dataset=study.dataset)

        assert enter(study, writer=writer).writer == writer

    def test_makes_every_guest_a_rater_of_their_own(self, study):
        assert enter(study).code != enter(study).code
        assert Rater.objects.count() == 2

    def test_knows_a_person_again_whom_the_platform_sent_before(self, study):
        rater = enter(study, PROLIFIC)

        again = enter(study, PROLIFIC, now=LATER)

        assert again == rater
        assert Rater.objects.count() == Consent.objects.count() == 1
        assert Consent.objects.get().given_at == NOW

    @pytest.mark.parametrize(
        "other", [Entry(Platform.PROLIFIC, "71e1"), Entry(Platform.GENERIC, "60d0fe4f")], ids=str
    )
    def test_does_not_take_one_person_for_another(self, study, other):
        assert enter(study, PROLIFIC) != enter(study, other)

    def test_lets_a_person_into_several_studies(self, study):
        other = make_study(content=study.content)

        assert enter(study, PROLIFIC) != enter(other, PROLIFIC)

    def test_returns_the_rater_of_the_other_request_when_the_button_was_pressed_twice(
        self, study, monkeypatch
    ):
        rater = enter(study, PROLIFIC)
        found = [None, rater]  # both requests look before either has stored anything
        monkeypatch.setattr(entering, "_known", lambda _study, _entry: found.pop(0))

        assert enter(study, PROLIFIC) == rater
        assert Rater.objects.count() == Consent.objects.count() == 1

    @pytest.mark.parametrize("state", [StudyState.DRAFT, StudyState.PAUSED, StudyState.CLOSED])
    def test_refuses_a_new_person_when_the_study_is_not_open(self, study, state):
        study.state = state
        study.save()

        with pytest.raises(services.StudyNotOpenError):
            enter(study, PROLIFIC)

        assert not Rater.objects.exists()
        assert not Consent.objects.exists()

    @pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.CLOSED])
    def test_still_knows_a_person_again_when_the_study_is_not_open_any_more(self, study, state):
        rater = enter(study, PROLIFIC)
        study.state = state
        study.save()

        assert enter(study, PROLIFIC) == rater

    def test_does_not_bring_a_rater_back_who_has_ended(self, study):
        stopped = make_rater(
            study=study,
            platform=PROLIFIC.platform,
            external_id=PROLIFIC.external_id,
            state=RaterState.STOPPED,
            ended_at=NOW,
        )

        assert enter(study, PROLIFIC).state == RaterState.STOPPED
        assert enter(study, PROLIFIC) == stopped

    @pytest.mark.parametrize(
        "entry",
        [Entry(Platform.GUEST, "60d0fe4f"), Entry(Platform.PROLIFIC), Entry("OTHER", "60d0fe4f")],
        ids=["a guest with an id", "a platform without one", "an unknown platform"],
    )
    def test_stores_neither_rater_nor_consent_of_an_impossible_entry(self, study, entry):
        with pytest.raises(IntegrityError):
            enter(study, entry)

        assert not Rater.objects.exists()
        assert not Consent.objects.exists()

    def test_takes_five_queries(self, study, django_assert_num_queries):
        # Look for the person; savepoint and its release; store the rater; store the consent.
        with django_assert_num_queries(5):
            enter(study, PROLIFIC)
