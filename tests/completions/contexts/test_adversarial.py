"""What hostility a rewrite is to have, and each constraint on it, broken in turn."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.choices import EscalationProfile
from completions.contexts import adversarial
from tests.completions.contexts.conftest import SOURCE

TARGET = [1, 4, 7, 10]

COLD = {"role": "supporter", "text": "Tell me more."}
KEEP = "The dialogue must keep its 8 turns"
SEVEN = f"{KEEP}; it has 7."
AGAIN = "must not be by the seeker again: the two take turns."

THREATENS = "must hold no threat and wish nobody harm"
WRONG = [
    (" \n", "is empty"),
    ("It is, and the rent is due.", "was not rewritten"),
    ("IT IS, AND THE RENT IS DUE!!!", "was not rewritten"),
    ("It is -\u00a0and the rent is due...", "was not rewritten"),
    ("You never listen. " * 20, "is too long: 51 words at most"),
    ("You are no help, I want to kill myself.", "must hold no self-harm"),
    ("You are no help. Write to me@example.org.", "must hold no personal-data"),
    ("I will kill you for this.", "must hold no violence"),
    ("I will hurt you.", THREATENS),
    ("I\u2019m going to punch you in the face", THREATENS),
    ("I'll find out where you live and make you pay.", THREATENS),
    ("You should just die.", THREATENS),
    ("I hope you get cancer.", THREATENS),
    ("You will regret that you ever wrote to me.", THREATENS),
]

THREATS = (
    *("im gonna hurt you", "I am gonna hurt you", "Im going to hit you", "imma slap you"),
    *("ill find out where you live", "i wanna smack u", "I'd love to hit you", "Id punch you"),
    *("I\u2018ll break your nose", "I`m about to hit you", "I\u02bcll smash ur face"),
    *("youll regret this", "You're gonna pay for this", "ur going to be sorry", "watch ur back"),
    *("I hope u rot", "u should just die", "im coming for ya"),
)
MERE_ANGER = (
    "You are useless and I am sick of you.",
    "I hope you get paid for this, because I would not.",
    "I don't know where you live, and I don't care.",
    "He said he would hurt me and you only ask how I sleep.",
    "I could hit the wall when I read you.",
    "Im ill and tired of you, and u dont even hit the right tone.",
    "You're going to bed, and I am not going to hurt anybody.",
)


def rewritten(place=None, **fields):
    """Return a sound rewrite, with fields of the turn at one place replaced."""
    turns = [dict(turn) for turn in SOURCE]
    for index in (3, 5, 7):
        turns[index]["text"] = f"You are no help. {turns[index]['text']}"
    if place is not None:
        turns[place] |= fields
    return turns


def problems(turns, source=SOURCE):
    return adversarial.rewrite_problems(source, turns, target=TARGET, language="en")


class TestRewriteProblems:
    def test_find_more_of_what_the_source_held_already(self):
        source = [*SOURCE[:5], SOURCE[5] | {"text": "He beat me up."}, *SOURCE[6:]]
        kept = rewritten(5, text="Useless. He beat me up.")
        more = rewritten(5, text="Useless. He beat me up. I could strangle him.")

        assert problems(kept, source) == []
        assert problems(more, source) == ["Seeker turn 3 must hold no violence."]

    @pytest.mark.parametrize(
        ("turns", "source", "found"),
        [
            (rewritten(4, role="seeker"), SOURCE, {f"Turn {n} {AGAIN}" for n in (5, 6)}),
            (rewritten()[1:], SOURCE, {SEVEN, "The first turn must be the supporter's."}),
            (rewritten(2, text="")[:-1], SOURCE, {SEVEN, "The last turn must be the seeker's."}),
            (rewritten() + rewritten()[:2], SOURCE, {f"{KEEP}; it has 10."}),
            (rewritten()[:2], SOURCE[:2], {"The dialogue must have at least 4 turns; it has 2."}),
            ([COLD, *rewritten()[1:]], [COLD, *SOURCE[1:]], {"The first turn must be a greeting."}),
        ],
        ids=[
            *("one role twice", "the seeker begins", "the supporter ends"),
            *("more turns", "too few turns", "no greeting"),
        ],
    )
    def test_find_a_wrong_shape_and_look_at_no_text_then(self, turns, source, found):
        assert set(problems(turns, source)) == found

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("I'm sorry. How are you holding up? ", id="a space more"),
            pytest.param("I\u2019m sorry. How are you holding up?", id="a curly apostrophe"),
            pytest.param("I'm sorry.  How are you holding up?", id="a space twice"),
            pytest.param("", id="nothing"),
        ],
    )
    def test_find_a_supporter_turn_that_changed_by_a_byte(self, text):
        assert problems(rewritten(2, text=text)) == [
            "Turn 3 is the supporter's and must stay exactly as it is, every character of it."
        ]

    @pytest.mark.parametrize(("text", "said"), WRONG)
    def test_find_what_is_wrong_with_a_seeker_turn(self, text, said):
        assert f"Seeker turn 3 {said}." in problems(rewritten(5, text=text))

    @pytest.mark.parametrize("text", THREATS)
    def test_see_a_threat_however_it_is_typed(self, text):
        assert adversarial.threatens(f"Useless. {text}!")

    @pytest.mark.parametrize("text", MERE_ANGER)
    def test_see_no_threat_in_mere_anger(self, text):
        assert problems(rewritten(5, text=text)) == []

    def test_let_a_turn_stay_that_need_not_be_hostile(self):
        assert rewritten()[1] == SOURCE[1]
        assert problems(rewritten()) == []


class TestGreeting:
    @pytest.mark.parametrize(
        "text",
        [
            "Hello!",
            "hey there, how are you",
            "Good evening, what brings you here?",
            "Thanks for coming to the chat.",
            "How are you doing today?",
            "Well, hi.",
            "Kia ora, good to have you here.",
        ],
    )
    def test_is_known(self, text):
        assert adversarial.GREETING.search(text)

    @pytest.mark.parametrize(
        "text", ["Tell me about it.", "History is hard.", "I see. Hello?", "Heyday is over."]
    )
    def test_is_not_seen_where_there_is_none(self, text):
        assert not adversarial.GREETING.search(text)


class TestIsFitToRewrite:
    def test_of_a_dialogue_that_has_the_shape(self):
        assert adversarial.is_fit_to_rewrite(SOURCE)

    @pytest.mark.parametrize(
        "turns",
        [
            pytest.param(SOURCE[1:], id="the seeker begins"),
            pytest.param(SOURCE[2:], id="no greeting"),
            pytest.param([], id="nothing"),
        ],
    )
    def test_not_of_others(self, turns):
        assert not adversarial.is_fit_to_rewrite(turns)


PROFILES = [str(profile) for profile in EscalationProfile]
LENGTHS = st.integers(adversarial.SHORTEST, 30)


class TestTargets:
    @pytest.mark.parametrize(
        ("profile", "n", "wanted"),
        [
            ("ALWAYS_10", 4, [10, 10, 10, 10]),
            ("LINEAR_RAMP", 4, [2, 5, 7, 10]),
            ("LINEAR_RAMP", 5, [2, 4, 6, 8, 10]),
            ("MID_SPIKE", 4, [1, 1, 10, 10]),
            ("MID_SPIKE", 5, [1, 1, 10, 10, 10]),
            ("MID_RAMP", 4, [1, 1, 6, 10]),
            ("MID_RAMP", 6, [1, 1, 1, 4, 7, 10]),
        ],
    )
    def test_follow_the_profile(self, profile, n, wanted):
        assert adversarial.targets(profile, n) == wanted

    @pytest.mark.parametrize("profile", PROFILES)
    @given(n=LENGTHS)
    def test_stay_on_the_scale_never_fall_and_end_hostile(self, profile, n):
        wanted = adversarial.targets(profile, n)

        assert len(wanted) == n
        assert set(wanted) <= set(range(11))
        assert wanted == sorted(wanted)
        assert wanted[-1] == 10

    @given(n=LENGTHS)
    def test_tell_the_profiles_apart(self, n):
        assert len({tuple(adversarial.targets(profile, n)) for profile in PROFILES}) == 4

    def test_need_enough_turns(self):
        with pytest.raises(adversarial.TooShortError, match="3 seeker turns are too few"):
            adversarial.targets("ALWAYS_10", 3)


class TestCurveProblems:
    @pytest.mark.parametrize("profile", PROFILES)
    @given(n=LENGTHS)
    def test_are_none_when_the_targets_are_met(self, profile, n):
        assert adversarial.curve_problems(profile, adversarial.targets(profile, n)) == []

    @pytest.mark.parametrize(
        ("profile", "measured", "problem"),
        [
            pytest.param("ALWAYS_10", [7, 10, 10, 10], "turn 1: hostility", id="mild beginning"),
            pytest.param("LINEAR_RAMP", [0, 2, 7, 10], "turn 2: hostility", id="late climb"),
            pytest.param("LINEAR_RAMP", [5, 5, 7, 10], "turn 1: hostility", id="hostile at once"),
            pytest.param("LINEAR_RAMP", [4, 3, 7, 10], "turn 2 must not be calmer", id="falls"),
            pytest.param("MID_SPIKE", [1, 1, 3, 10], "jump suddenly at seeker turn 3", id="late"),
            pytest.param("MID_SPIKE", [1, 9, 10, 10], "turn 2: hostility", id="too early"),
            pytest.param("MID_RAMP", [1, 6, 6, 10], "turn 2: hostility", id="early climb"),
            pytest.param("MID_RAMP", [3, 1, 6, 10], "turn 2 must not be calmer", id="dip"),
            pytest.param("MID_RAMP", [1, 1, 6, 7], "must be highly hostile", id="mild end"),
            pytest.param("LINEAR_RAMP", [3, 3, 8, 8], "above 3 by seeker turn 2", id="flat half"),
            pytest.param("LINEAR_RAMP", [2, 4, 4, 9, 10], "jump by 5", id="a spike in a climb"),
            pytest.param("MID_RAMP", [3, 3, 8, 8], "turn 3 must be below 8", id="a spike"),
        ],
    )
    def test_name_what_is_off(self, profile, measured, problem):
        assert any(problem in one for one in adversarial.curve_problems(profile, measured))

    def test_let_a_rater_differ_by_two(self):
        assert adversarial.curve_problems("LINEAR_RAMP", [0, 4, 8, 10]) == []

    @pytest.mark.parametrize("n", range(adversarial.SHORTEST, adversarial.SHORTEST + 3))
    def test_let_no_curve_pass_for_two_profiles(self, n):
        reached = {
            curve
            for profile in PROFILES
            for curve in product(*(around(target) for target in adversarial.targets(profile, n)))
        }

        passed = [
            sum(not adversarial.curve_problems(profile, curve) for profile in PROFILES)
            for curve in reached
        ]

        assert max(passed) == 1


def around(target):
    """Return every hostility that is close enough to a target."""
    return [rated for rated in range(11) if abs(rated - target) <= adversarial.TOLERANCE]
