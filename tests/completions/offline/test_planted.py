"""Simulated models of planted quality: their names say what a study should find of them."""

import time

import numpy as np
import pytest

from annotation.judges import answers
from annotation.judges.prompts import PAIR
from annotation.studies.rubric import load_rubric
from completions.offline import planted
from completions.offline.answers import RefusedRequestError, make_answer
from completions.offline.planted import DIMENSIONS, PlantedJudge, PlantedWriter
from tests.completions.offline.test_server import CHAT, choice_of, post
from tests.completions.offline.test_voices import SEEKER_TURNS, chat

RUBRIC = load_rubric("heart-1")
TURNS = [{"role": "seeker", "text": "My boss keeps shouting and I feel low."}]
ALL, NONE = dict.fromkeys(DIMENSIONS, 1.0), dict.fromkeys(DIMENSIONS, 0.0)
FAIR = PlantedJudge("oak", noise=0.0, first=0.0, longer=0.0)


def texts(shares, n: int = 400) -> list[str]:
    return [planted.write(shares, ["I feel low about work."], draw=str(one)) for one in range(n)]


def verdict(judge: PlantedJudge, a: str, b: str):
    messages = PAIR.messages(RUBRIC, TURNS, a=a, b=b)
    return answers.read_judge_answer(planted.answer(judge.name, messages), RUBRIC.keys)


class TestNames:
    @pytest.mark.parametrize(
        "name", ["offline-planted-63-69-91-75-90", "offline-planted-0-5-100-7-8-20ms"]
    )
    def test_of_writers_say_all_that_is_planted(self, name):
        writer = PlantedWriter.of(name)

        assert writer is not None
        assert writer.name == name

    def test_of_judges_say_all_that_is_planted(self):
        judge = PlantedJudge.of("offline-judge-planted-oak-30-15-50")

        assert judge == PlantedJudge("oak", noise=0.3, first=0.15, longer=0.5)
        assert judge.name == "offline-judge-planted-oak-30-15-50"

    @pytest.mark.parametrize(
        "name",
        [
            "offline-planted-63-69-91-75",
            "offline-planted-63-69-91-75-101",
            "offline-planted-63-69-91-75-90-soon",
            "offline-judge-planted-oak-30-15",
            "offline-judge-planted--30-15-50",
        ],
    )
    def test_of_any_other_form_are_no_model(self, name):
        with pytest.raises(RefusedRequestError, match="no model"):
            make_answer(name, chat("I feel low."), None)


class TestMessages:
    @pytest.mark.parametrize("key", DIMENSIONS)
    def test_serve_a_dimension_well_in_the_planted_share(self, key):
        shares = NONE | {key: 0.7}

        found = [planted.parts_done_well(text) for text in texts(shares)]

        assert np.mean([key in one for one in found]) == pytest.approx(0.7, abs=0.07)
        assert set().union(*found) == {key}

    def test_are_as_long_when_they_are_good_as_when_they_are_poor(self):
        good, poor = (np.mean([len(one) for one in texts(shares)]) for shares in (ALL, NONE))

        assert good == pytest.approx(poor, rel=0.02)

    def test_are_the_same_for_the_same_chat_and_point_to_people_in_danger(self):
        name = PlantedWriter(ALL, 0.0).name

        one, other = (planted.answer(name, chat("I feel low.")) for _ in range(2))

        assert one == other
        assert "emergency" in planted.write(ALL, ["Some nights I want to die."], draw="")

    def test_of_people_have_hardly_any_part(self):
        assert planted.parts_done_well("Have you talked to your mom about it?") == frozenset()

    @pytest.mark.parametrize("turn", SEEKER_TURNS)
    def test_stay_within_three_sentences_and_repeat_nothing_of_the_seeker(self, turn):
        for shares in (ALL, NONE):
            text = planted.write(shares, [turn], draw=turn)

            assert sum(text.count(mark) for mark in ".!?") == 3
            assert len(text.split()) <= 50
            assert "{" not in text
            assert "priya" not in text.lower()


class TestJudges:
    def test_prefer_the_message_that_serves_more_dimensions_on_either_side(self):
        good, poor = texts(ALL, 1)[0], texts(NONE, 1)[0]

        assert verdict(FAIR, good, poor).verdict == 5
        assert verdict(FAIR, poor, good).verdict == -5

    def test_mark_the_dimensions_that_tell_two_messages_apart(self):
        one, other = (texts(NONE | {key: 1.0}, 1)[0] for key in "HT")

        marks = verdict(FAIR, one, other).marks

        assert {key: np.sign(mark) for key, mark in marks.items()} == {
            "H": 1, "E": 0, "A": 0, "R": 0, "T": -1,
        }  # fmt: skip

    def test_are_drawn_to_the_first_place_and_the_longer_by_as_much_as_is_planted(self):
        to_first = PlantedJudge("oak", noise=0.0, first=0.4, longer=0.0)
        to_longer = PlantedJudge("oak", noise=0.0, first=0.0, longer=0.5)
        one, other = texts(ALL, 2)

        forth, back = to_first.lead("", one, other), to_first.lead("", other, one)
        lead = to_longer.lead("", one + one, one) - FAIR.lead("", one + one, one)

        assert (forth + back) / 2 == pytest.approx(0.4)
        assert lead == pytest.approx(0.5)

    def test_agree_with_each_other_more_often_than_not(self):
        judges = [PlantedJudge(tree, noise=0.3, first=0.0, longer=0.0) for tree in ("oak", "ash")]
        mixed = texts(dict.fromkeys(DIMENSIONS, 0.5))
        pairs = list(zip(mixed[::2], mixed[1::2], strict=True))

        alike = [len({judge.lead("", *pair) > 0 for judge in judges}) == 1 for pair in pairs]

        assert 0.7 < np.mean(alike) < 1.0

    def test_answer_nothing_else(self):
        with pytest.raises(RefusedRequestError, match="not a judging prompt"):
            make_answer(FAIR.name, chat("Which is better?"), None)


class TestReasons:
    def test_praise_what_one_message_does_better(self):
        said = {
            planted.reason(frozenset("HE"), frozenset("H"), draw=str(one)).partition(";")[0]
            for one in range(50)
        }

        assert said == {planted.PRAISE["E"]}

    def test_blame_only_what_the_other_message_lacks(self):
        sides = frozenset(DIMENSIONS), frozenset("HEAR")
        said = [planted.reason(*sides, draw=str(one)) for one in range(50)]

        assert {one.partition("; the other ")[2] for one in said} == {"", planted.BLAME["T"]}


def test_a_planted_model_answers_over_http_after_its_time(connection):
    began = time.monotonic()
    choice = choice_of(post(connection, CHAT | {"model": "offline-planted-0-0-0-0-0-80ms"}))
    took = time.monotonic() - began

    assert planted.parts_done_well(choice["message"]["content"]) == frozenset()
    assert took >= 0.08  # it may well take longer
