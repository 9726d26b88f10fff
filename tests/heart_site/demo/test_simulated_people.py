"""Simulated raters: who they are, what they find better, and how long they take."""

import datetime as dt
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from completions.offline import planted
from heart_site.demo.simulation import answering
from heart_site.demo.simulation.answering import Mind
from heart_site.demo.simulation.people import (
    Crowd,
    Kind,
    SimulatedRater,
    VirtualClock,
    draw_population,
)
from heart_site.demo.simulation.truth import (
    HIGH,
    LOW,
    TEXT_SPREAD,
    Truth,
    UnknownTextError,
    plant_strengths,
    plant_texts,
)
from heart_site.demo.simulation.whims import SHARES, Whim, whim

START = dt.datetime(2026, 1, 5, 9, 0, tzinfo=dt.UTC)
GOOD, POOR = "That silence sounds heavy.", "Cheer up."
TRUTH = Truth({GOOD: HIGH, POOR: LOW})
TURNS = range(300)


def mind(kind: Kind = Kind.HONEST, *, index: int = 0, truth: Truth = TRUTH) -> Mind:
    rater = SimulatedRater(index, kind, skill=1.0, seconds_per_word=0.3, arrives_after=0.0)
    return Mind(rater, truth, seed=1)


class TestPopulation:
    def test_is_the_same_from_the_same_seed_and_another_from_another(self):
        assert draw_population(n=50, seed=1) == draw_population(n=50, seed=1)
        assert draw_population(n=50, seed=1) != draw_population(n=50, seed=2)

    def test_has_ten_to_fifteen_cheaters_of_every_kind_in_a_hundred(self):
        people = draw_population(n=100, seed=1)

        assert 10 <= sum(person.kind != Kind.HONEST for person in people) <= 15
        assert {person.kind for person in people} == set(Kind)

    def test_has_the_shares_asked_for(self):
        people = draw_population(n=12, seed=1, crowd=Crowd(shares={Kind.CLICKER: 0.25}))

        assert Counter(person.kind for person in people) == {Kind.CLICKER: 3, Kind.HONEST: 9}

    def test_differs_in_skill_and_pace_around_a_middle(self):
        people = draw_population(n=400, seed=1)

        assert 0.9 < np.median([person.skill for person in people]) < 1.1
        assert 0.25 < np.median([person.seconds_per_word for person in people]) < 0.35
        assert len({person.skill for person in people}) == 400

    @pytest.mark.parametrize(
        ("n", "shares"),
        [(0, {}), (5, {Kind.CLICKER: 0.7, Kind.SPEEDER: 0.7})],
        ids=["nobody", "more cheaters than people"],
    )
    def test_refuses_what_cannot_be(self, n, shares):
        with pytest.raises(ValueError, match="no population"):
            draw_population(n=n, seed=1, crowd=Crowd(shares=shares))


class TestTruth:
    def test_plants_evenly_spaced_strengths_in_an_order_of_the_seed(self):
        planted = plant_strengths("abcd", seed=1)

        assert sorted(planted.values()) == [-1.5, -0.5, 0.5, 1.5]
        assert planted == plant_strengths("dcba", seed=1)
        assert len({tuple(plant_strengths("abcd", seed=seed).values()) for seed in range(30)}) > 10

    def test_plants_nothing_on_a_lone_system(self):
        assert plant_strengths("a", seed=1) == {"a": 0.0}

    def test_lets_texts_stray_a_little_from_their_system(self):
        written = [(f"text {n}", "a") for n in range(200)]

        truth = plant_texts(written, {"a": 1.0}, known={}, seed=1)

        found = np.array(list(truth.by_text.values()))
        assert abs(found.mean() - 1.0) < 0.1
        assert abs(found.std() - TEXT_SPREAD) < 0.05

    def test_knows_texts_however_they_are_wrapped(self):
        truth = plant_texts([("two  words", "a")], {"a": 1.0}, known={}, seed=1)

        assert truth.of("two\nwords ") == truth.of("two words")

    def test_gives_the_texts_of_checks_their_own_strength(self):
        written = [(GOOD, "a"), ("else", "a")]

        truth = plant_texts(written, {"a": 0.0}, known={GOOD: HIGH}, seed=1)

        assert truth.of(GOOD) == HIGH

    def test_shares_words_between_systems_that_wrote_the_same(self):
        strengths = {"a": 10.0, "b": -10.0}

        truth = plant_texts([("same", "a"), ("same", "b")], strengths, known={}, seed=1)

        assert abs(truth.of("same")) < 2

    def test_refuses_a_text_it_does_not_know(self):
        with pytest.raises(UnknownTextError, match="never seen"):
            TRUTH.of("never seen")


class TestPreference:
    def answers(self, kind: Kind, a: str = GOOD, b: str = POOR) -> Counter[int]:
        return Counter(answering.five_points(mind(kind), a, b, turn=turn) for turn in TURNS)

    def test_of_an_honest_rater_finds_the_better_text_on_either_side(self):
        assert min(self.answers(Kind.HONEST)) > 0
        assert max(self.answers(Kind.HONEST, POOR, GOOD)) < 0

    def test_of_a_contrary_rater_is_the_opposite(self):
        assert max(self.answers(Kind.CONTRARY)) < 0

    def test_of_a_one_sided_rater_is_a_whatever_it_reads(self):
        assert set(self.answers(Kind.ONE_SIDED, POOR, GOOD)) == {1, 2}

    @pytest.mark.parametrize("kind", [Kind.CLICKER, Kind.SPEEDER])
    def test_of_somebody_who_clicks_at_random_is_anything(self, kind):
        assert set(self.answers(kind)) == {-2, -1, 0, 1, 2}

    def test_is_about_the_same_for_texts_alike(self):
        truth = Truth({"x": 0.0, "y": 0.0})
        found = [
            answering.five_points(mind(index=index, truth=truth), "x", "y", turn=1)
            for index in range(300)
        ]

        assert found.count(0) > 50
        assert abs(np.mean(found)) < 0.2

    def test_repeats_itself_when_the_same_pair_comes_again_swapped(self):
        truth = Truth({"x": 0.5, "y": 0.0})
        again = [
            answering.perceive(mind(index=n, truth=truth), "x", "y", turn=1)
            * -answering.perceive(mind(index=n, truth=truth), "y", "x", turn=2)
            > 0
            for n in range(200)
        ]

        assert np.mean(again) > 0.85

    def test_follows_the_truth_more_closely_with_more_skill(self):
        truth = Truth({"x": 1.0, "y": 0.0})
        by_skill = {}
        for skill in (0.3, 2.0):
            people = [SimulatedRater(n, Kind.HONEST, skill, 0.3, 0.0) for n in range(300)]
            seen = [answering.perceive(Mind(p, truth, 1), "x", "y", turn=0) for p in people]
            by_skill[skill] = np.mean(np.array(seen) > 0)

        assert by_skill[0.3] < 0.75
        assert by_skill[2.0] > 0.9


class TestCrowd:
    """What is planted about all raters of a population."""

    PLAIN = Crowd(taste=1e-9, slip=1e-9)

    def seen(self, a: str, b: str, *, turn: int = 1, **planted: float) -> float:
        truth = Truth({"x": 0.0, "x" * 4: 0.0})
        rater = SimulatedRater(0, Kind.HONEST, 1.0, 0.3, 0.0)
        crowd = replace(self.PLAIN, **planted)  # type: ignore[arg-type] # (its pulls alone)
        return answering.perceive(Mind(rater, truth, 1, crowd), a, b, turn=turn)

    def test_is_drawn_to_side_a_by_as_much_as_is_planted(self):
        assert self.seen("x", "x", first=0.4) == pytest.approx(0.4)

    def test_is_drawn_to_the_longer_text_by_as_much_as_is_planted(self):
        assert self.seen("xxxx", "x", longer=0.3) == pytest.approx(2 * 0.3)
        assert self.seen("x", "xxxx", longer=0.3) == pytest.approx(-2 * 0.3)

    def test_slips_more_and_reads_less_when_it_is_tired(self):
        tired = replace(Crowd(), fatigue=1.0, taste=1e-9)
        person = Mind(SimulatedRater(0, Kind.HONEST, 1.0, 0.3, 0.0), TRUTH, 1, tired)
        early, late = range(1, 40), range(1000, 1040)

        slips = [
            np.std([answering.perceive(person, GOOD, GOOD, turn=turn) for turn in turns])
            for turns in (early, late)
        ]
        times = [
            np.median([answering.seconds(person, n_words=100, turn=turn) for turn in turns])
            for turns in (early, late)
        ]

        assert slips[1] > 5 * slips[0]
        assert times[1] < times[0] / 5

    def test_has_severe_raters_who_say_about_the_same_more_often(self):
        truth = Truth({"x": 0.6, "y": 0.0})
        lenient, severe = (
            Mind(SimulatedRater(0, Kind.HONEST, 1.0, 0.3, 0.0, severity), truth, 1, self.PLAIN)
            for severity in (0.5, 2.0)
        )

        assert answering.five_points(lenient, "x", "y", turn=1) == 1
        assert answering.five_points(severe, "x", "y", turn=1) == 0

    def test_differs_in_severity_as_planted(self):
        people = draw_population(n=400, seed=1, crowd=Crowd(severity=0.3))

        assert np.std(np.log([one.severity for one in people])) == pytest.approx(0.3, abs=0.05)
        assert {one.severity for one in draw_population(n=5, seed=1)} == {1.0}


class TestReasons:
    def test_say_that_they_are_simulated_and_what_the_better_text_does(self):
        good, poor = (
            planted.write(dict.fromkeys(planted.DIMENSIONS, share), ["I feel low."], draw="")
            for share in (1.0, 0.0)
        )

        said = answering.reason(-1, [poor, good], turn=3)

        assert said.startswith("Simulated: B ")
        assert any(praise in said for praise in planted.PRAISE.values())

    def test_of_any_other_text_are_always_the_same_words(self):
        assert answering.reason(1, [GOOD, POOR], turn=3) == answering.reason(0, [GOOD], turn=3)


class TestForcedChoice:
    @pytest.mark.parametrize("kind", list(Kind))
    def test_is_always_on_the_scale_without_a_tie(self, kind):
        found = {answering.forced_choice(mind(kind), GOOD, POOR, turn=turn) for turn in TURNS}

        assert found <= {-5, -4, -3, -2, -1, 1, 2, 3, 4, 5}

    def test_of_each_kind_is_as_it_should_be(self):
        def signs(kind: Kind) -> set[bool]:
            return {answering.forced_choice(mind(kind), GOOD, POOR, turn=t) > 0 for t in TURNS}

        assert signs(Kind.HONEST) == {True}
        assert signs(Kind.CONTRARY) == {False}
        assert signs(Kind.ONE_SIDED) == {True}
        assert signs(Kind.CLICKER) == {True, False}

    def test_has_marks_that_lean_as_the_verdict_does(self):
        found = [answering.marks(mind(), 4, "HEART", turn=turn) for turn in TURNS]

        assert np.mean([list(row.values()) for row in found]) > 0.9
        assert set(found[0]) == set("HEART")


class TestPoints:
    @pytest.mark.parametrize("kind", list(Kind))
    def test_are_always_on_the_scale(self, kind):
        found = [answering.points(mind(kind), GOOD, "HEART", turn=turn) for turn in TURNS]

        assert {value for row in found for value in row.values()} <= {1, 2, 3, 4, 5}

    def test_of_an_honest_rater_are_higher_for_the_better_text(self):
        good = answering.points(mind(), GOOD, "HEART", turn=1)
        poor = answering.points(mind(), POOR, "HEART", turn=2)

        assert sum(good.values()) > sum(poor.values()) + 5

    def test_of_a_one_sided_rater_are_always_the_same(self):
        assert answering.points(mind(Kind.ONE_SIDED), POOR, "HE", turn=1) == {"H": 4, "E": 4}


class TestPace:
    def seconds(self, kind: Kind, n_words: int = 200) -> float:
        found = [answering.seconds(mind(kind), n_words=n_words, turn=turn) for turn in TURNS]
        return float(np.median(found))

    def test_of_a_reader_grows_with_the_words(self):
        assert 55 < self.seconds(Kind.HONEST) < 80
        assert self.seconds(Kind.HONEST, n_words=20) < 20

    def test_of_a_speeder_is_a_second_or_two_whatever_there_is_to_read(self):
        assert self.seconds(Kind.SPEEDER) < 2


class TestVirtualClock:
    def test_gives_turns_in_the_order_of_time_and_never_goes_back(self):
        clock = VirtualClock(START)
        minute = dt.timedelta(minutes=1)
        clock.wake(1, at=START + 2 * minute)
        clock.wake(2, at=START + minute)
        seen = []
        for index in clock.turns():
            seen.append((index, (clock.now - START) // minute))
            if index == 1:
                clock.wake(3, at=START)

        assert seen == [(2, 1), (1, 2), (3, 2)]


class TestWhims:
    def test_come_as_often_as_they_should_and_mostly_not(self):
        rng = np.random.default_rng(1)

        seen = Counter(whim(rng) for _pair in range(20_000))

        assert seen[Whim.ANSWER] > 19_000
        assert all(0.5 < seen[kind] / 20_000 / share < 1.6 for kind, share in SHARES.items())
