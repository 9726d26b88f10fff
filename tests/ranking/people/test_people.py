"""Systems made from people: what their ratings rest on, how they are stored, what is refused."""

import dataclasses
import math

import pytest

from annotation.models import Study
from completions.choices import SystemKind
from completions.models import Completion, System
from ranking.choices import ContextSet, EvaluatorPool, FitState, PeopleKind
from ranking.fits.estimate import estimate_ratings
from ranking.fits.people import rate_people
from ranking.fits.services.claiming import method_of
from ranking.judgments.analysis_set import Selection
from ranking.judgments.frames.columns import read_judgments
from ranking.models import Fit, HumanRating
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_judge,
    make_judgment,
    make_llm_judgment,
    make_system,
    make_writer,
)
from tests.helpers.factories_of_people import human_system
from tests.helpers.judged import (
    fit_one,
    make_judged_study,
    make_study_of_people,
    make_system_of_one,
)
from tests.helpers.observed import counted_reads

pytestmark = pytest.mark.django_db

AT = NOW + HOUR
AVERAGE, MEAN, RANDOM = PeopleKind.AVERAGE, PeopleKind.MEAN_TEXT, PeopleKind.RANDOM_TEXT
FITTED, PLAIN = PeopleKind.BEST_CROSS_FITTED, PeopleKind.BEST_PLAIN


@pytest.fixture(scope="module")
def keys(module_rows):
    """Keys of a study of four raters, and of the fit of all its judgments."""
    study = make_study_of_people()
    return study.pk, fitted(study, AT).pk


@pytest.fixture
def study(keys):
    return Study.objects.get(pk=keys[0])


@pytest.fixture
def fit(keys):
    return Fit.objects.get(pk=keys[1])


@pytest.fixture
def found(fit):
    """Ratings of the usual study, by their kinds."""
    return by_kind(fit)


def read(study, now, pool=EvaluatorPool.HUMAN):
    return read_judgments(Selection(study, pool, ContextSet.ALL, now))


def fitted(study, now, pool=EvaluatorPool.HUMAN):
    fit = fit_one(study, now, pool)
    assert fit.state == FitState.DONE
    return fit


def rated(study, now, pool=EvaluatorPool.HUMAN):
    return by_kind(fitted(study, now, pool))


def by_kind(fit):
    return {one.kind: one for one in fit.human_ratings.all()}


def elo_of(share):
    """How far above a rival that share of its judgments puts a text, by the closed form."""
    return 400.0 * math.log10(share / (1.0 - share))


def compare(study, text, rival, verdict=1, **fields):
    first, second = sorted((text, rival), key=lambda one: one.pk)
    comparison = make_comparison(study=study, first=first, second=second)
    sign = 1 if first == text else -1
    return make_judgment(comparison=comparison, verdict=sign * verdict, **fields)


class TestReadJudgments:
    def test_has_each_text_of_people_with_whom_it_met_and_who_judged(self, now, study):
        texts = read(study, now).texts

        written = Completion.objects.filter(system__kind=SystemKind.HUMAN)
        assert {group.text for group in texts} == {text.pk for text in written}
        assert sum(group.n for group in texts) == 4 * 2 * 2 * 4
        assert {group.evaluator for group in texts} == {one.code for one in study.raters.all()}
        models = System.objects.filter(kind=SystemKind.MODEL)
        assert {group.opponent for group in texts} == {one.slug for one in models}

    def test_turns_every_answer_to_the_side_of_the_text(self, now):
        study = make_study_of_people(lambda *_: 2, n_contexts=2, n_raters=1)
        text = Completion.objects.filter(system__kind=SystemKind.HUMAN).latest("pk")
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

    def test_asks_for_texts_only_where_people_wrote_any(self, now, study):
        of_models = make_judged_study()
        selection = Selection(of_models, EvaluatorPool.HUMAN, ContextSet.ALL, now)

        with counted_reads() as of_all:
            assert read_judgments(selection).texts is None
        with counted_reads() as of_texts:
            read(study, now)

        assert (of_all.n, of_texts.n) == (8, 10)

    def test_the_hash_tells_who_judged_which_text(self, now, study):
        before = read(study, now)
        texts = tuple(group._replace(evaluator="R00000") for group in before.texts)

        changed = dataclasses.replace(before, texts=texts)

        assert changed.inputs_hash() != before.inputs_hash() == read(study, now).inputs_hash()


class TestRatePeople:
    def test_stores_all_of_them_with_the_fit_and_what_there_was_to_choose_from(self, found):
        assert set(found) == set(PeopleKind)
        for rating in found.values():
            assert rating.elo_low <= rating.elo <= rating.elo_high
            assert rating.elo_se > 0
        n_judgments = 4 * 2 * 2 * 4
        assert found[AVERAGE].n_judgments == found[MEAN].n_judgments == n_judgments
        assert found[RANDOM].n_judgments == found[PLAIN].n_judgments == n_judgments / 2
        assert {one.n_contexts for one in found.values()} == {4}
        assert found[FITTED].detail == {
            "texts": 8,
            "contexts": 4,
            "evaluators": 4,
            "opponents_per_text": 2.0,
            "contexts_left_out": 0.0,
            "replicates_without_maximum": 0,
            "splits": 20,
        }
        assert found[RANDOM].detail["splits"] == 20

    def test_finds_the_better_text_both_ways_but_not_what_raters_disagree_about(self, now, found):
        """In the other study each rater prefers one text, half of them the other one."""
        disputed = rated(make_study_of_people(lambda r, _c, t: 2 if r % 2 == t else -2), now)

        for kind in (FITTED, PLAIN):
            assert found[kind].elo > found[AVERAGE].elo + 20
        assert disputed[FITTED].elo < disputed[PLAIN].elo + 1e-6

    def test_the_average_of_one_system_is_that_system_with_its_interval(self, fit, found):
        row = fit.ratings.get(system__kind=SystemKind.HUMAN)

        for column in ("elo", "elo_se", "elo_low", "elo_high"):
            expected = pytest.approx(getattr(row, column), abs=1e-4)
            assert getattr(found[AVERAGE], column) == expected

    def test_few_texts_among_many_dialogues_are_as_unsure_as_a_system_in_few(self, now):
        systems = human_system(), make_system(), make_system()
        study = make_study_of_people(of_people=systems[:1], models=systems[1:], n_texts=1)
        for place in range(12):
            context = make_context(dataset=study.dataset)
            pair = [make_completion(context=context, system=one) for one in systems[1:]]
            one = make_comparison(study=study, first=pair[0], second=pair[1])
            make_judgment(comparison=one, verdict=1 if place % 2 else -1)

        fit = fitted(study, now)

        row, found = fit.ratings.get(system=systems[0]), by_kind(fit)[AVERAGE]
        assert (found.elo_low, found.elo_high) == pytest.approx((row.elo_low, row.elo_high))
        drawn = (found.elo_high - found.elo_low) / found.elo_se
        assert drawn > 2 * 2.5  # four dialogues: t is 3.18; sixteen: 2.13

    def test_texts_of_one_dialogue_have_no_interval(self, study):
        judgments = read(study, AT)
        texts = tuple(
            group for group in judgments.texts if group.dialogue == judgments.dialogues[0]
        )
        estimate = estimate_ratings(judgments, method_of(study))

        found = rate_people(dataclasses.replace(judgments, texts=texts), estimate, method_of(study))

        assert not found.ratings
        assert all("one source dialogue" in reason for _, reason in found.refusals)

    def test_the_average_of_several_lies_between_them(self, now):
        systems = [make_system_of_one(), make_system_of_one()]
        fit = fitted(make_study_of_people(of_people=systems), now)

        worse, better = sorted(fit.ratings.filter(system__in=systems).values_list("elo", flat=True))

        assert worse < fit.human_ratings.get(kind=AVERAGE).elo < better

    def test_comes_out_the_same_again(self, now, study):
        judgments, method = read(study, now), method_of(study)
        estimate = estimate_ratings(judgments, method)

        ratings = [rate_people(judgments, estimate, method) for _ in range(2)]

        assert ratings[0] == ratings[1]

    def test_a_context_with_one_text_has_no_say_in_the_best(self, study):
        text, rival = study.comparisons.filter(first__system__kind=SystemKind.HUMAN)[0].pair
        context = make_context(dialogue=text.context.dialogue)
        text = make_completion(
            context=context, system=text.system, writer=make_writer(dataset=study.dataset)
        )
        compare(study, text, make_completion(context=context, system=rival.system))

        found = rated(study, AT + HOUR)

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

        assert not HumanRating.objects.filter(fit=fit).exists()
        assert fit.diagnostics["people_refused"] == {}


class TestTheMeanText:
    def test_is_the_average_where_all_texts_were_judged_as_often(self, found):
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


class TestRefusals:
    @pytest.mark.parametrize(
        ("fields", "rated_kinds", "reason"),
        [
            ({"n_raters": 1}, {AVERAGE, MEAN, RANDOM, PLAIN}, "One evaluator"),
            ({"n_texts": 1}, {AVERAGE, MEAN, RANDOM}, "No context"),
        ],
        ids=["one evaluator cannot choose and score", "one text a context is no choice"],
    )
    def test_give_their_reason(self, now, fields, rated_kinds, reason):
        fit = fitted(make_study_of_people(**fields), now)

        assert set(by_kind(fit)) == rated_kinds
        refused = fit.diagnostics["people_refused"]
        assert set(refused) == set(PeopleKind) - rated_kinds
        assert all(reason in one for one in refused.values())

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

        found = rate_people(dataclasses.replace(judgments, texts=kept), estimate, method)

        assert [kind for kind, _ in found.refusals] == [FITTED]  # type: ignore[comparison-overlap]

    def test_texts_that_met_only_each_other_are_not_rated(self, now):
        study = make_judged_study(systems=[make_system_of_one(), make_system_of_one()])

        fit = fitted(study, now)

        assert by_kind(fit) == {}
        assert set(fit.diagnostics["people_refused"]) == set(PeopleKind)
