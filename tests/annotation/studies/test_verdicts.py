"""Answers: what a protocol admits, and the way from the screen to the canonical frame."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.choices import Protocol
from annotation.studies.verdicts import (
    FARTHEST_MARK,
    LIKERT,
    SCALES,
    Answer,
    InvalidAnswerError,
    check_answer,
    swap_frame,
)

HEART = ["human", "empathic", "attuned", "resonant", "task"]


@st.composite
def answers(draw):
    protocol = draw(st.sampled_from(Protocol.values))
    if protocol == Protocol.LIKERT:
        ratings = {key: draw(st.integers(1, 5)) for key in HEART}
        return protocol, Answer(verdict=None, rationale=draw(st.text()), marks=ratings)
    marks = st.dictionaries(st.sampled_from(HEART), st.integers(-FARTHEST_MARK, FARTHEST_MARK))
    return protocol, Answer(
        verdict=draw(st.sampled_from(sorted(SCALES[protocol]))),
        rationale=draw(st.text()),
        marks=draw(marks) if protocol == Protocol.RUBRIC else {},
    )


def test_every_protocol_has_a_scale():
    assert {*SCALES, LIKERT} == set(Protocol.values)


class TestCheckAnswer:
    @pytest.mark.parametrize("verdict", [-2, -1, 0, 1, 2])
    def test_admits_the_five_points_of_the_preference_protocol(self, verdict):
        check_answer(Answer(verdict, "warm"), protocol="PREFERENCE", dimensions=HEART)

    @pytest.mark.parametrize("verdict", [-5, -1, 1, 5])
    def test_admits_a_winner_with_a_strength_in_the_rubric_protocol(self, verdict):
        check_answer(
            Answer(verdict, "", {"human": 1, "task": 0}), protocol="RUBRIC", dimensions=HEART
        )

    @pytest.mark.parametrize(
        ("protocol", "verdict"),
        [("PREFERENCE", -3), ("PREFERENCE", 3), ("RUBRIC", 0), ("RUBRIC", 6), ("RUBRIC", -6)],
    )
    def test_refuses_a_verdict_off_the_scale_and_says_what_there_is(self, protocol, verdict):
        with pytest.raises(InvalidAnswerError, match=rf"verdict {verdict} is not one of \[-"):
            check_answer(Answer(verdict, "warm"), protocol=protocol, dimensions=HEART)

    def test_refuses_marks_where_the_rubric_is_not_shown(self):
        with pytest.raises(InvalidAnswerError, match="never see the rubric"):
            check_answer(Answer(1, "warm", {"human": 1}), protocol="PREFERENCE", dimensions=HEART)

    def test_refuses_a_dimension_that_the_rubric_lacks_and_names_it(self):
        with pytest.raises(InvalidAnswerError, match=r"unknown dimensions \['wit'\]"):
            check_answer(Answer(1, "", {"human": 1, "wit": 1}), protocol="RUBRIC", dimensions=HEART)

    def test_chips_are_those_of_the_study(self):
        ticked = Answer(1, "", chips=frozenset({"warm", "pushy"}))

        check_answer(ticked, protocol="RUBRIC", dimensions=HEART, chips=("pushy", "warm"))
        with pytest.raises(InvalidAnswerError, match=r"unknown chips \['pushy'\]"):
            check_answer(ticked, protocol="RUBRIC", dimensions=HEART, chips=("warm",))

    @pytest.mark.parametrize("advantage", [-6, 6])
    def test_refuses_a_mark_beyond_the_scale_and_names_it(self, advantage):
        with pytest.raises(InvalidAnswerError, match=r"marks of \['task'\] are beyond 5"):
            check_answer(
                Answer(1, "", {"human": 5, "task": advantage}), protocol="RUBRIC", dimensions=HEART
            )

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (Answer(1, "", dict.fromkeys(HEART, 3)), "has no verdict"),
            (Answer(None, "", {"human": 3}), "are not rated"),
            (Answer(None, "", dict.fromkeys(HEART, 3) | {"task": 0}), "not between 1 and 5"),
            (Answer(None, "", dict.fromkeys([*HEART, "wit"], 3)), "unknown dimensions"),
        ],
    )
    def test_refuses_ratings_that_are_incomplete_or_off_the_scale(self, answer, reason):
        with pytest.raises(InvalidAnswerError, match=reason):
            check_answer(answer, protocol="LIKERT", dimensions=HEART)

    @given(answers())
    def test_admits_every_answer_on_the_scale(self, protocol_and_answer):
        protocol, answer = protocol_and_answer

        check_answer(answer, protocol=protocol, dimensions=HEART)


class TestSwapFrame:
    def test_changes_nothing_where_the_first_completion_is_a(self):
        answer = Answer(2, "warm", {"human": 1})

        assert swap_frame(answer, first_is_a=True) == answer

    def test_turns_verdict_and_marks_round_where_the_first_completion_is_b(self):
        swapped = swap_frame(Answer(4, "warm", {"human": 1, "task": -2}), first_is_a=False)

        assert swapped == Answer(-4, "warm", {"human": -1, "task": 2})

    @given(answers(), st.booleans())
    def test_is_its_own_inverse(self, protocol_and_answer, first_is_a):
        _, answer = protocol_and_answer

        there = swap_frame(answer, first_is_a=first_is_a)

        assert swap_frame(there, first_is_a=first_is_a) == answer

    @given(answers(), st.booleans())
    def test_keeps_an_answer_on_its_scale(self, protocol_and_answer, first_is_a):
        protocol, answer = protocol_and_answer

        swapped = swap_frame(answer, first_is_a=first_is_a)

        check_answer(swapped, protocol=protocol, dimensions=HEART)
