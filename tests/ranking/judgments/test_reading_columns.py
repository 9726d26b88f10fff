"""Single judgments as columns: what each says, in which order, and the style of the texts."""

import datetime as dt
import math

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
from ranking.judgments.frames.integers import NotWholeNumbersError, coded, read_integers
from ranking.judgments.method import Method
from ranking.judgments.style import FEATURES, features
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

SECOND = dt.timedelta(seconds=1)
TEXTS = {
    # name: the text, its length, its sentences, its question marks
    "empty": ("", 0, 0, 0),
    "white space": (" \n\t ", 0, 0, 0),
    "one sentence": ("I hear you.", 11, 1, 0),
    "a question": ("I hear you. Would you like to talk?", 35, 2, 1),
    "no full stop": ("No full stop at the end", 23, 1, 0),
    "a decimal point": ("It is 3.5 miles. Really?!", 25, 2, 1),
    "marks in a row": ("What?? Why???", 13, 2, 5),
    "closing quotes": ("He said \u201cstop.\u201d Then he left.", 29, 2, 0),
    "an empty line": ("A heading\n\nand a text", 19, 2, 0),
    "marks alone": ("... !!! ???", 11, 0, 3),
    "Chinese": ("\u4f60\u597d\u5417\uff1f\u6211\u5728\u542c\u3002\u8bf7\u8bf4\u3002", 11, 3, 1),
    "Arabic": (
        "\u0643\u064a\u0641 \u062d\u0627\u0644\u0643\u061f \u0623\u0646\u0627 \u0647\u0646\u0627.",
        *(18, 2, 1),
    ),
    "Hebrew": (
        "\u05de\u05d4 \u05e9\u05dc\u05d5\u05de\u05da? \u05d0\u05e0\u05d9 \u05db\u05d0\u05df.",
        *(18, 2, 1),
    ),
    "Hindi": (
        (
            "\u0906\u092a \u0915\u0948\u0938\u0947 \u0939\u0948\u0902? "
            "\u0920\u0940\u0915 \u0939\u0942\u0901\u0964"
        ),
        *(None, 2, 1),
    ),
    "an emoji": ("\U0001f600", 1, 1, 0),
    "two emoji": ("\U0001f600 \U0001f600", 3, 1, 0),
    "emoji that joiners make one": ("\U0001f468\u200d\U0001f469\u200d\U0001f467", 3, 1, 0),
    "direction marks": ("\u200f\u05e9\u05dc\u05d5\u05dd\u200e", 4, 1, 0),
    "an accent of its own": ("cafe\u0301", 4, 1, 0),
    "a line without an end": ("x" * 200_000, 200_000, 1, 0),
}
LISTS = {
    "dashes": ("- breathe\n- walk", 2),
    "numbers": ("You could:\n1. breathe\n2) walk\n(3) rest", 3),
    "nested bullets": ("* one\n  + two\n\t\u2022 three", 3),
    "letters": ("a) this\nb) that", 2),
    "dashes inside a line": ("a - b - c", 0),
    "a negative number": ("-5 degrees", 0),
    "a year": ("1987 was long ago.", 0),
    "a long dash": ("\u2014 she said", 0),
    "empty items": ("- \n-\n", 0),
    "a line without an end": ("x" * 200_000, 0),
}


def selection(study, now, pool=EvaluatorPool.COMBINED):
    return Selection(study, pool, ContextSet.ALL, now)


def read(study, now, pool=EvaluatorPool.COMBINED):
    return read_columns_and_dimensions(selection(study, now, pool))[0]


def judge_at(seconds, comparison, verdict):
    at = NOW + seconds * SECOND
    make_judgment(comparison=comparison, verdict=verdict, submitted_at=at)


def mark(judgment, **advantages):
    for dimension, advantage in advantages.items():
        DimensionMark.objects.create(judgment=judgment, dimension=dimension, advantage=advantage)


@pytest.mark.django_db
class TestReadColumns:
    def test_says_who_judged_what_and_how(self, comparison, now):
        judgment = make_judgment(comparison=comparison, verdict=-2, first_side="B")

        columns = read(comparison.study, now)

        assert columns.systems == ("alpha", "zeta")
        assert columns.units == (comparison.context.dialogue.content_hash,)
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
            judge_at(seconds, comparison, verdict)

        assert read(comparison.study, now).strength.tolist() == [1, -5, 0]

    def test_comes_in_the_order_of_submission_not_of_keys(self, comparison, now):
        for seconds, verdict in ((9, 1), (5, 2), (7, -1), (7, -2)):
            judge_at(seconds, comparison, verdict)

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


@pytest.mark.django_db
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
        same = make_completion(context=twin.context, system=make_system(), text=twin.text)
        of_one_name = {"first": comparison.second, "second": same, "key": comparison.key}
        make_judgment(comparison=comparison)
        for pair in (of_one_name, {"first": twin, "second": same}):
            make_judgment(comparison=make_comparison(study=study, **pair))

        style = read_style(selection(study, now))

        assert len(style) == read(study, now).n_items == 2


@pytest.mark.django_db
class TestReadDimensionColumns:
    def test_marks_are_judgments_of_one_dimension(self, comparison, now):
        for slug, seconds, marks in (("late", 2, {"H": -3, "E": 0}), ("soon", 1, {"H": 1})):
            judge, at = make_judge(slug=slug), NOW + seconds * SECOND
            mark(make_llm_judgment(comparison=comparison, judge=judge, submitted_at=at), **marks)

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


@pytest.mark.django_db
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


class TestCoded:
    def test_gives_the_names_that_occur_sorted_and_the_place_of_each(self):
        names, places = coded(np.array([[5, 3], [5, 8]]), {3: "b", 8: "b", 5: "a", 9: "c"})

        assert (names, places.tolist()) == (("a", "b"), [[0, 1], [0, 1]])

    @pytest.mark.parametrize("names", [{}, {3: "b"}])
    def test_without_keys_no_name_occurs(self, names):
        assert coded(np.zeros(0, dtype=np.int64), names)[0] == ()

    @pytest.mark.parametrize("key", [0, 4, 99])
    def test_refuses_a_key_without_a_name(self, key):
        with pytest.raises(KeyError):
            coded(np.array([3, key]), {3: "b", 5: "a"})


def figures(text):
    return dict(zip(FEATURES, features(text), strict=True))


@pytest.mark.parametrize(
    ("text", "length", "sentences", "question_marks"), TEXTS.values(), ids=TEXTS
)
def test_style_counts_characters_sentences_and_questions(text, length, sentences, question_marks):
    found = figures(text)

    assert length is None or found["length"] == length
    assert found["sentences"] == sentences
    assert found["question_marks"] == question_marks


@pytest.mark.parametrize(("text", "items"), LISTS.values(), ids=LISTS)
def test_style_counts_the_items_of_lists(text, items):
    assert figures(text)["list_items"] == items


def test_every_figure_of_style_is_a_finite_count():
    for text in ("", "\x00\x07", "\ud83d", "e\u0301" * 50, "?" * 50):
        assert all(value >= 0 and math.isfinite(value) for value in features(text))
