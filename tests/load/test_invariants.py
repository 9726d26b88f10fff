"""The rules that a load run ends with find what breaks them."""

import pytest

from annotation.choices import Side
from annotation.models import Comparison
from benchmarks.load.invariants import broken
from completions.choices import LeaseOutcome
from tests.helpers.factories import NOW, make_comparison, make_judgment, make_lease, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    """One pair of two wanted judgments, with one given."""
    study = make_study(judgments_per_pair=2)
    comparison = make_comparison(study=study, slots_left=1, shown_first_as_a=1)
    make_judgment(comparison=comparison)
    return study


def found(study, acknowledged=()):
    return [rule for rule, n in broken(study, acknowledged) if n]


def test_nothing_is_found_where_all_is_well(study):
    tokens = [str(lease.token) for lease in study.comparisons.get().leases.all()]
    assert found(study, tokens) == []


def test_too_many_judgments_are_found(study):
    comparison = study.comparisons.get()
    for _more in range(2):
        make_judgment(comparison=comparison)

    assert "comparisons over their quota" in found(study)


def test_a_slot_that_is_neither_free_nor_taken_is_found(study):
    Comparison.objects.update(slots_left=0)
    assert found(study) == ["comparisons whose free slots are miscounted"]


def test_an_open_lease_holds_a_slot(study):
    make_lease(comparison=study.comparisons.get())
    assert found(study) == ["comparisons whose free slots are miscounted"]


def test_a_rater_who_judged_a_comparison_twice_is_found(study):
    comparison = study.comparisons.get()
    rater = comparison.judgments.get().rater
    again = make_lease(rater=rater, closed_at=NOW, outcome=LeaseOutcome.SUBMITTED)
    make_judgment(comparison=comparison, rater=rater, lease=again)

    assert "raters twice on a comparison" in found(study)


def test_an_answer_that_was_acknowledged_and_is_not_there_is_found(study):
    lost = make_lease(comparison=study.comparisons.get(), first_side=Side.B)
    Comparison.objects.update(slots_left=0)

    assert found(study, [str(lost.token)]) == ["acknowledged answers that are missing"]


def test_sides_that_are_not_balanced_are_found(study):
    Comparison.objects.update(shown_first_as_a=2)
    assert found(study) == ["pairs whose sides are out of balance"]
