"""Simulated raters: who they are, how they read, what they find better, how long they take."""

import datetime as dt
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from completions.offline import planted
from heart_site.demo.rehearsal import answering
from heart_site.demo.rehearsal.answering import (
    HIGH,
    LOW,
    TEXT_SPREAD,
    Mind,
    Truth,
    UnknownTextError,
    plant_strengths,
    plant_texts,
)
from heart_site.demo.rehearsal.browser import read_page
from heart_site.demo.rehearsal.people import (
    WHIM_SHARES,
    Crowd,
    Kind,
    SimulatedRater,
    VirtualClock,
    Whim,
    draw_population,
    whim,
)

START = dt.datetime(2026, 1, 5, 9, 0, tzinfo=dt.UTC)
GOOD, POOR = "That silence sounds heavy.", "Cheer up."
TRUTH = Truth({GOOD: HIGH, POOR: LOW})
TURNS = range(300)


def mind(kind: Kind = Kind.HONEST, *, index: int = 0, truth: Truth = TRUTH) -> Mind:
    rater = SimulatedRater(index, kind, skill=1.0, seconds_per_word=0.3, arrives_after=0.0)
    return Mind(rater, truth, seed=1)


class TestPopulation:
    def test_follows_from_its_seed_and_differs_in_skill_and_pace_around_a_middle(self):
        people = draw_population(n=400, seed=1)

        assert people == draw_population(n=400, seed=1)
        assert people != draw_population(n=400, seed=2)
        assert 0.9 < np.median([person.skill for person in people]) < 1.1
        assert 0.25 < np.median([person.seconds_per_word for person in people]) < 0.35
        assert len({person.skill for person in people}) == 400

    def test_has_ten_to_fifteen_cheaters_of_every_kind_in_a_hundred(self):
        people = draw_population(n=100, seed=1)

        assert 10 <= sum(person.kind != Kind.HONEST for person in people) <= 15
        assert {person.kind for person in people} == set(Kind)

    def test_has_the_shares_asked_for(self):
        people = draw_population(n=12, seed=1, crowd=Crowd(shares={Kind.CLICKER: 0.25}))

        assert Counter(person.kind for person in people) == {Kind.CLICKER: 3, Kind.HONEST: 9}

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
        assert plant_strengths("a", seed=1) == {"a": 0.0}

    def test_lets_texts_stray_a_little_from_their_system(self):
        written = [(f"text {n}", "a") for n in range(200)]

        truth = plant_texts(written, {"a": 1.0}, known={}, seed=1)

        found = np.array(list(truth.by_text.values()))
        assert abs(found.mean() - 1.0) < 0.1
        assert abs(found.std() - TEXT_SPREAD) < 0.05

    def test_knows_texts_however_wrapped_those_of_checks_and_those_of_two_systems(self):
        written = [("two  words", "a"), (GOOD, "a"), ("same", "a"), ("same", "b")]

        truth = plant_texts(written, {"a": 10.0, "b": -10.0}, known={GOOD: HIGH}, seed=1)

        assert truth.of("two\nwords ") == truth.of("two words")
        assert truth.of(GOOD) == HIGH
        assert abs(truth.of("same")) < 2
        with pytest.raises(UnknownTextError, match="never seen"):
            truth.of("never seen")


class TestPreference:
    @pytest.mark.parametrize(
        ("kind", "pair", "wanted"),
        [
            (Kind.HONEST, (GOOD, POOR), {2}),
            (Kind.HONEST, (POOR, GOOD), {-2}),
            (Kind.CONTRARY, (GOOD, POOR), {-2}),
            (Kind.ONE_SIDED, (POOR, GOOD), {1, 2}),
            (Kind.CLICKER, (GOOD, POOR), {-2, -1, 0, 1, 2}),
            (Kind.SPEEDER, (GOOD, POOR), {-2, -1, 0, 1, 2}),
        ],
    )
    def test_is_what_the_kind_of_rater_says(self, kind, pair, wanted):
        assert {answering.five_points(mind(kind), *pair, turn=turn) for turn in TURNS} == wanted

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
    @pytest.mark.parametrize(
        ("kind", "is_first_better"),
        [
            (Kind.HONEST, {True}),
            (Kind.CONTRARY, {False}),
            (Kind.ONE_SIDED, {True}),
            (Kind.CLICKER, {True, False}),
            (Kind.SPEEDER, {True, False}),
        ],
    )
    def test_is_on_the_scale_without_a_tie_as_the_kind_says(self, kind, is_first_better):
        found = {answering.forced_choice(mind(kind), GOOD, POOR, turn=turn) for turn in TURNS}

        assert found <= {-5, -4, -3, -2, -1, 1, 2, 3, 4, 5}
        assert {value > 0 for value in found} == is_first_better

    def test_has_marks_that_lean_as_the_verdict_does(self):
        found = [answering.marks(mind(), 4, "HEART", turn=turn) for turn in TURNS]

        assert np.mean([list(row.values()) for row in found]) > 0.9
        assert set(found[0]) == set("HEART")


class TestPoints:
    @pytest.mark.parametrize("kind", list(Kind))
    def test_are_always_on_the_scale(self, kind):
        found = [answering.points(mind(kind), GOOD, "HEART", turn=turn) for turn in TURNS]

        assert {value for row in found for value in row.values()} <= {1, 2, 3, 4, 5}

    def test_are_higher_for_the_better_text_but_of_who_always_says_the_same(self):
        good = answering.points(mind(), GOOD, "HEART", turn=1)
        poor = answering.points(mind(), POOR, "HEART", turn=2)

        assert sum(good.values()) > sum(poor.values()) + 5
        assert answering.points(mind(Kind.ONE_SIDED), POOR, "HE", turn=1) == {"H": 4, "E": 4}


@pytest.mark.parametrize(
    ("kind", "n_words", "low", "high"),
    [(Kind.HONEST, 200, 55, 80), (Kind.HONEST, 20, 0, 20), (Kind.SPEEDER, 200, 0, 2)],
    ids=["a reader", "a reader of few words", "a speeder, whatever there is to read"],
)
def test_pace_grows_with_the_words_for_those_who_read(kind, n_words, low, high):
    found = [answering.seconds(mind(kind), n_words=n_words, turn=turn) for turn in TURNS]

    assert low < np.median(found) < high


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
        assert all(0.5 < seen[kind] / 20_000 / share < 1.6 for kind, share in WHIM_SHARES.items())


PAGE = """
<ol class="dialogue">
  <li class="turn"><span class="who">Seeker</span><div class="said"><p>I moved &amp; know
  nobody.</p></div></li>
  <li class="turn latest"><span class="who">Seeker</span><div class="said"><p>Hello?</p></div></li>
</ol>
<article class="card message"><h3>Reply A</h3><p>That <em>sounds</em> lonely.</p></article>
<article class="card message"><h3>Reply B</h3><p>Cheer up.</p></article>
<p>Not a message.</p>
<form action="/answer/"><input type="hidden" name="token" value="t">
  <input type="radio" name="verdict" value="1"><input type="radio" name="verdict" value="-1">
  <textarea name="rationale">
kept</textarea>
  <button name="choice" value="agree">Yes</button></form>
<form action="/skip/"><button name="reason" value="unclear">Unclear</button></form>
"""


def test_a_page_is_read_for_its_messages_turns_words_and_forms():
    page = read_page(PAGE, path="/s/x/judge/", status=200)
    answer, skip = page.forms

    assert page.messages == ["That sounds lonely.", "Cheer up."]
    assert [" ".join(turn.split()) for turn in page.turns] == ["I moved & know nobody.", "Hello?"]
    assert page.count_words() == 5 + 1 + 3 + 2
    assert page.count_words(known=["Hello?"]) == 5 + 3 + 2
    assert (answer.action, skip.action) == ("/answer/", "/skip/")
    assert not answer.is_swapped
    assert answer.fields == {"token": "t", "rationale": "kept"}
    assert answer.choices == {"verdict": ["1", "-1"]}
    assert skip.buttons == [("reason", "unclear")]
