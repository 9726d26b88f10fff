"""Answers: what a protocol admits, and the way from the screen to the canonical frame."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.choices import Protocol
from annotation.studies.verdicts import (
    FARTHEST_MARK,
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


class TestCheckAnswer:
    def test_chips_are_those_of_the_study(self):
        ticked = Answer(1, "", chips=frozenset({"warm", "pushy"}))

        check_answer(ticked, protocol="RUBRIC", dimensions=HEART, chips=("pushy", "warm"))
        with pytest.raises(InvalidAnswerError, match=r"unknown chips \['pushy'\]"):
            check_answer(ticked, protocol="RUBRIC", dimensions=HEART, chips=("warm",))

    @pytest.mark.parametrize(
        ("protocol", "answer", "reason"),
        [
            ("PREFERENCE", Answer(-3, "warm"), r"verdict -3 is not one of \[-2, -1, 0, 1, 2\]"),
            ("PREFERENCE", Answer(3, "warm"), r"verdict 3 is not one of \[-"),
            ("PREFERENCE", Answer(1, "warm", {"human": 1}), "never see the rubric"),
            ("RUBRIC", Answer(0, "warm"), r"0 is not one of \[-5, -4, -3, -2, -1, 1, 2, 3, 4, 5\]"),
            ("RUBRIC", Answer(6, "warm"), r"verdict 6 is not one of \[-"),
            ("RUBRIC", Answer(-6, "warm"), r"verdict -6 is not one of \[-"),
            ("RUBRIC", Answer(1, "", {"human": 1, "wit": 1}), r"unknown dimensions \['wit'\]"),
            (
                "RUBRIC",
                Answer(1, "", {"human": 5, "task": -6}),
                r"marks of \['task'\] are beyond 5",
            ),
            ("RUBRIC", Answer(1, "", {"human": 5, "task": 6}), r"marks of \['task'\] are beyond 5"),
            ("LIKERT", Answer(1, "", dict.fromkeys(HEART, 3)), "has no verdict"),
            ("LIKERT", Answer(None, "", {"human": 3}), "are not rated"),
            (
                "LIKERT",
                Answer(None, "", dict.fromkeys(HEART, 3) | {"task": 0}),
                "not between 1 and 5",
            ),
            ("LIKERT", Answer(None, "", dict.fromkeys([*HEART, "wit"], 3)), "unknown dimensions"),
        ],
    )
    def test_refuses_what_is_off_the_scale_and_says_why(self, protocol, answer, reason):
        with pytest.raises(InvalidAnswerError, match=reason):
            check_answer(answer, protocol=protocol, dimensions=HEART)

    @given(answers())
    def test_admits_every_answer_on_the_scale(self, protocol_and_answer):
        protocol, answer = protocol_and_answer

        check_answer(answer, protocol=protocol, dimensions=HEART)


class TestSwapFrame:
    def test_turns_verdict_and_marks_round_where_the_first_completion_is_b_alone(self):
        answer = Answer(4, "warm", {"human": 1, "task": -2})

        assert swap_frame(answer, first_is_a=True) == answer
        swapped = Answer(-4, "warm", {"human": -1, "task": 2})
        assert swap_frame(answer, first_is_a=False) == swapped

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
