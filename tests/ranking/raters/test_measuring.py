"""What is kept of raters: figures of the full computation, under the decisions that hold now."""

from dataclasses import replace

import pytest

from annotation.choices import RaterState
from annotation.quality.services import excluding
from ranking.models import Measurement, RaterFigures
from ranking.raters import queries, services
from tests.helpers.factories import HOUR, make_rater
from tests.helpers.factories_written_once import make_user
from tests.helpers.released import LATER, answer, make_pairs

pytestmark = pytest.mark.django_db

LATEST = LATER + 2 * HOUR


@pytest.fixture
def _large(monkeypatch):
    """Take every study for one that pages do not measure themselves."""
    monkeypatch.setattr(queries, "MOST_LIVE", 0)


@pytest.fixture
def measured(_large, study):
    services.measure_raters(study=study, now=LATER)
    return study


def shown(study, *, now=LATER):
    return queries.shown_raters(study, now=now)


class TestWhatIsKept:
    def test_is_what_the_full_computation_finds_read_in_few_queries(
        self, measured, django_assert_max_num_queries
    ):
        computed = queries.measure(measured, as_of=LATER)

        with django_assert_max_num_queries(4):
            assert shown(measured) == replace(computed, is_live=False)
        assert any(row.findings for row in computed.rows)
        assert computed.median_seconds is not None

    def test_is_replaced_by_the_next_measurement(self, measured, careless):
        answer(make_pairs(measured, n_contexts=1)[0], careless, 1, issued_at=LATER)

        services.measure_raters(study=measured, now=LATEST)

        computed = queries.measure(measured, as_of=LATEST)
        assert shown(measured, now=LATEST) == replace(computed, is_live=False)
        assert Measurement.objects.count() == 1

    @pytest.mark.usefixtures("_large")
    def test_is_not_replaced_by_an_earlier_one_that_took_longer(self, study):
        services.measure_raters(study=study, now=LATEST)

        services.measure_raters(study=study, now=LATER)

        assert shown(study).as_of == LATEST

    def test_stands_under_the_decisions_of_now(self, measured, careless):
        person = make_user()

        def standing():
            rows = {row.code: row for row in shown(measured, now=LATEST).rows}
            return rows[careless.code].status

        assert standing() == "going"
        excluding.exclude_rater(rater=careless, reason="?", by=person, now=LATER + HOUR)
        assert standing() == "out"
        excluding.reinstate_rater(rater=careless, reason="!", by=person, now=LATEST)
        assert standing() == "in"
        computed = queries.measure(measured, as_of=LATEST)
        assert shown(measured, now=LATEST).rows == computed.rows

    def test_says_how_many_came_since(self, measured):
        pair = make_pairs(measured, n_contexts=1)[0]
        answer(pair, make_rater(study=measured), 1, issued_at=LATER)

        found = shown(measured, now=LATEST)

        assert (len(found.rows), found.n_new) == (4, 1)

    @pytest.mark.usefixtures("_large")
    def test_is_nothing_before_anybody_measured(self, study):
        found = shown(study)

        assert (found.rows, found.as_of, found.is_live) == ((), None, False)

    def test_hides_who_withdrew_with_their_answers(self, measured, careless):
        type(careless).objects.filter(pk=careless.pk).update(
            state=RaterState.WITHDRAWN, data_kept=False, ended_at=LATER
        )

        assert careless.code not in {row.code for row in shown(measured).rows}
        services.studies_to_measure()
        assert not RaterFigures.objects.filter(rater=careless).exists()


def test_a_small_study_is_measured_by_the_page(study):
    assert shown(study) == queries.measure(study, as_of=LATER)


def test_a_review_for_good_keeps_what_it_measured(study):
    services.review_raters(study=study, dry_run=True, now=LATER)
    assert not Measurement.objects.exists()
    services.review_raters(study=study, dry_run=False, now=LATER)
    assert Measurement.objects.get().n_answers == 60
