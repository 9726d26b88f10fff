"""What the rules of crowd platforms say about the pay of a submission, and its failed checks."""

import pytest

from annotation.choices import CheckKind, Expected, Protocol, Purpose, SubmissionState
from annotation.quality.services import excluding
from annotation.session.endings import Way
from ranking.monitor.payments import (
    MESSAGES,
    SHORTEST_MESSAGE,
    WHY,
    Advice,
    advice_on,
    payments_of,
)
from ranking.raters import queries
from ranking.raters.services.reviewing import measure_study
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_alone,
    make_comparison,
    make_judgment,
    make_quality_check,
    make_study,
)
from tests.helpers.factories_of_people import make_submission
from tests.helpers.factories_written_once import make_mark
from tests.helpers.prolific import come, make_paid_study
from tests.helpers.released import answer, answer_checks, make_checks
from tests.helpers.visits import study_content


def advice_for(**changes):
    usual = {"state": SubmissionState.ACTIVE, "way": Way.COMPLETE, "n_failed": 0}
    return advice_on(**{**usual, "is_excluded": False, "minutes": 40, **changes})


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ({}, Advice.APPROVE),
        ({"n_failed": 1}, Advice.APPROVE),
        ({"n_failed": 2}, Advice.REJECTABLE),
        ({"n_failed": 1, "minutes": 4}, Advice.REJECTABLE),
        ({"is_excluded": True}, Advice.LOOK),
        ({"way": Way.PARTIAL, "n_failed": 5}, Advice.PART),
        ({"way": Way.SCREENED_OUT}, Advice.PART),
        ({"way": Way.NO_CONSENT}, Advice.RETURN),
        ({"way": Way.FULL}, Advice.RETURN),
        ({"way": Way.TIMED_OUT}, Advice.RETURN),
        ({"way": None}, Advice.WAIT),
        *(({"state": one}, Advice.SETTLED) for one in SubmissionState if one != "ACTIVE"),
    ],
)
def test_advice_follows_the_work(changes, advice):
    assert advice_for(**changes) == advice


def test_each_advice_has_words_and_a_rejection_is_explained_at_length():
    assert set(WHY) == set(Advice)
    assert set(Advice) - set(MESSAGES) == {Advice.WAIT, Advice.SETTLED}
    assert len(str(MESSAGES[Advice.REJECTABLE])) >= SHORTEST_MESSAGE


@pytest.mark.django_db
class TestFailedChecks:
    @pytest.fixture
    def study(self):
        return make_paid_study()

    def plant(self, study, rater, *, n=2, verdict=-1, kind=CheckKind.ATTENTION, hours=0):
        checks = make_checks(study, n, kind=kind)
        answer_checks(rater, checks, verdict, issued_at=NOW + hours * HOUR)

    def advice(self, study):
        return [(one.advice.value, one.n_failed, one.n_checks) for one in payments_of(study)]

    @pytest.mark.parametrize(
        ("planted", "told"),
        [
            ({}, ("rejectable", 2, 2)),
            ({"n": 1}, ("approve", 1, 1)),
            ({"verdict": 2}, ("approve", 0, 2)),
            ({"kind": CheckKind.GOLD}, ("approve", 0, 0)),
        ],
    )
    def test_of_attention_let_work_be_rejected_and_others_do_not(self, study, planted, told):
        self.plant(study, come(study).rater, **planted)

        assert self.advice(study) == [told]

    def test_are_no_repeats_of_own_pairs(self, study):
        rater = come(study).rater
        for _ in range(2):
            earlier = answer(make_comparison(study=study), rater, 2)
            answer(earlier.comparison, rater, -1, repeats=earlier.lease)

        assert self.advice(study) == [("approve", 0, 0)]

    def test_are_those_of_the_newest_version_of_an_answer(self, study):
        rater = come(study).rater
        self.plant(study, rater)
        for one in rater.judgments.all():
            make_judgment(revises=one, verdict=2)

        assert self.advice(study) == [("approve", 0, 2)]

    def test_count_against_the_submission_in_which_they_were_answered(self, study):
        rater = come(study, state=SubmissionState.RETURNED).rater
        self.plant(study, rater)
        make_submission(
            rater=rater, number=2, session_id="x-2", code="C1", opened_at=NOW + 2 * HOUR
        )
        self.plant(study, rater, verdict=2, hours=3)

        assert self.advice(study) == [("approve", 0, 2), ("settled", 2, 2)]

    def test_count_before_the_raters_of_a_large_study_are_measured_again(self, study, monkeypatch):
        measure_study(study_id=study.pk, now=NOW)
        monkeypatch.setattr(queries, "MOST_LIVE", 0)
        self.plant(study, come(study).rater)

        assert self.advice(study) == [("rejectable", 2, 2)]

    def test_leave_a_look_at_who_was_left_out_by_hand_and_is_not_measured_yet(
        self, study, django_user_model, monkeypatch
    ):
        measure_study(study_id=study.pk, now=NOW)
        monkeypatch.setattr(queries, "MOST_LIVE", 0)
        rater = come(study).rater
        answer(make_comparison(study=study), rater, 2)
        by = django_user_model.objects.create(username="boss")
        decision = {"rater": rater, "reason": "haste", "by": by}
        excluding.exclude_rater(**decision, now=NOW)

        (excluded,) = payments_of(study)
        excluding.reinstate_rater(**decision, now=NOW + HOUR)
        (reinstated,) = payments_of(study)

        assert excluded.row is None
        assert (excluded.advice, reinstated.advice) == (Advice.LOOK, Advice.APPROVE)

    def test_of_messages_alone_are_read_from_the_dimension(self):
        study = make_study(slug="alone", content=study_content(), protocol=Protocol.LIKERT)
        rater = come(study).rater
        for mark in (4, 2):
            check = make_quality_check(
                comparison=make_alone(study=study, purpose=Purpose.CHECK),
                kind=CheckKind.ATTENTION,
                expected=Expected.HIGH,
                dimension="H",
            )
            given = answer(check.comparison, rater, None, quality_check=check)
            make_mark(judgment=given, dimension="H", advantage=mark)

        assert [(one.n_failed, one.n_checks) for one in payments_of(study)] == [(1, 2)]
