"""Numbers as text and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ranking.numerics.composites import packed, unpacked

NUMBERS = arrays.arrays(
    np.float64,
    arrays.array_shapes(min_dims=1, max_dims=3, max_side=5),
    elements=st.floats(-1e5, 1e5) | st.just(np.nan),
)


class TestPacking:
    @given(NUMBERS)
    def test_gives_back_numbers_to_half_a_step_and_what_is_none(self, numbers):
        text, step = packed(numbers)

        again = unpacked(text, step, numbers.shape)

        np.testing.assert_array_equal(np.isnan(again), np.isnan(numbers))
        reach = np.nanmax(np.abs(numbers), initial=0.0)
        np.testing.assert_allclose(again, numbers, atol=reach / 65_534 * 1.001 + 1e-300)

    def test_takes_two_bytes_for_a_number(self):
        text, _ = packed(np.ones(300))

        assert len(text) == 300 * 2 * 4 / 3

    def test_the_largest_is_exact_and_noughts_stay_noughts(self):
        text, step = packed(np.array([-655.34, 0.0, 10.0]))

        assert unpacked(text, step, (3,))[0] == pytest.approx(-655.34, rel=1e-12)
        assert step == pytest.approx(0.02)
        assert unpacked(*packed(np.zeros(2)), (2,)).tolist() == [0.0, 0.0]

    @pytest.mark.parametrize(
        ("numbers", "message"),
        [([1.0, np.inf], "infinite"), ([1.0, 1.0, 1.0, 1.0], "reshape")],
        ids=["infinite", "another shape"],
    )
    def test_what_does_not_fit_is_refused(self, numbers, message):
        with pytest.raises(ValueError, match=message):
            unpacked(*packed(np.array(numbers)), (3,))
