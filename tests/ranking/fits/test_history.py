"""How the ratings of each system moved, from fits that are stored."""

import datetime as dt

import pytest

from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits.analysis_queries import Band, history
from ranking.fits.queries import Results
from tests.helpers.factories import NOW, make_study, make_system
from tests.helpers.factories_written_once import make_fit, make_rating

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)
DONE = {"state": FitState.DONE, "ended_at": NOW}


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def rated(study):
    """Store a fit of two systems, so many hours after the first."""
    ada, bo = make_system(name="Ada", slug="ada"), make_system(name="Bo", slug="bo")

    def store(hours, **fields):
        fit = make_fit(study=study, as_of=NOW + hours * HOUR, **DONE | fields)
        for system, elo in ((bo, 1500.0 - hours), (ada, 1500.0 + hours)):
            make_rating(fit=fit, system=system, elo=elo, elo_low=elo - 10, elo_high=elo + 20)
        return fit

    return store


def points(study, **options):
    results = Results(study, is_team=True)
    return history(results, EvaluatorPool.HUMAN, ContextSet.ALL, **options)


def test_each_fit_is_a_point_with_every_system_the_oldest_first(study, rated):
    later, earlier = rated(2, n_judgments=20), rated(1)

    first, second = points(study)

    assert (first.key, second.key) == (earlier.key, later.key)
    assert (second.as_of, second.n_judgments) == (NOW + 2 * HOUR, 20)
    assert second.code_version == "numerics-1"
    assert second.systems == {"ada": Band(1502, 1492, 1522), "bo": Band(1498, 1488, 1518)}


def test_other_selections_studies_and_refused_fits_are_no_part_of_it(study, rated):
    rated(1, pool=EvaluatorPool.LLM)
    rated(2, context_set=ContextSet.REGULAR)
    make_fit(study=study, state=FitState.REFUSED, ended_at=NOW, refusal="One dialogue.")
    make_rating(fit=make_fit(**DONE))

    assert points(study) == ()


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
def test_fits_below_the_minimum_of_the_study_are_no_points(study, rated, minimum, hours):
    rated(1, n_judgments=19, n_units=8, diagnostics={"n_raters": 4, "judges": []})
    rated(2, n_judgments=20, n_units=8, diagnostics={"n_raters": 4, "judges": ["J"]})
    rated(3, n_judgments=20, n_units=9, diagnostics={"n_raters": 5, "judges": []})
    study.content = study.content | {"results": minimum}

    assert [point.as_of for point in points(study)] == [NOW + hour * HOUR for hour in hours]


@pytest.mark.parametrize(
    ("n", "hours"),
    [(5, [1, 2, 3, 4, 5]), (6, [2, 4, 6]), (10, [2, 4, 6, 8, 10]), (11, [2, 5, 8, 11])],
)
def test_more_fits_than_wanted_are_thinned_and_the_newest_stays(study, rated, n, hours):
    for hour in range(1, n + 1):
        rated(hour)

    shown = [point.as_of for point in points(study, most=5)]

    assert shown == [NOW + hour * HOUR for hour in hours]


def test_two_fits_of_one_time_are_two_points(study, rated):
    first, second = rated(1), rated(1)

    assert [point.key for point in points(study)] == [first.key, second.key]


@pytest.mark.parametrize("n", [2, 8])
def test_takes_two_queries_however_many_fits(study, rated, django_assert_num_queries, n):
    for hour in range(n):
        rated(hour)

    with django_assert_num_queries(2):
        points(study, most=3)
