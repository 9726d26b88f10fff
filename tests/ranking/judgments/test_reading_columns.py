"""Single judgments as columns: what each says, and in which order."""

import datetime as dt

import numpy as np
import pytest
from django.db.models import F, Value
from django.db.models.functions import NullIf

from annotation.models import DimensionMark, Judgment
from ranking.analyses.boards import rated
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits.estimate import estimate_ratings
from ranking.judgments.analysis_set import Selection
from ranking.judgments.frames.columns import read_columns_and_dimensions, read_style
from ranking.judgments.frames.groups import read_groups
from ranking.judgments.frames.integers import NotWholeNumbersError, read_integers
from ranking.judgments.method import Method
from ranking.judgments.style import FEATURES
from ranking.numerics.elo import to_elo
from ranking.numerics.strength_mode import StrengthMode
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_judge,
    make_judgment,
    make_llm_judgment,
    make_rater,
    make_study,
    make_system,
)
from tests.helpers.judged import make_judged_study
from tests.helpers.observed import counted_reads

pytestmark = pytest.mark.django_db

SECOND = dt.timedelta(seconds=1)


def selection(study, now, pool=EvaluatorPool.COMBINED):
    return Selection(study, pool, ContextSet.ALL, now)


def read(study, now, pool=EvaluatorPool.COMBINED):
    return read_columns_and_dimensions(selection(study, now, pool))[0]


def mark(judgment, **advantages):
    for dimension, advantage in advantages.items():
        DimensionMark.objects.create(judgment=judgment, dimension=dimension, advantage=advantage)


class TestReadColumns:
    def test_says_who_judged_what_and_how(self, comparison, now):
        judgment = make_judgment(comparison=comparison, verdict=-2, first_side="B")

        columns = read(comparison.study, now)

        assert columns.systems == ("alpha", "zeta")
        assert columns.units == (comparison.context.dialogue.content_hash,)
        assert judgment.rater is not None
        assert columns.evaluators == (judgment.rater.code,)
        assert columns.is_judge.tolist() == [False]
        assert (columns.first.tolist(), columns.second.tolist()) == ([1], [0])
        assert (columns.strength.tolist(), columns.shown.tolist()) == ([-4], [-1])
        assert (columns.unit.tolist(), columns.item.tolist(), columns.n_items) == ([0], [0], 1)
        assert columns.features is None

    def test_a_judges_strength_is_its_own_and_its_side_is_known(self, comparison, now):
        judge = make_judge(slug="a-judge")
        make_llm_judgment(comparison=comparison, judge=judge, verdict=5, first_side="A")

        columns = read(comparison.study, now)

        assert (columns.evaluators, columns.is_judge.tolist()) == (("a-judge",), [True])
        assert (columns.strength.tolist(), columns.shown.tolist()) == ([5], [1])

    def test_a_rater_and_a_judge_of_the_same_key_are_two(self, comparison, now):
        rater = make_rater(study=comparison.study)
        judge = make_judge(pk=rater.pk)
        make_judgment(comparison=comparison, rater=rater)
        make_llm_judgment(comparison=comparison, judge=judge)

        columns = read(comparison.study, now)

        assert set(columns.evaluators) == {rater.code, judge.slug}
        assert len(set(columns.evaluator.tolist())) == 2

    def test_the_study_says_what_slightly_and_much_stand_for(self, comparison, now):
        comparison.study.content["soft_scores"] = {"slightly": 1, "much": 5}
        for seconds, verdict in enumerate((1, -2, 0)):
            make_judgment(
                comparison=comparison, verdict=verdict, submitted_at=NOW + seconds * SECOND
            )

        assert read(comparison.study, now).strength.tolist() == [1, -5, 0]

    def test_comes_in_the_order_of_submission_not_of_keys(self, comparison, now):
        for seconds, verdict in ((9, 1), (5, 2), (7, -1), (7, -2)):
            make_judgment(
                comparison=comparison, verdict=verdict, submitted_at=NOW + seconds * SECOND
            )

        assert read(comparison.study, now).strength.tolist() == [4, -2, -4, 2]

    def test_is_of_the_analysis_set_and_of_the_pool(self, now):
        study = make_judged_study(with_llm=True)
        make_judgment(comparison=study.comparisons.first(), is_surplus=True)

        sizes = [read(study, now, pool).n_judgments for pool in EvaluatorPool]

        assert sizes == [12, 12, 24]

    @pytest.mark.parametrize("masses", [None, (1.0, 3.0)], ids=["as many as there are", "masses"])
    @pytest.mark.parametrize("strength", StrengthMode)
    def test_are_rated_as_the_groups_of_a_fit_are(self, now, strength, masses):
        study = make_judged_study(with_llm=True, n_dialogues=6)
        method = Method(strength, 2, 4, level=0.95, replicates=30, seed=5, masses=masses)

        columns, groups = read(study, now), read_groups(selection(study, now))

        assert (columns.systems, columns.units) == (groups.systems, groups.dialogues)
        assert columns.n_judgments == groups.n_judgments
        board, fit = rated(columns, method), estimate_ratings(groups, method)
        assert board.systems == fit.systems
        np.testing.assert_allclose(board.elo, fit.elo, atol=1e-6)
        np.testing.assert_allclose(board.resampled, to_elo(fit.replicates.fitted()), atol=1e-5)

    def test_nothing_judged_gives_empty_columns(self, now):
        study = make_study()

        columns = read(study, now)

        assert (columns.n_judgments, columns.n_items, columns.systems) == (0, 0, ())
        assert read_style(selection(study, now)).shape == (0, 2, 4)

    def test_reads_more_with_no_more_queries(self, now):
        study = make_judged_study(with_llm=True)

        with counted_reads() as reads:
            read_columns_and_dimensions(selection(study, now))

        assert reads.n == 7


class TestReadingStyle:
    def test_measures_both_texts_of_each_pair_as_raters_see_them(self, now):
        study, context = make_study(), make_context()
        texts = ("Oh.", "**Really?** Are you sure?", "I see.")
        first, second, third = (make_completion(context=context, text=text) for text in texts)
        pairs = [("b", second, third), ("a", first, second)]
        for key, one, other in pairs:
            make_judgment(comparison=make_comparison(study=study, first=one, second=other, key=key))

        style = read_style(selection(study, now))

        assert FEATURES == ("length", "sentences", "question_marks", "list_items")
        assert style[..., 2].tolist() == [[0, 2], [2, 0]]
        assert style[0, :, 0].tolist() == [3, len("Really? Are you sure?")]
        assert [style[item, 0, 0] for item in read(study, now).item] == [21, 3]

    def test_has_one_row_for_pairs_of_equal_texts_as_the_items_have(self, comparison, now):
        """Two systems may write the same to one context; their pairs have one name."""
        study, twin = comparison.study, comparison.first
        same = make_completion(
            context=twin.context, system=make_system(slug="like-zeta"), text=twin.text
        )
        pairs = [
            comparison,
            make_comparison(study=study, first=comparison.second, second=same, key=comparison.key),
            make_comparison(study=study, first=twin, second=same),
        ]
        for pair in pairs:
            make_judgment(comparison=pair)

        style = read_style(selection(study, now))

        assert len(style) == read(study, now).n_items == 2


class TestReadDimensionColumns:
    def test_marks_are_judgments_of_one_dimension(self, comparison, now):
        late, soon = make_judge(slug="late"), make_judge(slug="soon")
        later = make_llm_judgment(comparison=comparison, judge=late, submitted_at=NOW + 2 * SECOND)
        sooner = make_llm_judgment(comparison=comparison, judge=soon, submitted_at=NOW + SECOND)
        mark(later, H=-3, E=0)
        mark(sooner, H=1)

        found = read_columns_and_dimensions(selection(comparison.study, now))[1]

        assert list(found) == ["H", "E"]
        assert found["H"].strength.tolist() == [1, -3]
        assert found["E"].strength.tolist() == [0]
        assert found["E"].evaluators == ("late",)
        assert found["H"].evaluators == ("late", "soon")

    def test_systems_that_nobody_marked_are_left_out(self, comparison, now):
        study, context = comparison.study, comparison.context
        others = [make_completion(context=context, system=make_system()) for _ in range(2)]
        make_judgment(comparison=make_comparison(study=study, first=others[0], second=others[1]))
        mark(make_llm_judgment(comparison=comparison), H=2)

        found = read_columns_and_dimensions(selection(study, now))[1]

        assert found["H"].systems == ("alpha", "zeta")
        assert found["H"].n_items == 1

    def test_leaves_out_marks_of_what_does_not_count(self, comparison, now):
        mark(make_judgment(comparison=comparison, is_surplus=True), H=2)

        assert read_columns_and_dimensions(selection(comparison.study, now))[1] == {}


class TestReadIntegers:
    def test_keeps_order_and_sign(self, comparison):
        for verdict in (2, -1):
            make_judgment(comparison=comparison, verdict=verdict)
        rows = Judgment.objects.order_by("-pk").values_list("verdict", F("verdict") * 2**40)

        assert np.array_equal(read_integers(rows), [[-1, -(2**40)], [2, 2**41]])

    @pytest.mark.parametrize("n", [1, 2])
    def test_refuses_an_empty_cell(self, comparison, n):
        for _ in range(n):
            make_judgment(comparison=comparison, verdict=1)
        rows = Judgment.objects.values_list(NullIf("verdict", Value(1)), "verdict")

        with pytest.raises(NotWholeNumbersError):
            read_integers(rows)

    def test_no_rows_keep_their_columns(self):
        assert read_integers(Judgment.objects.values_list("pk", "verdict")).shape == (0, 2)
        assert read_integers(Judgment.objects.none().values_list("pk", "verdict")).shape == (0, 2)
