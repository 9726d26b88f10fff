"""What is kept of raters: figures of the full computation, under the decisions that hold now."""

import datetime as dt
from dataclasses import replace

import pytest
from django.utils import timezone

from annotation.choices import RaterState
from annotation.quality import services as annotation_services
from ranking import tasks
from ranking.models import Measurement, RaterFigures
from ranking.raters import queries, services
from tests.helpers.factories import HOUR, make_rater, make_study
from tests.helpers.factories_written_once import make_user
from tests.helpers.released import LATER, answer, make_pairs, make_reviewed_study

pytestmark = pytest.mark.django_db

LATEST = LATER + 2 * HOUR


@pytest.fixture
def _large(monkeypatch):
    """Take every study for one that pages do not measure themselves."""
    monkeypatch.setattr(queries, "MOST_LIVE", 0)


def shown(study, *, now=LATER):
    return queries.shown_raters(study, now=now)


@pytest.mark.usefixtures("_large")
class TestWhatIsKept:
    def test_is_what_the_full_computation_finds(self):
        study, _careless = make_reviewed_study()
        make_pairs(study)

        services.measure_raters(study=study, now=LATER)

        computed = queries.measure(study, as_of=LATER)
        assert shown(study) == replace(computed, is_live=False)
        assert any(row.findings for row in computed.rows)
        assert computed.median_seconds is not None

    def test_is_replaced_by_the_next_measurement(self):
        study, careless = make_reviewed_study()
        services.measure_raters(study=study, now=LATER)
        answer(make_pairs(study, n_contexts=1)[0], careless, 1, issued_at=LATER)

        services.measure_raters(study=study, now=LATEST)

        computed = queries.measure(study, as_of=LATEST)
        assert shown(study, now=LATEST) == replace(computed, is_live=False)
        assert Measurement.objects.count() == 1

    def test_is_not_replaced_by_an_earlier_one_that_took_longer(self):
        study, _careless = make_reviewed_study()
        services.measure_raters(study=study, now=LATEST)

        services.measure_raters(study=study, now=LATER)

        assert shown(study).as_of == LATEST

    def test_stands_under_the_decisions_of_now(self):
        study, careless = make_reviewed_study()
        services.measure_raters(study=study, now=LATER)
        person = make_user()

        def standing():
            return next(r.status for r in shown(study, now=LATEST).rows if r.code == careless.code)

        assert standing() == "going"
        annotation_services.exclude_rater(rater=careless, reason="?", by=person, now=LATER + HOUR)
        assert standing() == "out"
        annotation_services.reinstate_rater(rater=careless, reason="!", by=person, now=LATEST)
        assert standing() == "in"
        computed = queries.measure(study, as_of=LATEST)
        assert shown(study, now=LATEST).rows == computed.rows

    def test_says_how_many_came_since(self):
        study, _careless = make_reviewed_study()
        services.measure_raters(study=study, now=LATER)
        pair = make_pairs(study, n_contexts=1)[0]
        answer(pair, make_rater(study=study), 1, issued_at=LATER)

        found = shown(study, now=LATEST)

        assert (len(found.rows), found.n_new) == (4, 1)

    def test_is_nothing_before_anybody_measured(self):
        study, _careless = make_reviewed_study()

        found = shown(study)

        assert (found.rows, found.as_of, found.is_live) == ((), None, False)

    def test_hides_who_withdrew_with_their_answers(self):
        study, careless = make_reviewed_study()
        services.measure_raters(study=study, now=LATER)
        type(careless).objects.filter(pk=careless.pk).update(
            state=RaterState.WITHDRAWN, data_kept=False, ended_at=LATER
        )

        assert careless.code not in {row.code for row in shown(study).rows}
        services.studies_to_measure()
        assert not RaterFigures.objects.filter(rater=careless).exists()

    def test_is_read_in_few_queries(self, django_assert_max_num_queries):
        study, _careless = make_reviewed_study()
        services.measure_raters(study=study, now=LATER)

        with django_assert_max_num_queries(4):
            shown(study)


class TestWhoIsMeasured:
    def test_a_small_study_is_measured_by_the_page(self):
        study, _careless = make_reviewed_study()

        assert shown(study) == queries.measure(study, as_of=LATER)

    def test_a_review_keeps_what_it_measured(self):
        study, _careless = make_reviewed_study()

        services.review_raters(study=study, dry_run=True, now=LATER)
        assert not Measurement.objects.exists()
        services.review_raters(study=study, dry_run=False, now=LATER)
        assert Measurement.objects.get().n_answers == 60

    def test_a_tick_hands_on_studies_that_nobody_measured(self, monkeypatch):
        study, _careless = make_reviewed_study()
        make_study()
        handed: list[int] = []
        monkeypatch.setattr(timezone, "now", lambda: LATER + dt.timedelta(days=9))
        monkeypatch.setattr(
            tasks.measure_raters, "delay", lambda *, study_id: handed.append(study_id)
        )

        tasks.review_judged_studies()
        tasks.measure_raters(study_id=study.pk)
        tasks.measure_raters(study_id=study.pk)
        tasks.review_judged_studies()

        assert handed == [study.pk]
        assert RaterFigures.objects.count() == 4
