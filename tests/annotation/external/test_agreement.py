"""Judgments made elsewhere beside our own: agreement on the same pairs, and ratings with both."""

from itertools import product

import numpy as np
import pytest
from django.urls import reverse

from access.choices import Role
from annotation.models import Comparison
from ranking.raters.services import OUTSIDE, compare_outside
from tests.helpers.factories import HOUR, NOW, make_judgment, make_rater, make_study
from tests.helpers.factories_of_site import make_batch, make_batch_decision, make_external
from tests.helpers.factories_written_once import make_member
from tests.helpers.judged import make_judged_study

pytestmark = pytest.mark.django_db
NOW = NOW + 24 * HOUR


@pytest.fixture
def study():
    """Four dialogues of three pairs each, with one answer of one rater to each."""
    return make_judged_study(study=make_study(protocol="PREFERENCE"))


def answers(study):
    """Return what the study's people said of each pair, by its key."""
    return {
        one: [judgment.verdict for judgment in one.judgments.all()]
        for one in Comparison.objects.filter(study=study).order_by("pk")
    }


def outside_of(study, said):
    batch = make_batch(study=study)
    for comparison, verdicts in said.items():
        for verdict in verdicts:
            make_external(batch=batch, comparison=comparison, verdict=verdict)
    return batch


def test_the_same_answers_agree_in_full_and_move_no_rank(study):
    outside_of(study, answers(study))

    found = compare_outside(study, NOW)

    [row] = found.rows
    assert (row.n_pairs, row.across.value, row.n_decided, row.n_same) == (12, 1.0, 12, 12)
    assert row.kappa == 1.0
    assert np.isnan(row.own)  # one answer to a pair has no other to agree with
    assert (found.movement.n_before, found.movement.n_after) == (12, 24)
    assert all(move.rank_before == move.rank_after for move in found.movement.moves)


def test_the_opposite_answers_never_agree_and_turn_the_ranks(study):
    outside_of(study, {one: [-said[0]] * 3 for one, said in answers(study).items()})

    found = compare_outside(study, NOW)

    [row] = found.rows
    assert (row.across.value, row.n_same, row.outside) == (0.0, 0, 1.0)
    best, *_others, worst = found.movement.moves
    assert best.elo_before > worst.elo_before
    assert best.elo_after < worst.elo_after
    assert best.rank_before < worst.rank_before
    assert best.rank_after > worst.rank_after


def test_shares_are_those_of_every_two_answers_counted_one_by_one(study):
    rng = np.random.default_rng(1)
    for comparison in answers(study):
        for _ in range(2):
            rater = make_rater(study=study)
            make_judgment(comparison=comparison, rater=rater, verdict=int(rng.integers(-2, 3)))
    said = {one: [int(v) for v in rng.integers(-2, 3, size=3)] for one in answers(study)}
    del said[next(iter(said))]  # a pair that they did not judge
    outside_of(study, said)

    [row] = compare_outside(study, NOW).rows

    ours = {one: np.sign(given) for one, given in answers(study).items()}
    theirs = {one: np.sign(given) for one, given in said.items()}
    met = [a == b for one in theirs for a, b in product(ours[one], theirs[one])]
    assert row.n_pairs == len(said)
    assert row.across.value == pytest.approx(np.mean(met))
    assert row.across.low <= row.across.value <= row.across.high
    for share, side in ((row.own, ours), (row.outside, theirs)):
        alike = [side[one][i] == side[one][j] for one in theirs for i in range(3) for j in range(i)]
        assert share == pytest.approx(np.mean(alike))


def test_each_batch_has_a_row_and_all_have_one(study):
    outside_of(study, answers(study))
    outside_of(study, {one: [-said[0]] for one, said in answers(study).items()})

    rows = compare_outside(study, NOW).rows

    assert [row.across.value for row in rows] == [1.0, 0.0, 0.5]
    assert rows[-1].n_decided == 0  # one for and one against is no majority


def test_pairs_that_nobody_here_judged_can_be_compared_with_nothing():
    batch = make_batch(study=make_study(protocol="PREFERENCE"))
    make_external(batch=batch)

    [row] = compare_outside(batch.study, NOW).rows

    assert row.n_pairs == row.n_decided == 0
    assert np.isnan([row.across.value, row.own, row.outside, row.kappa]).all()


def test_a_batch_that_is_left_out_counts_nowhere_and_kept_figures_follow_the_decision(study):
    batch = outside_of(study, answers(study))
    before = OUTSIDE.basis(study)

    make_batch_decision(batch=batch)

    assert OUTSIDE.basis(study) != before
    found = compare_outside(study, NOW)
    assert (found.rows, found.movement) == ((), None)


def test_a_study_of_single_replies_has_nothing_to_compare():
    batch = make_batch(study=make_study(protocol="LIKERT"))

    assert compare_outside(batch.study, NOW).movement is None


def test_an_analyst_reads_the_comparison_or_what_is_missing(study, client):
    client.force_login(make_member(role=Role.ANALYST))
    address = reverse("raters:outside", args=[study.slug])
    missing = client.get(address).content.decode()
    assert "There are no judgments made elsewhere to compare." in missing
    outside_of(study, answers(study))

    shown = client.get(address).content.decode()

    assert address in client.get(reverse("console:external", args=[study.slug])).content.decode()
    assert "They with ours" in shown
    assert "1.00" in shown
    assert "12 judgments now, 24 after" in shown
