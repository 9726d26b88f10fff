"""Each way in which a session ends has its code; withdrawal removes words and identity."""

from functools import partial

import pytest

from access.models import LogEntry
from annotation.choices import Platform, RaterState, SubmissionState
from annotation.judging.services import leasing
from annotation.models import Comparison, Judgment, Report
from annotation.raters.services import withdrawing
from annotation.session.endings import Ending, Way
from annotation.studies.verdicts import Answer
from completions.choices import LeaseOutcome
from ranking.judgments.analysis_set import n_judgments
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
from tests.helpers.factories_of_people import make_report, make_submission
from tests.helpers.factories_written_once import make_exclusion
from tests.helpers.judged import lease_next, make_comparisons, submit
from tests.helpers.threads import together

pytestmark = pytest.mark.django_db

CODES = {way.value: f"CODE-{way.name}" for way in Way}
ADDRESS = "https://platform.example/done?cc={code}"
GUEST = {"platform": Platform.GUEST, "external_id": ""}
ANSWER = Answer(verdict=1, rationale="My own words about it.", chips=frozenset({"warm"}))


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

    @pytest.mark.parametrize(
        ("outcomes", "way"),
        [
            (["SKIPPED"], Way.COMPLETE),
            (["EXPIRED"], Way.COMPLETE),
            (["RELEASED"] * 2, Way.COMPLETE),
            (["SKIPPED"] * 2, Way.PARTIAL),
            (["SKIPPED", "EXPIRED"], Way.PARTIAL),
        ],
    )
    def test_all_that_was_left_is_complete_with_half_of_it_answered(self, outcomes, way):
        rater = make_ended(n_answers=1)
        for outcome in outcomes:
            make_lease(rater=rater, outcome=outcome, closed_at=NOW)

        assert Ending.of_rater(rater).way == way

    def test_an_answer_that_came_late_is_work_done(self):
        rater = make_rater(platform=Platform.PROLIFIC, external_id="p-17")
        make_comparisons(rater.study, 2)
        lease = lease_next(rater)
        leasing.release_expired_leases(now=lease.expires_at)
        lease_next(rater, lease.expires_at)
        submit(lease, now=lease.expires_at + HOUR)
        leasing.stop_judging(rater=rater, now=NOW + 2 * HOUR)
        rater.refresh_from_db()

        ending = Ending.of_rater(rater)

        assert (ending.way, ending.done) == (Way.PARTIAL, 1)

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

        withdrawing.withdraw_rater(rater=rater, now=NOW, keep_answers=True)
        rater.refresh_from_db()

        assert Ending.of_rater(rater).code == ended.code

    @pytest.mark.parametrize(
        ("opened_at", "n_before", "way"),
        [(NOW, 0, Way.NO_CONSENT), (NOW - HOUR, 1, Way.NO_CONSENT), (NOW - HOUR, 0, Way.PARTIAL)],
        ids=["opened after the end", "without own work", "with own work"],
    )
    def test_a_later_submission_ends_by_the_work_done_in_it(self, opened_at, n_before, way):
        rater = make_ended(RaterState.STOPPED)
        make_submission(rater=rater, number=2, opened_at=opened_at, n_before=n_before)

        assert Ending.of_rater(rater).way == way

    @pytest.mark.parametrize(
        ("code", "state", "n_before", "way"),
        [
            ("C2", SubmissionState.ACTIVE, 2, Way.PARTIAL),
            ("C2", SubmissionState.APPROVED, 2, Way.PARTIAL),
            ("C2", SubmissionState.APPROVED, 1, Way.COMPLETE),
            ("C2", SubmissionState.RETURNED, 2, Way.COMPLETE),
            ("", SubmissionState.ACTIVE, 2, Way.COMPLETE),
        ],
    )
    def test_the_smaller_part_of_a_session_is_complete_if_nobody_pays_the_rest(
        self, code, state, n_before, way
    ):
        rater = make_ended(n_answers=3 if n_before == 2 else 2)
        make_submission(rater=rater, code=code, state=state)
        later = {"number": 2, "session_id": "x-2", "opened_at": NOW - HOUR}
        make_submission(rater=rater, n_before=n_before, **later)

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
        [(RaterState.ACTIVE, CODES["screened_out"]), (RaterState.FINISHED, CODES["complete"])],
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
            (CODES, GUEST, ""),
            (CODES, {"platform": Platform.MTURK}, ""),
            (CODES, {}, "https://app.prolific.com/submissions/complete?cc=CODE-COMPLETE"),
            (CONTENT["crowd"]["codes"], {}, ""),
        ],
        ids=["a guest", "no known address", "Prolific", "a code that Prolific does not know"],
    )
    def test_knows_where_prolific_expects_people_back(self, codes, fields, address):
        study = make_study_with(codes=codes, return_url="")

        assert Ending.of_rater(make_ended(study=study, **fields)).return_url == address

    def test_makes_up_a_code_of_their_own_for_a_guest_who_completed_it(self):
        one, other = (make_ended(**GUEST) for _ in range(2))

        code = Ending.of_rater(one).code

        assert code
        assert code not in one.code
        assert code != Ending.of_rater(other).code

    def test_has_no_code_for_a_guest_who_answered_nothing(self):
        assert Ending.of_rater(make_ended(RaterState.STOPPED, n_answers=0, **GUEST)).code == ""

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


@pytest.fixture
def rater(now):
    chips = [{"key": "warm", "words": "warm", "theme": "warmth"}]
    study = make_study(content=CONTENT | {"chips": chips})
    for _ in range(2):
        make_comparison(study=study, slots_left=3)
    rater = make_rater(
        study=study,
        platform=Platform.PROLIFIC,
        external_id="p-77",
        session={"STUDY_ID": "s", "SESSION_ID": "x"},
    )
    submit(lease_next(rater, now), ANSWER, now=now)
    lease_next(rater, now)
    return rater


class TestWithdrawRater:
    def test_removes_words_identity_and_answers_and_gives_every_slot_back(self, rater, now):
        make_report(lease=rater.leases.get(number=1), text="It was like my own story.")
        assert n_judgments(study=rater.study, as_of=now) == 1

        for _ in range(2):  # repeating it changes nothing
            withdrawing.withdraw_rater(rater=rater, now=now)

        rater.refresh_from_db()
        assert (rater.external_id, rater.bound_by) == ("", "")
        submission = rater.submissions.get()
        assert (submission.session_id, submission.ids) == ("", {})
        judgment = Judgment.objects.get()
        assert (judgment.rationale, judgment.chips, Report.objects.get().text) == ("", "", "")
        assert n_judgments(study=rater.study, as_of=now) == 0
        rows = Comparison.objects.values_list("slots_left", "shown_first_as_a", "shown_first_as_b")
        assert list(rows) == [(3, 0, 0), (3, 0, 0)]
        assert LogEntry.objects.filter(action="rater.withdrew").count() == 1

    def test_gives_no_slot_back_for_planted_and_repeated_pairs(self, rater, now):
        study = rater.study
        planted = make_comparison(study=study, slots_left=3)
        check = make_quality_check(comparison=planted)
        closed = {"closed_at": now, "outcome": LeaseOutcome.SUBMITTED}
        first = rater.leases.get(number=1)
        for fields in (
            {"comparison": planted, "quality_check": check},
            {"comparison": first.comparison, "repeats": first},
        ):
            lease = make_lease(rater=rater, **fields, **closed)
            make_judgment(comparison=lease.comparison, rater=rater, lease=lease)

        withdrawing.withdraw_rater(rater=rater, now=now)

        assert set(Comparison.objects.values_list("slots_left", flat=True)) == {3}

    def test_an_ended_rater_may_withdraw(self, rater, now):
        leasing.stop_judging(rater=rater, now=now)

        withdrawing.withdraw_rater(rater=rater, now=now + HOUR)

        rater.refresh_from_db()
        assert (rater.state, rater.ended_at) == (RaterState.WITHDRAWN, now + HOUR)
        assert n_judgments(study=rater.study, as_of=now) == 1
        assert n_judgments(study=rater.study, as_of=now + HOUR) == 0


class TestWithdrawRaterAndKeepTheAnswers:
    def test_removes_identity_and_keeps_what_was_said_in_the_analysis(self, rater, now):
        withdrawing.withdraw_rater(rater=rater, now=now, keep_answers=True)

        rater.refresh_from_db()
        assert (rater.external_id, rater.writer) == ("", None)
        assert not rater.submissions.get().session_id
        assert (rater.state, rater.data_kept) == (RaterState.WITHDRAWN, True)
        assert Judgment.objects.get().rationale == ANSWER.rationale
        assert Judgment.objects.get().chips == "warm"
        assert n_judgments(study=rater.study, as_of=now + HOUR) == 1
        slots = sorted(Comparison.objects.values_list("slots_left", flat=True))
        assert slots == [2, 3], "the open slot alone is given back"

    def test_may_be_followed_by_deleting(self, rater, now):
        withdrawing.withdraw_rater(rater=rater, now=now, keep_answers=True)
        withdrawing.withdraw_rater(rater=rater, now=now + HOUR)

        rater.refresh_from_db()
        assert not rater.data_kept
        assert Judgment.objects.get().rationale == ""
        assert n_judgments(study=rater.study, as_of=now + HOUR) == 0
        assert set(Comparison.objects.values_list("slots_left", flat=True)) == {3}

    def test_cannot_call_back_what_was_deleted(self, rater, now):
        withdrawing.withdraw_rater(rater=rater, now=now)
        withdrawing.withdraw_rater(rater=rater, now=now + HOUR, keep_answers=True)

        rater.refresh_from_db()
        assert not rater.data_kept
        actions = LogEntry.objects.filter(action="rater.withdrew").values_list("after", flat=True)
        assert list(actions) == [{"answers": "deleted"}]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
def test_people_who_leave_at_once_give_every_slot_back_and_wait_in_no_circle():
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
