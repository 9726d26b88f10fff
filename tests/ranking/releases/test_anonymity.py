"""What is released of raters is k-anonymous, or it is left out."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.releases import anonymity


@st.composite
def tables(draw):
    n = draw(st.integers(0, 30))
    names = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=4))
    value = st.sampled_from(["x", "y", "z", "other", ""])
    return {name: draw(st.lists(value, min_size=n, max_size=n)) for name in names}


ks = st.integers(1, 6)


@given(table=tables(), k=ks)
def test_the_result_is_k_anonymous_or_the_attributes_are_left_out(table, k):
    found = anonymity.anonymise(table, k)

    assert anonymity.small_cells(found.columns, k) == {}
    assert {*found.columns, *found.dropped} == set(table)
    assert found.smallest >= k or not found.columns or not any(table.values())


@given(table=tables(), k=ks)
def test_what_is_k_anonymous_already_is_not_changed(table, k):
    if anonymity.small_cells(table, k):
        return

    found = anonymity.anonymise(table, k)

    assert found.columns == {name: tuple(values) for name, values in table.items()}
    assert (found.merged, found.dropped) == ({}, ())


@given(table=tables(), k=ks)
def test_values_only_become_other_and_say_so(table, k):
    found = anonymity.anonymise(table, k)

    for name, values in found.columns.items():
        pairs = list(zip(table[name], values, strict=True))
        changed = {old for old, new in pairs if old != new}
        assert all(new in {old, "other"} for old, new in pairs)
        assert set(found.merged.get(name, ())) == changed


@given(table=tables(), k=ks, order=st.randoms())
def test_the_order_of_people_decides_nothing(table, k, order):
    n = len(next(iter(table.values()), []))
    people = list(range(n))
    order.shuffle(people)
    shuffled = {name: [values[one] for one in people] for name, values in table.items()}

    one, two = anonymity.anonymise(table, k), anonymity.anonymise(shuffled, k)

    assert (one.dropped, one.merged, one.smallest) == (two.dropped, two.merged, two.smallest)
    if one.columns:
        assert anonymity.cells(one.columns) == anonymity.cells(two.columns)


def test_rare_values_become_other_with_the_next_rarest():
    table = {"country": ["IN"] * 6 + ["GB"] * 5 + ["FR"] * 2 + ["DE"]}

    found = anonymity.anonymise(table, 5)

    assert Counter(found.columns["country"]) == {"IN": 6, "other": 8}
    assert found.merged == {"country": ("DE", "FR", "GB")}
    assert found.smallest == 6


def test_the_attribute_with_the_most_values_goes_first():
    table = {"age": ["1", "2", "3"] * 5, "hand": ["l", "r", "r", "r", "r"] * 3}

    found = anonymity.anonymise(table, 3)

    assert found.dropped == ("age",)
    assert set(found.columns["hand"]) == {"l", "r"}


def test_fewer_people_than_k_have_no_attributes_released():
    found = anonymity.anonymise({"country": ["IN"] * 4}, 5)

    assert (found.columns, found.dropped, found.smallest) == ({}, ("country",), 0)


def test_names_the_cells_that_are_too_small():
    table = {"a": ["x", "x", "y"], "b": ["1", "1", "2"]}

    assert anonymity.small_cells(table, 2) == {("y", "2"): 1}
    assert anonymity.smallest_cell(table) == 1


def test_refuses_a_k_of_nobody_and_columns_that_do_not_fit():
    with pytest.raises(ValueError, match="at least 1"):
        anonymity.anonymise({"a": ["x"]}, 0)
    with pytest.raises(ValueError, match="shorter"):
        anonymity.anonymise({"a": ["x", "y"], "b": ["x"]})
