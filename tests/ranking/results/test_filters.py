"""The filters of the results page, read from its address."""

import pytest

from ranking.choices import ContextSet, EvaluatorPool
from ranking.results.http import UnknownSelectionError, read_filters

HUMAN, LLM, COMBINED = EvaluatorPool.HUMAN, EvaluatorPool.LLM, EvaluatorPool.COMBINED
ALL, REGULAR = ContextSet.ALL, ContextSet.REGULAR
FITTED = [(HUMAN, ALL), (HUMAN, REGULAR), (LLM, ALL)]


@pytest.mark.parametrize(
    ("query", "selected"),
    [
        ({}, (HUMAN, ALL)),
        ({"pool": "llm"}, (LLM, ALL)),
        ({"contexts": "regular"}, (HUMAN, REGULAR)),
        ({"pool": "human", "contexts": "regular"}, (HUMAN, REGULAR)),
        ({"pool": "combined"}, (COMBINED, ALL)),
        ({"pool": "llm", "contexts": "regular"}, (LLM, REGULAR)),
    ],
    ids=["nothing", "pool", "contexts", "both", "unfitted pool", "unfitted pair"],
)
def test_what_the_address_leaves_open_is_the_first_that_fits(query, selected):
    assert read_filters(query, fitted=FITTED).selected == selected


def test_without_fits_the_widest_is_selected():
    assert read_filters({}, fitted=[]).selected == (COMBINED, ALL)


def test_a_choice_changes_its_own_filter_and_keeps_the_other():
    filters = read_filters({"pool": "human", "contexts": "regular"}, fitted=FITTED)

    assert [choice.query for choice in filters.context_sets] == [
        "?pool=human&contexts=all",
        "?pool=human&contexts=regular",
        "?pool=human&contexts=adversarial",
    ]
    assert [choice.is_current for choice in filters.pools] == [True, False, False]
    assert [choice.has_fit for choice in filters.pools] == [True, False, False]


@pytest.mark.parametrize("query", [{"pool": "HUMAN"}, {"pool": ""}, {"contexts": "hostile"}])
def test_what_does_not_exist_is_refused_with_what_does(query):
    with pytest.raises(UnknownSelectionError, match=r"all, regular|human, llm"):
        read_filters(query, fitted=FITTED)
