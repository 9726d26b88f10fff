"""How a person becomes a rater of a study."""

import datetime as dt
import hashlib
import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError

from annotation.choices import Platform, RaterStage, RaterState, StudyState
from annotation.judging.services import leasing
from annotation.models import Consent, Rater, Study
from annotation.raters.entry_links import Entry
from annotation.raters.services import entering, submissions, withdrawing
from annotation.raters.visit_time import IMAGINED, is_simulated_visit, visit_time
from annotation.studies import queries as study_queries
from tests.conftest import rolled_back
from tests.helpers.factories import CONTENT, NOW, make_comparison, make_study, make_writer
from tests.helpers.threads import together

pytestmark = pytest.mark.django_db

PROLIFIC = Entry(Platform.PROLIFIC, "60d0fe4f", {"SESSION_ID": "s1", "STUDY_ID": "p1"})
LATER = NOW + dt.timedelta(days=1)
OF_PROLIFIC = CONTENT | {"crowd": CONTENT["crowd"] | {"platform": "prolific"}}
SIMULATED = {"is_simulated": True, "title": "Simulated raters"}
NOT_OPEN, FULL = leasing.StudyNotOpenError, entering.StudyFullError
ELSEWHERE = entering.WrongPlatformError
REFUSED = {
    "a draft": (NOT_OPEN, {"state": StudyState.DRAFT}, {}, PROLIFIC),
    "paused": (NOT_OPEN, {"state": StudyState.PAUSED}, {}, PROLIFIC),
    "closed": (NOT_OPEN, {"state": StudyState.CLOSED}, {}, PROLIFIC),
    "of programs": (NOT_OPEN, SIMULATED, {}, Entry()),
    "full": (FULL, {}, {"slots_left": 0}, Entry()),
    "held": (FULL, {}, {"held_at": NOW}, Entry()),
    "a guest": (ELSEWHERE, {"content": OF_PROLIFIC}, {}, Entry()),
    "of another platform": (ELSEWHERE, {"content": OF_PROLIFIC}, {}, Entry("GENERIC", "7")),
}
"""Why somebody new may not enter: the error, the study, its pair, and who comes."""


def enter(study, entry=None, *, now=NOW, utc_offset_minutes=None, **fields):
    return entering.enter_study(
        study=study,
        entry=entry or Entry(),
        utc_offset_minutes=utc_offset_minutes,
        now=now,
        **fields,
    )


def open_study(**fields):
    study = make_study(**fields)
    make_comparison(study=study)
    return study


@pytest.fixture
def study():
    return open_study()


class TestEnterStudy:
    def test_stores_the_consent_with_the_rater(self, study):
        rater = enter(study, utc_offset_minutes=-300)

        consent = Consent.objects.get()
        shown = {
            "title": study.title,
            "invitation": CONTENT["invitation"],
            "lines": [
                "Up to 40 pairs, about 40 minutes. You can take breaks.",
                "Pay: as shown on the platform that sent you.",
                "Your answers are stored under a random code, without your name or e-mail.",
                "You can skip, stop or withdraw at any time, without giving a reason.",
            ],
            "consent": CONTENT["consent"],
        }
        text = json.dumps(shown, sort_keys=True).encode()
        assert (consent.rater, consent.version, consent.given_at) == (rater, "1", NOW)
        assert consent.text_hash == hashlib.sha256(text).hexdigest()
        rater.refresh_from_db()
        assert (rater.study, rater.platform, rater.external_id) == (study, Platform.GUEST, "")
        assert (rater.entered_at, rater.utc_offset_minutes) == (NOW, -300)

    def test_makes_every_guest_a_rater_with_a_secret_of_their_own(self, study):
        one, other = enter(study), enter(study)

        assert one.code != other.code
        assert len(one.draw_key) == 32
        assert one.drawn_by == one.draw_key != other.draw_key

    def test_marks_a_program_and_gives_it_the_same_key_each_time_in_a_study(self):
        def key_in(slug):
            with rolled_back():
                study = open_study(slug=slug, **SIMULATED)
                rater = enter(study, PROLIFIC, is_simulated=True)
                assert Rater.objects.get().is_simulated
                return rater.draw_key

        assert key_in("one") == key_in("one") != key_in("other")

    @pytest.mark.parametrize("words", ["title", "invitation", "pay"])
    def test_names_the_consent_by_all_that_was_read(self, study, words):
        crowd = CONTENT["crowd"] | {"pay": "6 pounds"}
        changed: dict[str, dict[str, Any]] = {
            "title": {"title": "Another title"},
            "invitation": {"content": CONTENT | {"invitation": "Read with us."}},
            "pay": {"content": CONTENT | {"crowd": crowd}},
        }

        enter(study)
        enter(open_study(**{"title": study.title} | changed[words]))

        assert Consent.objects.values("text_hash").distinct().count() == 2

    @pytest.mark.parametrize(
        ("asked", "pairs", "stage"),
        [
            ([{"text": "?", "options": ["a", "b"], "answer": 1}], 2, RaterStage.COMPREHENSION),
            ([], 2, RaterStage.SCREENING),
            ([], 0, RaterStage.JUDGING),
        ],
    )
    def test_begins_with_the_first_part_that_the_study_has(self, asked, pairs, stage):
        screening = {"pairs": pairs, "min_passed": 0}
        content = CONTENT | {"comprehension": asked, "screening": screening}

        assert enter(open_study(content=content)).stage == stage

    def test_knows_a_person_again_whom_the_platform_sent_before(self, study):
        writer = make_writer(dataset=study.dataset)
        rater = enter(study, PROLIFIC, writer=writer)

        again = enter(study, PROLIFIC, now=LATER)

        assert again == rater
        assert (again.platform, again.external_id) == (Platform.PROLIFIC, "60d0fe4f")
        assert again.writer == writer
        submission = again.submissions.get()
        assert (submission.session_id, submission.ids) == ("s1", {"STUDY_ID": "p1"})
        assert Rater.objects.count() == Consent.objects.count() == 1
        assert Consent.objects.get().given_at == NOW

    @pytest.mark.parametrize("name", ["SESSION_ID", "assignmentId"])
    def test_stores_no_more_submissions_than_a_person_has(self, study, monkeypatch, name):
        monkeypatch.setattr(submissions, "MOST", 3)

        for n in range(5):
            enter(study, replace(PROLIFIC, session={name: f"made-up-{n}"}))

        numbers = (
            Rater.objects.get().submissions.order_by("number").values_list("number", flat=True)
        )
        assert list(numbers) == [1, 2, 3]

    def test_does_not_take_one_person_for_another_nor_one_study(self, study):
        raters = {
            enter(study, PROLIFIC),
            enter(study, Entry(Platform.PROLIFIC, "71e1")),
            enter(study, Entry(Platform.GENERIC, "60d0fe4f")),
            enter(open_study(), PROLIFIC),
        }

        assert len(raters) == 4

    def test_returns_the_rater_of_the_other_request_when_the_button_was_pressed_twice(
        self, study, monkeypatch
    ):
        rater = enter(study, PROLIFIC)
        found = [None, rater]  # both requests look before either has stored anything
        monkeypatch.setattr(entering, "_known", lambda _study, _entry: found.pop(0))

        assert enter(study, PROLIFIC) == rater
        assert Rater.objects.count() == Consent.objects.count() == 1

    @pytest.mark.parametrize(("error", "fields", "pair", "entry"), REFUSED.values(), ids=REFUSED)
    def test_refuses_a_new_person_and_stores_nothing(self, error, fields, pair, entry):
        study = make_study(**fields)
        make_comparison(study=study, **pair)

        with pytest.raises(error):
            enter(study, entry)

        assert not Rater.objects.exists()
        assert not Consent.objects.exists()

    def test_refuses_a_program_in_a_study_of_people(self, study):
        with pytest.raises(leasing.StudyNotOpenError):
            enter(study, is_simulated=True)

    def test_takes_people_of_the_studys_platform(self):
        assert enter(open_study(content=OF_PROLIFIC), PROLIFIC).pk

    @pytest.mark.parametrize(
        "change",
        [
            lambda study: Study.objects.update(state=StudyState.PAUSED),
            lambda study: Study.objects.update(state=StudyState.CLOSED),
            lambda study: study.comparisons.update(slots_left=0),
            lambda study: study.raters.update(state=RaterState.STOPPED, ended_at=NOW),
        ],
        ids=["paused", "closed", "full", "the person has ended"],
    )
    def test_still_knows_a_person_again_and_changes_nothing(self, study, change):
        rater = enter(study, PROLIFIC)
        change(study)
        before = Rater.objects.get()

        again = enter(Study.objects.get(), PROLIFIC)

        assert (again, again.state) == (rater, before.state)

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

    def test_takes_eight_queries(self, study, django_assert_num_queries):
        # Look for the person, and for room; savepoint and its release; store rater, submission,
        # consent and its evidence.
        study_queries.content_of(study)  # read once in the life of a process
        with django_assert_num_queries(8):
            enter(study, PROLIFIC)


class TestWhoWithdrew:
    """Who could come back as somebody new would pass every check, and judge each pair twice."""

    @pytest.fixture(params=[True, False], ids=["answers kept", "answers deleted"], autouse=True)
    def gone(self, request, study):
        rater = enter(study, PROLIFIC)
        withdrawing.withdraw_rater(rater=rater, now=NOW, keep_answers=request.param)

    @pytest.mark.parametrize(
        "entry",
        [
            PROLIFIC,
            replace(PROLIFIC, session={"SESSION_ID": "s2"}, form="f2"),
            replace(PROLIFIC, is_signed=True),
            Entry(Platform.GENERIC, "60D0FE4F"),
        ],
        ids=["the same link", "another submission", "signed", "of another platform"],
    )
    def test_is_not_let_in_as_somebody_new(self, study, entry):
        for let_in in (entering.check_arrival, enter):
            with pytest.raises(entering.WithdrawnError):
                let_in(study=study, entry=entry, is_simulated=False)

        assert Rater.objects.count() == 1

    def test_keeps_nobody_else_out(self, study):
        enter(study, replace(PROLIFIC, external_id="60d0fe50"))
        enter(study)
        enter(open_study(), PROLIFIC)

        assert Rater.objects.count() == 4

    def test_finds_a_full_study_full(self, study):
        study.comparisons.update(slots_left=0)

        with pytest.raises(FULL):
            enter(study, PROLIFIC)


class TestLinkWriter:
    def test_remembers_the_writer_once(self, study):
        rater, writer = enter(study), make_writer(dataset=study.dataset)

        entering.link_writer(rater=rater, writer=writer)
        entering.link_writer(rater=rater, writer=make_writer(dataset=study.dataset))

        rater.refresh_from_db()
        assert rater.writer == writer


class TestVisitTime:
    """Only a simulation inside the process can say when a visit happens."""

    def test_is_what_a_simulation_imagines(self, rf):
        request = rf.get("/")
        request.META[IMAGINED] = NOW

        assert visit_time(request) == NOW
        assert is_simulated_visit(request)

    @pytest.mark.parametrize(
        "header", [None, "heart.now", "Heart.Now", "heart-now", "HTTP_HEART.NOW"]
    )
    def test_is_now_for_a_visitor_whatever_they_send(self, rf, site_clock, header):
        site_clock.turn(days=300)
        request = rf.get("/", headers={header: NOW.isoformat()} if header else {})

        assert visit_time(request) == NOW + dt.timedelta(days=300)
        assert not is_simulated_visit(request)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
def test_people_who_press_twice_at_once_enrol_once(crowd):
    study = open_study()

    raters = together([partial(enter, study, PROLIFIC)] * crowd.people)

    assert len({rater.pk for rater in raters}) == 1
    assert Rater.objects.count() == Consent.objects.count() == 1
