"""Systems made from people: what their ratings rest on, how they are stored, what is refused."""

import dataclasses
import math

import pytest

from completions.choices import SystemKind
from completions.models import Completion, System
from ranking.choices import ContextSet, EvaluatorPool, FitState, PeopleKind
from ranking.fits import people
from ranking.fits.estimate import estimate_ratings
from ranking.fits.services.claiming import method_of
from ranking.judgments import frames
from ranking.models import HumanRating
from tests.helpers.factories import (
    HOUR,
    make_comparison,
    make_completion,
    make_context,
    make_judge,
    make_judgment,
    make_llm_judgment,
    make_system,
    make_writer,
)
from tests.helpers.judged import (
    fit_one,
    make_judged_study,
    make_study_of_people,
    make_system_of_one,
)
from tests.helpers.observed import counted_reads

pytestmark = pytest.mark.django_db

AVERAGE, MEAN, RANDOM, FITTED, PLAIN = (
    PeopleKind.AVERAGE,
    PeopleKind.MEAN_TEXT,
    PeopleKind.RANDOM_TEXT,
    PeopleKind.BEST_CROSS_FITTED,
    PeopleKind.BEST_PLAIN,
)


def read(study, now, pool=EvaluatorPool.HUMAN):
    return frames.read_judgments(frames.Selection(study, pool, ContextSet.ALL, now))


def fitted(study, now, pool=EvaluatorPool.HUMAN):
    fit = fit_one(study, now, pool)
    assert fit.state == FitState.DONE
    return fit


def rated(study, now, pool=EvaluatorPool.HUMAN):
    return {one.kind: one for one in fitted(study, now, pool).human_ratings.all()}


def refused(study, now, pool=EvaluatorPool.HUMAN):
    return fitted(study, now, pool).diagnostics["people_refused"]


def elo_of(share):
    """How far above a rival that share of its judgments puts a text, by the closed form."""
    return 400.0 * math.log10(share / (1.0 - share))


def compare(study, text, rival, verdict=1, **fields):
    first, second = sorted((text, rival), key=lambda one: one.pk)
    comparison = make_comparison(study=study, first=first, second=second)
    sign = 1 if first == text else -1
    return make_judgment(comparison=comparison, verdict=sign * verdict, **fields)


class TestReadJudgments:
    def test_has_each_text_of_people_with_whom_it_met_and_who_judged(self, now):
        study = make_study_of_people(n_contexts=2, n_raters=2)

        texts = read(study, now).texts

        written = Completion.objects.filter(system__kind=SystemKind.HUMAN)
        assert {group.text for group in texts} == {text.pk for text in written}
        assert sum(group.n for group in texts) == 2 * 2 * 2 * 2
        assert {group.evaluator for group in texts} == {one.code for one in study.raters.all()}
        models = System.objects.filter(kind=SystemKind.MODEL)
        assert {group.opponent for group in texts} == {one.slug for one in models}

    def test_turns_every_answer_to_the_side_of_the_text(self, now):
        study = make_study_of_people(lambda *_: 2, n_contexts=2, n_raters=1)
        text = Completion.objects.filter(system__kind=SystemKind.HUMAN)[0]
        rival = make_completion(context=text.context)
        later = make_completion(
            context=text.context, system=text.system, writer=make_writer(dataset=study.dataset)
        )
        compare(study, later, rival, verdict=2)  # here the system's text has the lower key

        assert {group.verdict for group in read(study, now).texts} == {2}

    def test_leaves_out_pairs_of_people(self, now):
        one, other = make_system_of_one(), make_system_of_one()
        study = make_study_of_people(of_people=[one, other], n_contexts=2)
        before = read(study, now).texts
        first, second = Completion.objects.filter(system__in=[one, other]).order_by("pk")[:2]
        make_judgment(comparison=make_comparison(study=study, first=first, second=second))

        assert read(study, now).texts == before

    def test_asks_for_texts_only_where_people_wrote_any(self, now):
        study = make_judged_study()
        selection = frames.Selection(study, EvaluatorPool.HUMAN, ContextSet.ALL, now)

        with counted_reads() as of_all:
            assert frames.read_judgments(selection).texts is None
        with counted_reads() as of_groups:
            frames.read_groups(selection)

        assert (of_all.n, of_groups.n) == (9, 8)

    def test_reads_more_texts_with_no_more_queries(self, now):
        study = make_study_of_people()

        with counted_reads() as reads:
            read(study, now)

        assert reads.n == 11

    def test_the_hash_tells_who_judged_which_text(self, now):
        study = make_study_of_people(n_contexts=2)
        before = read(study, now)
        texts = tuple(group._replace(evaluator="R00000") for group in before.texts)

        changed = dataclasses.replace(before, texts=texts)

        assert changed.inputs_hash() != before.inputs_hash() == read(study, now).inputs_hash()


class TestRatePeople:
    def test_stores_all_of_them_with_the_fit(self, now):
        found = rated(make_study_of_people(), now)

        assert set(found) == set(PeopleKind)
        for rating in found.values():
            assert rating.elo_low <= rating.elo <= rating.elo_high
            assert rating.elo_se > 0
        assert found[AVERAGE].n_judgments == 4 * 2 * 2 * 4
        assert found[PLAIN].n_judgments == found[AVERAGE].n_judgments / 2
        assert {found[kind].n_contexts for kind in found} == {4}

    def test_the_average_of_one_system_is_that_system_with_its_interval(self, now):
        study = make_study_of_people()
        fit = fitted(study, now)

        average, row = (
            fit.human_ratings.get(kind=AVERAGE),
            fit.ratings.get(system__kind=SystemKind.HUMAN),
        )

        for column in ("elo", "elo_se", "elo_low", "elo_high"):
            assert getattr(average, column) == pytest.approx(getattr(row, column), abs=1e-4)

    def test_the_average_of_several_lies_between_them(self, now):
        systems = [make_system_of_one(), make_system_of_one()]
        fit = fitted(make_study_of_people(of_people=systems), now)

        worse, better = sorted(fit.ratings.filter(system__in=systems).values_list("elo", flat=True))

        assert worse < fit.human_ratings.get(kind=AVERAGE).elo < better

    def test_finds_the_better_text_both_ways(self, now):
        found = rated(make_study_of_people(), now)

        assert found[FITTED].elo > found[AVERAGE].elo + 20
        assert found[PLAIN].elo > found[AVERAGE].elo + 20

    def test_what_raters_disagree_about_does_not_carry_over(self, now):
        """Each rater prefers one text, half of them the other one."""
        found = rated(make_study_of_people(lambda r, _c, t: 2 if r % 2 == t else -2), now)

        assert found[FITTED].elo < found[PLAIN].elo + 1e-6

    def test_comes_out_the_same_again(self, now):
        study = make_study_of_people()
        judgments, method = read(study, now), method_of(study)
        estimate = estimate_ratings(judgments, method)

        ratings = [people.rate_people(judgments, estimate, method) for _ in range(2)]

        assert ratings[0] == ratings[1]

    def test_says_what_there_was_to_choose_from(self, now):
        detail = rated(make_study_of_people(n_contexts=3, n_texts=3), now)[FITTED].detail

        assert detail == {
            "texts": 9,
            "contexts": 3,
            "evaluators": 4,
            "opponents_per_text": 2.0,
            "contexts_left_out": 0.0,
            "replicates_without_maximum": 0,
            "splits": 20,
        }

    def test_a_context_with_one_text_has_no_say_in_the_best(self, now):
        study = make_study_of_people()
        text, rival = study.comparisons.filter(first__system__kind=SystemKind.HUMAN)[0].pair
        context = make_context(dialogue=text.context.dialogue)
        text = make_completion(
            context=context, system=text.system, writer=make_writer(dataset=study.dataset)
        )
        compare(study, text, make_completion(context=context, system=rival.system))

        found = rated(study, now)

        assert [found[kind].n_contexts for kind in (AVERAGE, FITTED, PLAIN)] == [5, 4, 4]

    def test_judges_count_as_evaluators(self, now):
        study = make_study_of_people(n_raters=1)
        judges = [make_judge(), make_judge()]
        for comparison in study.comparisons.all():
            for judge in judges:
                make_llm_judgment(comparison=comparison, judge=judge, verdict=2)

        assert rated(study, now, EvaluatorPool.COMBINED)[FITTED].detail["evaluators"] == 3
        assert rated(study, now + HOUR, EvaluatorPool.LLM)[FITTED].detail["evaluators"] == 2

    def test_nothing_is_stored_where_nobody_wrote(self, now):
        fit = fitted(make_judged_study(), now)

        assert not HumanRating.objects.exists()
        assert fit.diagnostics["people_refused"] == {}


class TestTheMeanText:
    def test_is_the_average_where_all_texts_were_judged_as_often(self, now):
        found = rated(make_study_of_people(), now)

        for column in ("elo", "elo_se", "elo_low", "elo_high", "n_judgments"):
            expected = pytest.approx(getattr(found[AVERAGE], column))
            assert getattr(found[MEAN], column) == expected

    def test_counts_a_text_once_however_often_it_was_judged(self, now):
        """Of two texts, one was judged three times, the other once: 0.85 and 0.35 against one."""
        rival = make_system()
        study = make_study_of_people(lambda _r, _c, t: 2 - 3 * t, n_raters=1, models=[rival])
        for comparison in study.comparisons.filter(judgments__verdict__in=[2, -2]):
            verdict = comparison.judgments.get().verdict
            for _ in range(2):
                make_judgment(comparison=comparison, verdict=verdict)

        fit = fitted(study, now)

        scale = fit.ratings.get(system=rival).elo
        of_mean, of_all = (fit.human_ratings.get(kind=kind).elo - scale for kind in (MEAN, AVERAGE))
        assert of_mean == pytest.approx(elo_of((0.85 + 0.35) / 2))
        assert of_all == pytest.approx(elo_of((3 * 0.85 + 0.35) / 4))


class TestARandomText:
    def test_is_the_average_where_every_text_is_as_good(self, now):
        found = rated(make_study_of_people(lambda _r, _c, _t: 1, n_raters=2), now)

        assert found[RANDOM].elo == pytest.approx(found[AVERAGE].elo)
        assert found[RANDOM].n_judgments == found[AVERAGE].n_judgments / 2

    def test_its_interval_holds_the_draw(self, now):
        """All contexts are alike, so that resamples of them alone say nothing."""
        models = [make_system()]
        found = rated(make_study_of_people(lambda _r, _c, t: 2 - 4 * t, models=models), now)

        assert found[MEAN].elo_se == pytest.approx(0.0, abs=1e-6)
        assert found[RANDOM].elo_se > 20
        assert found[RANDOM].elo_low < found[MEAN].elo < found[RANDOM].elo_high

    def test_a_single_text_in_each_context_leaves_nothing_to_draw(self, now):
        found = rated(make_study_of_people(n_texts=1), now)

        assert found[RANDOM].elo == pytest.approx(found[AVERAGE].elo)
        assert found[RANDOM].elo_se == pytest.approx(found[AVERAGE].elo_se)

    def test_says_how_often_it_was_drawn(self, now):
        assert rated(make_study_of_people(), now)[RANDOM].detail["splits"] == 20


class TestRefusals:
    def test_one_evaluator_cannot_choose_and_score(self, now):
        study = make_study_of_people(n_raters=1)

        assert "One evaluator" in refused(study, now)[FITTED]
        assert set(rated(study, now)) == {AVERAGE, MEAN, RANDOM, PLAIN}

    def test_one_text_in_each_context_is_no_choice(self, now):
        study = make_study_of_people(n_texts=1)

        assert set(rated(study, now)) == {AVERAGE, MEAN, RANDOM}
        assert all("No context" in reason for reason in refused(study, now).values())

    def test_halves_that_judged_different_contexts_cannot_check_each_other(self, now):
        study = make_study_of_people(n_raters=2)
        judgments = read(study, now)
        code = study.raters.order_by("pk")[0].code
        theirs = {group.context for group in judgments.texts[: len(judgments.texts) // 2]}
        kept = tuple(
            group
            for group in judgments.texts
            if (group.evaluator == code) == (group.context in theirs)
        )
        method = method_of(study)
        estimate = estimate_ratings(judgments, method)

        found = people.rate_people(dataclasses.replace(judgments, texts=kept), estimate, method)

        assert [kind for kind, _ in found.refusals] == [FITTED]  # type: ignore[comparison-overlap]

    def test_texts_that_met_only_each_other_are_not_rated(self, now):
        study = make_judged_study(systems=[make_system_of_one(), make_system_of_one()])

        assert rated(study, now) == {}
        assert set(refused(study, now)) == set(PeopleKind)
