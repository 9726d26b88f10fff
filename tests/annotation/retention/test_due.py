"""When something falls due."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from access.evidence.rules import person_hash
from annotation.retention.rules import HeldKind, Policy, months_after, months_before

POLICY = Policy(contact=6, reasons=0, addresses=1, evidence=120)
CLOSED = dt.date(2026, 8, 31)
days = st.dates(dt.date(1990, 1, 1), dt.date(2090, 1, 1))


def test_counts_from_the_day_and_takes_the_last_of_a_short_month():
    assert POLICY.due_on(HeldKind.CONTACT, CLOSED) == dt.date(2027, 2, 28)
    assert POLICY.due_on(HeldKind.EVIDENCE, CLOSED) == dt.date(2036, 8, 31)
    assert POLICY.due_on(HeldKind.SESSIONS, CLOSED) == CLOSED


def test_nothing_is_due_that_is_kept_for_good():
    assert POLICY.due_on(HeldKind.REASONS, CLOSED) is None
    assert not POLICY.is_due(HeldKind.REASONS, CLOSED, dt.date(2099, 1, 1))


@pytest.mark.parametrize(("today", "is_due"), [((2027, 2, 27), False), ((2027, 2, 28), True)])
def test_is_due_from_its_day_on(today, is_due):
    assert POLICY.is_due(HeldKind.CONTACT, CLOSED, dt.date(*today)) is is_due


@given(day=days, months=st.integers(0, 240))
def test_months_are_counted_back_as_they_are_counted_on(day, months):
    after = months_after(day, months)

    assert (after.year * 12 + after.month) - (day.year * 12 + day.month) == months
    assert months_before(after, months) <= day
    assert after.day <= day.day


WHO = {"kind": "RATER", "scope": "demo", "identifier": "5f3b"}


class TestPersonHash:
    def test_is_the_same_for_the_same_person_however_it_is_typed(self):
        assert person_hash("k", **WHO) == person_hash("k", **WHO | {"identifier": " 5F3B"})

    @pytest.mark.parametrize("changed", [{"kind": "WRITER"}, {"scope": "b"}, {"identifier": "x"}])
    def test_differs_for_another(self, changed):
        assert person_hash("k", **WHO) != person_hash("k", **WHO | changed)

    def test_differs_under_another_key(self):
        assert person_hash("k", **WHO) != person_hash("l", **WHO)

    def test_knows_nobody_by_nothing(self):
        with pytest.raises(ValueError, match="nobody"):
            person_hash("k", kind="RATER", scope="demo", identifier=" ")
