"""What readers of results choose: filters in the address, and shipped examples of weights."""

import pytest

from annotation.studies.rubric import load_rubric
from ranking.choices import ContextSet, EvaluatorPool
from ranking.results.http import UnknownSelectionError, read_filters
from ranking.results.weights import SHIPPED, ExamplesError, examples_for, parse_examples

HUMAN, LLM, COMBINED = EvaluatorPool.HUMAN, EvaluatorPool.LLM, EvaluatorPool.COMBINED
ALL, REGULAR = ContextSet.ALL, ContextSet.REGULAR
FITTED = [(HUMAN, ALL), (HUMAN, REGULAR), (LLM, ALL)]
ONE = """
[[examples]]
rubric = "heart"
slug = "one"
name = "One"
reason = "Because."
weights = {weights}
"""


class TestFilters:
    @pytest.mark.parametrize(
        ("query", "fitted", "selected"),
        [
            ({}, FITTED, (HUMAN, ALL)),
            ({"pool": "llm"}, FITTED, (LLM, ALL)),
            ({"contexts": "regular"}, FITTED, (HUMAN, REGULAR)),
            ({"pool": "human", "contexts": "regular"}, FITTED, (HUMAN, REGULAR)),
            ({"pool": "combined"}, FITTED, (COMBINED, ALL)),
            ({"pool": "llm", "contexts": "regular"}, FITTED, (LLM, REGULAR)),
            ({}, [], (COMBINED, ALL)),
        ],
        ids=["nothing", "pool", "contexts", "both", "unfitted pool", "unfitted pair", "no fits"],
    )
    def test_left_open_by_the_address_are_the_first_that_fit(self, query, fitted, selected):
        assert read_filters(query, fitted=fitted).selected == selected

    def test_change_one_at_a_time_and_keep_the_other(self):
        filters = read_filters({"pool": "human", "contexts": "regular"}, fitted=FITTED)

        assert [choice.query for choice in filters.context_sets] == [
            "?pool=human&contexts=all",
            "?pool=human&contexts=regular",
            "?pool=human&contexts=adversarial",
        ]
        assert [choice.is_current for choice in filters.pools] == [True, False, False]
        assert [choice.has_fit for choice in filters.pools] == [True, False, False]

    @pytest.mark.parametrize(
        "query", [{"pool": "HUMAN"}, {"pool": ""}, {"contexts": "hostile"}, {"contexts": "ALL"}]
    )
    def test_that_do_not_exist_are_refused_with_those_that_do(self, query):
        with pytest.raises(UnknownSelectionError, match=r"all, regular|human, llm"):
            read_filters(query, fitted=FITTED)


class TestExamplesOfWeights:
    def test_weigh_the_dimensions_of_their_rubric(self):
        known = set(load_rubric("heart-1").keys)

        found = examples_for("heart")

        assert [one.slug for one in found] == ["crisis-line", "wellness-app"]
        for one in found:
            assert set(one.weights) == known
            assert len(set(one.weights.values())) > 1
            assert len(one.reason) > 40
        assert "They are examples" in SHIPPED.read_text(encoding="utf-8")
        assert examples_for("kindness") == ()

    @pytest.mark.parametrize("weights", ["{ H = -1 }", "{ H = inf }", '{ H = "much" }'])
    def test_that_are_no_weights_are_refused(self, weights):
        with pytest.raises(ExamplesError, match=r"one\.toml: examples\.0\.weights\.H"):
            parse_examples(ONE.replace("{weights}", weights), source="one.toml")
