"""Newton's method: where it ends, and how it says that it cannot."""

import numpy as np
import pytest

from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.models.newton import Slopes, covariance, maximise


def bowl(at):
    """Return a quadratic with its maximum of 0 at (3, -1)."""
    away = at - np.array([3.0, -1.0])
    curve = np.diag([2.0, 0.5])
    return Slopes(-float(away @ curve @ away) / 2, -curve @ away, curve)


def quartic(at):
    """Return a function that full Newton steps from afar overshoot: minus log cosh."""
    slope = np.tanh(at)
    return Slopes(-float(np.log(np.cosh(at)).sum()), -slope, np.diag(1 - slope**2))


def test_ends_at_the_maximum_of_a_quadratic():
    found = maximise(bowl, np.zeros(2))

    np.testing.assert_allclose(found.at, [3.0, -1.0], atol=1e-12)
    assert found.slopes.value == pytest.approx(0.0, abs=1e-12)


def test_halves_steps_that_lead_too_far():
    found = maximise(quartic, np.array([1.5]))

    assert found.at[0] == pytest.approx(0.0, abs=1e-9)


def test_does_not_change_where_it_starts():
    start = np.zeros(2)
    maximise(bowl, start)

    assert start.tolist() == [0.0, 0.0]


def test_says_so_when_the_steps_run_out():
    with pytest.raises(NotConvergedError, match="2 steps"):
        maximise(bowl, np.full(2, 100.0), max_iterations=2)


def test_says_so_when_no_step_leads_up():
    def wrong(at):
        return Slopes(-np.inf if at.any() else 0.0, at + 1.0, np.eye(1))

    with pytest.raises(NotConvergedError, match="rises in no direction"):
        maximise(wrong, np.zeros(1))


def test_says_so_when_the_information_is_singular():
    def flat(at):
        return Slopes(0.0, np.ones(2), np.ones((2, 2)))

    with pytest.raises(NotConvergedError, match="inverted"):
        maximise(flat, np.zeros(2))
    with pytest.raises(NotConvergedError, match="singular"):
        covariance(np.ones((2, 2)))


def test_takes_the_null_direction_of_strengths_out_of_the_covariance():
    information = np.array([[2.0, -2.0, 0.3], [-2.0, 2.0, -0.3], [0.3, -0.3, 1.0]])

    found = covariance(information, n_strengths=2)

    np.testing.assert_allclose(found, np.linalg.pinv(information), atol=1e-12)
