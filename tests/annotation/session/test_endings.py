"""Each way in which a session ends has a code of its own."""

import pytest

from annotation.choices import Platform, RaterState, SubmissionState
from annotation.raters.services.withdrawing import withdraw_rater
from annotation.session.endings import Ending, Way
from completions.choices import LeaseOutcome
from tests.helpers.factories import (
    CONTENT,
    HOUR,
    NOW,
    make_comparison,
    make_judgment,
    make_lease,
    make_quality_check,
    make_rater,
    make_study,
)
from tests.helpers.factories_of_people import make_submission
from tests.helpers.factories_written_once import make_exclusion

pytestmark = pytest.mark.django_db
CODES = {way.value: f"CODE-{way.name}" for way in Way}
ADDRESS = "https://platform.example/done?cc={code}"


def make_study_with(**crowd):
    return make_study(content=CONTENT | {"crowd": CONTENT["crowd"] | crowd})


def make_ended(state=RaterState.FINISHED, *, study=None, n_answers=1, **fields):
    ended_at = None if state == RaterState.ACTIVE else NOW
    known = {"platform": Platform.PROLIFIC, "external_id": "p-17"}
    rater = make_rater(
        study=study or make_study(), state=state, ended_at=ended_at, **known | fields
    )
    for _ in range(n_answers):
        make_judgment(comparison=make_comparison(study=rater.study), rater=rater)
    rater.leases.update(outcome=LeaseOutcome.SUBMITTED, rater_first_as_a=0)
    return rater


def exclude(rater):
    make_exclusion(rater=rater)
    return rater


class TestEndingOfRater:
    @pytest.mark.parametrize(
        ("state", "n_answers", "way"),
        [
            (RaterState.FINISHED, 1, Way.COMPLETE),
            (RaterState.STOPPED, 1, Way.PARTIAL),
            (RaterState.STOPPED, 0, Way.NO_CONSENT),
            (RaterState.SCREENED, 0, Way.SCREENED_OUT),
            (RaterState.FULL, 0, Way.FULL),
            (RaterState.WITHDRAWN, 1, Way.PARTIAL),
            (RaterState.WITHDRAWN, 0, Way.NO_CONSENT),
        ],
    )
    def test_has_the_code_of_its_way(self, state, n_answers, way):
        study = make_study_with(codes=CODES, return_url=ADDRESS)

        ending = Ending.of_rater(make_ended(state, study=study, n_answers=n_answers))

        assert (ending.way, ending.is_over) == (way, True)
        assert ending.code == CODES[way]
        assert ending.return_url == ADDRESS.replace("{code}", CODES[way])

    def test_the_whole_session_is_complete_however_it_ended(self):
        study = make_study_with(codes=CODES)
        study.session_length = 1

        assert Ending.of_rater(make_ended(RaterState.STOPPED, study=study)).way == Way.COMPLETE

    def test_the_screening_round_alone_is_a_part(self):
        rater = make_ended(RaterState.STOPPED, n_answers=0)
        make_lease(
            rater=rater,
            quality_check=make_quality_check(),
            is_screening=True,
            outcome=LeaseOutcome.SUBMITTED,
            closed_at=NOW,
        )

        assert Ending.of_rater(rater).way == Way.PARTIAL

    @pytest.mark.parametrize(
        ("state", "n_answers", "way"),
        [
            (RaterState.STOPPED, 1, Way.TIMED_OUT),
            (RaterState.STOPPED, 0, Way.TIMED_OUT),
            (RaterState.FINISHED, 1, Way.COMPLETE),
            (RaterState.SCREENED, 0, Way.SCREENED_OUT),
        ],
    )
    def test_the_platforms_clock_ends_what_was_not_complete(self, state, n_answers, way):
        rater = make_ended(state, n_answers=n_answers)
        make_submission(rater=rater, state=SubmissionState.EXPIRED)

        assert Ending.of_rater(rater).way == way

    @pytest.mark.parametrize(
        ("state", "n_answers"),
        [
            (RaterState.FINISHED, 1),
            (RaterState.STOPPED, 1),
            (RaterState.SCREENED, 0),
            (RaterState.FULL, 0),
        ],
    )
    def test_withdrawing_afterwards_keeps_the_code_that_was_shown(self, state, n_answers):
        rater = make_ended(state, study=make_study_with(codes=CODES), n_answers=n_answers)
        ended = Ending.of_rater(rater)
        make_submission(rater=rater, code=ended.code)

        withdraw_rater(rater=rater, now=NOW, keep_answers=True)
        rater.refresh_from_db()

        assert Ending.of_rater(rater).code == ended.code

    @pytest.mark.parametrize(
        ("opened_at", "n_before", "way"),
        [
            (NOW, 0, Way.NO_CONSENT),
            (NOW - HOUR, 1, Way.NO_CONSENT),
            (NOW - HOUR, 0, Way.PARTIAL),
        ],
        ids=["opened after the end", "without own work", "with own work"],
    )
    def test_a_later_submission_ends_by_the_work_done_in_it(self, opened_at, n_before, way):
        rater = make_ended(RaterState.STOPPED)
        make_submission(rater=rater, number=2, opened_at=opened_at, n_before=n_before)

        assert Ending.of_rater(rater).way == way

    def test_derived_codes_of_two_submissions_differ(self):
        rater = make_ended()
        first = Ending.of_rater(rater)
        make_submission(rater=rater, number=2, opened_at=NOW - HOUR)

        second = Ending.of_rater(rater)

        assert (first.way, second.way) == (Way.COMPLETE, Way.COMPLETE)
        assert "" != first.code != second.code != ""

    def test_before_the_end_there_is_nothing_to_take_along(self):
        ending = Ending.of_rater(make_ended(RaterState.ACTIVE))

        assert not ending.is_over
        assert (ending.code, ending.return_url) == ("", "")

    @pytest.mark.parametrize(
        ("state", "code"),
        [
            (RaterState.ACTIVE, CODES["screened_out"]),
            (RaterState.FINISHED, CODES["complete"]),
        ],
        ids=["in the middle goes home with a code", "after the end takes nothing away"],
    )
    def test_blocked(self, state, code):
        study = make_study_with(codes=CODES)

        ending = Ending.of_rater(exclude(make_ended(state, study=study)))

        assert (ending.is_over, ending.code) == (True, code)

    def test_codes_that_the_file_does_not_name_differ_by_way_and_by_rater(self):
        study = make_study()
        states = (RaterState.FINISHED, RaterState.SCREENED, RaterState.FULL)
        codes = {
            Ending.of_rater(make_ended(state, study=study, external_id=f"{state}-{n}")).code
            for state in states
            for n in range(2)
        }

        assert len(codes) == 6
        assert all(len(code) == 10 for code in codes)

    @pytest.mark.parametrize(
        ("codes", "fields", "address"),
        [
            (CODES, {"platform": Platform.GUEST, "external_id": ""}, ""),
            (CODES, {"platform": Platform.MTURK}, ""),
            (CODES, {}, "https://app.prolific.com/submissions/complete?cc=CODE-COMPLETE"),
            (CONTENT["crowd"]["codes"], {}, ""),
        ],
        ids=["a guest", "no known address", "Prolific", "a code that Prolific does not know"],
    )
    def test_knows_where_prolific_expects_people_back(self, codes, fields, address):
        study = make_study_with(codes=codes, return_url="")

        assert Ending.of_rater(make_ended(study=study, **fields)).return_url == address

    @pytest.mark.parametrize(
        ("state", "n_answers", "has_code"),
        [(RaterState.FINISHED, 1, True), (RaterState.STOPPED, 0, False)],
    )
    def test_makes_up_a_code_for_a_guest_who_completed_it_alone(self, state, n_answers, has_code):
        guest = {"platform": Platform.GUEST, "external_id": ""}
        rater, other = (make_ended(state, n_answers=n_answers, **guest) for _ in range(2))

        code = Ending.of_rater(rater).code

        assert bool(code) is has_code
        assert not has_code or code not in rater.code
        assert not has_code or code != Ending.of_rater(other).code

    @pytest.mark.parametrize(
        ("state", "kept", "may"),
        [
            (RaterState.FINISHED, True, True),
            (RaterState.SCREENED, True, True),
            (RaterState.WITHDRAWN, True, True),
            (RaterState.WITHDRAWN, False, False),
        ],
    )
    def test_says_who_may_still_withdraw(self, state, kept, may):
        assert Ending.of_rater(make_ended(state, data_kept=kept)).can_withdraw is may


class TestEndingOfVisitor:
    @pytest.mark.parametrize("way", [Way.NO_CONSENT, Way.FULL, Way.PAUSED, Way.CLOSED])
    def test_has_the_code_of_its_way_without_anything_stored(self, way):
        study = make_study_with(codes=CODES, return_url=ADDRESS)

        ending = Ending.of_visitor(study, way, platform=Platform.PROLIFIC)

        assert (ending.code, ending.is_stored) == (CODES[way], False)
        assert ending.return_url.endswith(CODES[way])
        assert not ending.can_withdraw

    def test_a_study_without_codes_has_one_for_each_way(self):
        study = make_study()
        ways = (Way.NO_CONSENT, Way.FULL)
        codes = {Ending.of_visitor(study, way, platform=Platform.GENERIC).code for way in ways}

        assert len(codes) == 2
