"""Choosing the best text of a context without being taken in by its luck."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import people
from benchmarks.people import Setting
from ranking.numerics.best_of import TextJudgments, choose_and_score, cross_fit, draw_halves, whole

LEVEL = np.zeros(2)  # two opponents as strong as people
HALVES = np.array([[False, True]])
SHAPES = Setting(n_texts=3, n_pairs=2, n_raters=4, text_sd=0.7, n_contexts=12, n_people=6)


def judged(*rows, context=(0, 0)):
    """Rows of (text, opponent, evaluator, share of the text)."""
    text, opponent, evaluator, share = (np.array(column) for column in zip(*rows, strict=True))
    return TextJudgments(text, opponent, evaluator, share, 1.0 - share, np.array(context))


class TestChooseAndScore:
    @pytest.mark.parametrize(
        ("rows", "strengths", "share"),
        [
            (
                [(0, 0, 0, 0.85), (1, 0, 0, 0.35), (0, 0, 1, 0.5), (1, 0, 1, 0.5)],
                LEVEL,
                [1, 0, 1, 0],
            ),
            # Level with a strong system is more than ahead of a weak one.
            ([(0, 0, 0, 0.5), (1, 1, 0, 0.65)], np.array([2.0, -2.0]), [1, 0]),
            ([(0, 0, 0, 0.85), *((1, 0, rater, 0.75) for rater in range(9))], LEVEL, [0, *[1] * 9]),
            ([(0, 0, 0, 0.65), (1, 0, 0, 0.65)], LEVEL, [0.5, 0.5]),
        ],
        ids=[
            "who took most",
            "whom a text met counts",
            "many judgments are trusted more than one",
            "equals share",
        ],
    )
    def test_counts_the_judgments_of_the_text_that_took_most(self, rows, strengths, share):
        best = choose_and_score(judged(*rows), strengths, 0.0)

        assert best.share.tolist() == share
        assert (best.n_contexts, best.n_left_out) == (1, 0)

    def test_chooses_in_each_context_by_itself(self):
        rows = [(0, 0, 0, 0.85), (1, 0, 0, 0.35), (2, 0, 0, 0.15), (3, 0, 0, 0.35)]

        best = choose_and_score(judged(*rows, context=(0, 0, 1, 1)), LEVEL, 0.0)

        assert best.share.tolist() == [1, 0, 0, 1]


class TestCrossFit:
    def test_scores_what_the_other_half_chose(self):
        """The first evaluator prefers text 0, the second text 1; each scores the other's choice."""
        texts = judged((0, 0, 0, 0.85), (1, 0, 0, 0.15), (0, 0, 1, 0.15), (1, 0, 1, 0.85))

        assert cross_fit(texts, LEVEL, 0.0, HALVES).share.tolist() == [0, 1, 1, 0]

    def test_does_not_choose_a_text_for_the_opponent_it_alone_met(self):
        """Both evaluators find text 0 far ahead of an opponent that no other text met."""
        both = [(0, 0, rater, 0.95) for rater in (0, 1)]
        others = [(text, 1, rater, 0.5) for text in (0, 1) for rater in (0, 1)]

        best = cross_fit(judged(*both, *others), LEVEL, 0.0, HALVES)

        # Against that opponent the two are level; against the other one, text 0 has it to show.
        assert best.share.tolist() == [0.5, 0.5, 1, 1, 0, 0]

    def test_leaves_out_a_context_that_one_half_did_not_judge(self):
        rows = [(0, 0, 0, 0.85), (1, 0, 0, 0.15), (0, 0, 1, 0.85), (1, 0, 1, 0.15)]
        alone = [(2, 0, 0, 0.85), (3, 0, 0, 0.15)]

        best = cross_fit(judged(*rows, *alone, context=(0, 0, 1, 1)), LEVEL, 0.0, HALVES)

        assert best.share.tolist() == [1, 0, 1, 0, 0, 0]
        assert (best.n_contexts, best.n_left_out) == (1, 1)

    def test_counts_half_a_context_where_one_half_cannot_score(self):
        """The first evaluator never saw text 2, which the second prefers."""
        rows = [(0, 0, 0, 0.15), (1, 0, 0, 0.85), (1, 0, 1, 0.15), (2, 0, 1, 0.85)]

        best = cross_fit(judged(*rows, context=(0, 0, 0)), LEVEL, 0.0, HALVES)

        assert best.share.tolist() == [0, 0, 1, 0]
        assert (best.n_contexts, best.n_left_out) == (0.5, 0.5)

    def test_is_the_mean_over_the_splits(self):
        study = people.draw(SHAPES, np.random.default_rng(1)).judgments
        halves = draw_halves(np.zeros(6, int), n_splits=3, rng=np.random.default_rng(2))

        each = [cross_fit(study, people.SPREAD, 0.0, halves[[one]]).share for one in range(3)]

        assert cross_fit(study, people.SPREAD, 0.0, halves).share == pytest.approx(np.mean(each, 0))


@pytest.mark.parametrize(
    "changed",
    [
        {"text": np.array([0])},
        {"text": np.array([0, 2])},
        {"opponent": np.array([0, 2])},
        {"to_text": np.array([0.5, -0.5])},
        {"to_text": np.array([0.5, np.nan])},
        {name: np.array([], int) for name in ("text", "opponent", "evaluator")}
        | {"to_text": np.array([]), "to_opponent": np.array([])},
    ],
    ids=["lengths", "text", "opponent", "negative", "not a number", "empty"],
)
def test_columns_that_do_not_fit_are_refused(changed):
    texts = dataclasses.replace(judged((0, 0, 0, 0.5), (1, 0, 1, 0.5)), **changed)

    with pytest.raises(ValueError, match=r"columns|must"):
        choose_and_score(texts, LEVEL, 0.0)
    with pytest.raises(ValueError, match=r"columns|must"):
        cross_fit(texts, LEVEL, 0.0, HALVES)


@pytest.mark.parametrize(
    "halves",
    [np.array([[False, False]]), np.array([[True, True]]), np.empty((0, 2), bool), HALVES[:, :1]],
    ids=["none in the second", "none in the first", "no splits", "too few"],
)
def test_halves_that_are_none_are_refused(halves):
    with pytest.raises(ValueError, match="halves"):
        cross_fit(judged((0, 0, 0, 0.5), (1, 0, 1, 0.5)), LEVEL, 0.0, halves)


class TestInvariance:
    @settings(max_examples=20)
    @given(st.integers(0, 1000))
    def test_names_of_texts_contexts_and_systems_do_not_matter(self, seed):
        rng = np.random.default_rng(seed)
        study = people.draw(SHAPES, rng).judgments
        halves = draw_halves(np.zeros(6, int), n_splits=2, rng=rng)
        rows, texts = rng.permutation(len(study.text)), rng.permutation(len(study.context))
        contexts, systems = rng.permutation(12), rng.permutation(len(people.SPREAD))
        renamed = TextJudgments(
            text=texts[study.text][rows],
            opponent=systems[study.opponent][rows],
            evaluator=study.evaluator[rows],
            to_text=study.to_text[rows],
            to_opponent=study.to_opponent[rows],
            context=contexts[study.context][np.argsort(texts)],
        )
        strengths = people.SPREAD[np.argsort(systems)]

        for choose, more in ((choose_and_score, ()), (cross_fit, (halves,))):
            before = choose(study, people.SPREAD, 0.1, *more)
            after = choose(renamed, strengths, 0.1, *more)
            assert after.share == pytest.approx(before.share[rows])
            assert after.n_contexts == pytest.approx(before.n_contexts)

    @settings(max_examples=20)
    @given(st.integers(0, 1000))
    def test_swapping_the_two_halves_changes_nothing(self, seed):
        rng = np.random.default_rng(seed)
        study = people.draw(SHAPES, rng).judgments
        halves = draw_halves(np.zeros(6, int), n_splits=2, rng=rng)

        swapped = cross_fit(study, people.SPREAD, 0.0, ~halves).share

        assert swapped == pytest.approx(cross_fit(study, people.SPREAD, 0.0, halves).share)


class TestSimulated:
    """Means over studies of 100 contexts; the margins are four standard errors or more."""

    def test_equal_texts_look_better_when_chosen_by_their_score(self):
        found = people.measure(Setting(3, 6, 4, text_sd=0.0, n_contexts=100), n_studies=12)

        assert found.plain > 20.0
        assert abs(found.cross_fitted) < 5.0

    def test_better_texts_are_found(self):
        found = people.measure(Setting(3, 8, 4, text_sd=0.7, n_contexts=100), n_studies=12)

        assert found.cross_fitted > 30.0
        assert abs(found.cross_fitted - found.chosen) < 6.0
        assert found.cross_fitted < found.best < found.plain


@pytest.mark.parametrize("half", [16.5, 17.5, 0.5])
def test_a_mean_of_counts_is_rounded_alike_in_whatever_order_it_was_added(half):
    nearby = (half, half - 1e-12, half + 1e-12)

    assert len({whole(one) for one in nearby}) == 1
    assert whole(half + 0.001) == whole(half - 0.001) + 1


class TestDrawHalves:
    @given(st.lists(st.integers(0, 2), min_size=2, max_size=12), st.integers(0, 1000))
    def test_are_even_in_all_and_in_each_stratum_and_follow_from_the_seed(self, strata, seed):
        halves, again = (
            draw_halves(np.array(strata), n_splits=3, rng=np.random.default_rng(seed))
            for _ in range(2)
        )

        assert halves.shape == (3, len(strata))
        for among in (np.array(strata) >= 0, *(np.array(strata) == one for one in set(strata))):
            assert (np.abs(2 * halves[:, among].sum(axis=1) - among.sum()) <= 1).all()
        assert (halves == again).all()

    def test_put_every_two_together_and_apart(self, rng):
        halves = draw_halves(np.zeros(5, int), n_splits=200, rng=rng)

        together = (halves[:, :, None] == halves[:, None, :]).mean(axis=0)
        assert together[np.triu_indices(5, 1)] == pytest.approx(0.4, abs=0.15)

    @pytest.mark.parametrize(("n_evaluators", "n_splits"), [(0, 1), (1, 1), (2, 0)])
    def test_are_refused_where_there_are_none(self, n_evaluators, n_splits, rng):
        with pytest.raises(ValueError, match="cannot split"):
            draw_halves(np.zeros(n_evaluators, int), n_splits=n_splits, rng=rng)
