"""Which hostility is wanted under each profile, and what a measured curve is held to."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.choices import EscalationProfile
from completions.contexts.adversarial import profiles

PROFILES = [str(profile) for profile in EscalationProfile]
LENGTHS = st.integers(profiles.SHORTEST, 30)


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
        assert profiles.targets(profile, n) == wanted

    @pytest.mark.parametrize("profile", PROFILES)
    @given(n=LENGTHS)
    def test_stay_on_the_scale_never_fall_and_end_hostile(self, profile, n):
        wanted = profiles.targets(profile, n)

        assert len(wanted) == n
        assert set(wanted) <= set(range(11))
        assert wanted == sorted(wanted)
        assert wanted[-1] == 10

    @given(n=LENGTHS)
    def test_tell_the_profiles_apart(self, n):
        assert len({tuple(profiles.targets(profile, n)) for profile in PROFILES}) == 4

    def test_need_enough_turns(self):
        with pytest.raises(profiles.TooShortError, match="3 seeker turns are too few"):
            profiles.targets("ALWAYS_10", 3)


class TestCurveProblems:
    @pytest.mark.parametrize("profile", PROFILES)
    @given(n=LENGTHS)
    def test_are_none_when_the_targets_are_met(self, profile, n):
        assert profiles.curve_problems(profile, profiles.targets(profile, n)) == []

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
        assert any(problem in one for one in profiles.curve_problems(profile, measured))

    def test_let_a_rater_differ_by_two(self):
        assert profiles.curve_problems("LINEAR_RAMP", [0, 4, 8, 10]) == []

    @pytest.mark.parametrize("n", range(profiles.SHORTEST, profiles.SHORTEST + 3))
    def test_let_no_curve_pass_for_two_profiles(self, n):
        reached = {
            curve
            for profile in PROFILES
            for curve in product(*(around(target) for target in profiles.targets(profile, n)))
        }

        passed = [
            sum(not profiles.curve_problems(profile, curve) for profile in PROFILES)
            for curve in reached
        ]

        assert max(passed) == 1


def around(target):
    """Return every hostility that is close enough to a target."""
    return [rated for rated in range(11) if abs(rated - target) <= profiles.TOLERANCE]
