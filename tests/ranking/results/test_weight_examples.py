"""The examples of weights that ship, and files of them that are wrong."""

import pytest

from annotation.studies.rubric import load_rubric
from ranking.results.weights import SHIPPED, ExamplesError, examples_for, parse_examples

ONE = """
[[examples]]
rubric = "heart"
slug = "one"
name = "One"
reason = "Because."
weights = {weights}
"""


class TestShippedExamples:
    def test_weigh_the_dimensions_of_their_rubric(self):
        known = set(load_rubric("heart-1").keys)

        found = examples_for("heart")

        assert [one.slug for one in found] == ["crisis-line", "wellness-app"]
        for one in found:
            assert set(one.weights) == known
            assert len(set(one.weights.values())) > 1
            assert len(one.reason) > 40

    def test_are_called_examples(self):
        assert "They are examples" in SHIPPED.read_text(encoding="utf-8")

    def test_of_another_rubric_are_none(self):
        assert examples_for("kindness") == ()


@pytest.mark.parametrize("weights", ["{ H = -1 }", "{ H = inf }", '{ H = "much" }'])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ExamplesError, match=r"one\.toml: examples\.0\.weights\.H"):
        parse_examples(ONE.replace("{weights}", weights), source="one.toml")
