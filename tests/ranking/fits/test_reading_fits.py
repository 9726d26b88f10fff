"""What is read of fits: the judgments of one, once for all its analyses; ratings over time."""

import threading

import numpy as np
import pytest
from django.test import override_settings

from annotation.models import Study
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState
from ranking.fits.analysis_queries import Band, history
from ranking.fits.queries import Results
from ranking.fits.services import inputs
from ranking.fits.services.inputs import JudgmentsChangedError, inputs_of
from ranking.judgments.frames.columns import read_columns_and_dimensions, read_style
from ranking.models import Fit
from tests.helpers.factories import HOUR, NOW, make_judgment, make_study, make_system
from tests.helpers.factories_written_once import make_fit, make_rating
from tests.helpers.judged import fit_one, make_judged_study

pytestmark = pytest.mark.django_db

START = NOW + HOUR
PAIRS, STYLE = AnalysisKind.PAIRS, AnalysisKind.STYLE
DONE = {"state": FitState.DONE, "ended_at": NOW}


@pytest.fixture(scope="module")
def kept(module_rows):
    """A study with the two fits that the tests ask for."""
    with override_settings(HEART_BOOTSTRAP_REPLICATES=40):
        study = make_judged_study(n_dialogues=3, with_llm=True)
        for pool in (EvaluatorPool.COMBINED, EvaluatorPool.HUMAN):
            fit_one(study, START, pool)
    return study.pk


@pytest.fixture
def study(kept):
    return Study.objects.get(pk=kept)


def fit_of(study, pool=EvaluatorPool.COMBINED):
    return Fit.objects.get(study=study, pool=pool, context_set=ContextSet.ALL)


def same(one, other):
    return all(np.array_equal(vars(one)[name], vars(other)[name]) for name in vars(one))


def test_the_second_analysis_asks_only_whether_the_judgments_are_the_same(
    study, django_assert_num_queries
):
    fit = fit_of(study)
    first = inputs_of(fit, PAIRS)

    with django_assert_num_queries(1):
        second = inputs_of(fit, AnalysisKind.CHECKS)

    assert second.columns is first.columns
    assert second.dimensions is first.dimensions
    with pytest.raises(ValueError, match="read-only"):
        second.columns.strength[0] = 5


def test_what_was_kept_is_what_would_be_read(study):
    inputs_of(fit_of(study), STYLE)
    kept = inputs_of(fit_of(study), STYLE)
    inputs._shelf.put(None)

    read = inputs_of(fit_of(study), STYLE)

    assert kept.columns is not read.columns
    assert same(kept.columns, read.columns)


def judge_late(study):
    make_judgment(comparison=study.comparisons.first(), submitted_at=START)


def claim_another_hash(study):
    Fit.objects.filter(study=study).update(inputs_hash="0" * 64)


@pytest.mark.parametrize("change", [judge_late, claim_another_hash])
def test_other_judgments_than_those_of_the_fit_are_noticed_though_some_are_kept(study, change):
    inputs_of(fit_of(study), PAIRS)

    change(study)

    with pytest.raises(JudgmentsChangedError):
        inputs_of(fit_of(study), PAIRS)


def test_one_that_comes_while_the_others_are_read_is_noticed(study, monkeypatch):
    read = read_columns_and_dimensions

    def slowly(selection):
        judge_late(study)
        return read(selection)

    monkeypatch.setattr(inputs, "read_columns_and_dimensions", slowly)

    with pytest.raises(JudgmentsChangedError):
        inputs_of(fit_of(study), PAIRS)


def test_another_fit_takes_the_place_of_the_one_before(study):
    both, people = fit_of(study), fit_of(study, EvaluatorPool.HUMAN)
    inputs_of(both, PAIRS)

    found = inputs_of(people, PAIRS)

    assert found.columns.n_judgments == people.n_judgments < both.n_judgments
    assert inputs._shelf.take(both) is None


def test_style_is_measured_once_and_for_those_that_ask_for_it(study, monkeypatch):
    measured, read = [], read_style

    def noted(selection):
        measured.append(selection)
        return read(selection)

    monkeypatch.setattr(inputs, "read_style", noted)
    fit = fit_of(study)

    styled = [inputs_of(fit, kind).columns for kind in (STYLE, AnalysisKind.JUDGE)]
    plain = inputs_of(fit, PAIRS).columns

    assert len(measured) == 1
    assert all(columns.features is not None for columns in styled)
    assert (plain.features, plain.feature_names) == (None, ())


def test_nothing_is_kept_for_long(study, monkeypatch):
    monkeypatch.setattr(inputs, "KEPT_SECONDS", 0.0)
    fit = fit_of(study)
    inputs_of(fit, PAIRS)

    for timer in threading.enumerate():
        if isinstance(timer, threading.Timer):
            timer.join(10)

    assert inputs._shelf.take(fit) is None


class TestHistory:
    @pytest.fixture
    def study(self):
        return make_study()

    @pytest.fixture
    def rated(self, study):
        """Store a fit of two systems, so many hours after the first."""
        ada, bo = make_system(name="Ada", slug="ada"), make_system(name="Bo", slug="bo")

        def store(hours, **fields):
            fit = make_fit(study=study, as_of=NOW + hours * HOUR, **DONE | fields)
            for system, elo in ((bo, 1500.0 - hours), (ada, 1500.0 + hours)):
                make_rating(fit=fit, system=system, elo=elo, elo_low=elo - 10, elo_high=elo + 20)
            return fit

        return store

    def points(self, study, **options):
        results = Results(study, is_team=True)
        return history(results, EvaluatorPool.HUMAN, ContextSet.ALL, **options)

    def hours(self, study, **options):
        return [(one.as_of - NOW) / HOUR for one in self.points(study, **options)]

    def test_each_fit_is_a_point_with_every_system_the_oldest_first(self, study, rated):
        later, earlier = rated(2, n_judgments=20), rated(1)

        first, second = self.points(study)

        assert (first.key, second.key) == (earlier.key, later.key)
        assert (second.as_of, second.n_judgments) == (NOW + 2 * HOUR, 20)
        assert second.code_version == "numerics-1"
        assert second.systems == {"ada": Band(1502, 1492, 1522), "bo": Band(1498, 1488, 1518)}

    def test_other_selections_studies_and_refused_fits_are_no_part_of_it(self, study, rated):
        rated(1, pool=EvaluatorPool.LLM)
        rated(2, context_set=ContextSet.REGULAR)
        make_fit(study=study, state=FitState.REFUSED, ended_at=NOW, refusal="One dialogue.")
        make_rating(fit=make_fit(**DONE))

        assert self.points(study) == ()

    @pytest.mark.parametrize(
        ("minimum", "hours"),
        [
            ({}, [1, 2, 3]),
            ({"judgments": 20}, [2, 3]),
            ({"dialogues": 9}, [3]),
            ({"raters": 5}, [2, 3]),  # an LLM judge stands in for people in the second
            ({"judgments": 20, "dialogues": 10, "raters": 5}, []),
        ],
    )
    def test_fits_below_the_minimum_of_the_study_are_no_points(self, study, rated, minimum, hours):
        rated(1, n_judgments=19, n_units=8, diagnostics={"n_raters": 4, "judges": []})
        rated(2, n_judgments=20, n_units=8, diagnostics={"n_raters": 4, "judges": ["J"]})
        rated(3, n_judgments=20, n_units=9, diagnostics={"n_raters": 5, "judges": []})
        study.content = study.content | {"results": minimum}

        assert self.hours(study) == hours

    @pytest.mark.parametrize(
        ("n", "hours"),
        [(5, [1, 2, 3, 4, 5]), (6, [2, 4, 6]), (10, [2, 4, 6, 8, 10]), (11, [2, 5, 8, 11])],
    )
    def test_more_fits_than_wanted_are_thinned_and_the_newest_stays(self, study, rated, n, hours):
        for hour in range(1, n + 1):
            rated(hour)

        assert self.hours(study, most=5) == hours

    def test_two_fits_of_one_time_are_two_points(self, study, rated):
        first, second = rated(1), rated(1)

        assert [point.key for point in self.points(study)] == [first.key, second.key]

    @pytest.mark.parametrize("n", [2, 8])
    def test_takes_two_queries_however_many_fits(self, study, rated, django_assert_num_queries, n):
        for hour in range(n):
            rated(hour)

        with django_assert_num_queries(2):
            self.points(study, most=3)
