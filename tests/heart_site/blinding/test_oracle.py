"""Results that a rater could read beside the study, and what the audit says of them."""

import pytest

from annotation.models import Judgment, Rater, Study
from heart_site.blinding import oracle
from ranking.choices import EvaluatorPool
from ranking.fits import queries, services
from ranking.models import Fit, Rating
from tests.helpers.factories import HOUR, NOW
from tests.helpers.factories_written_once import make_member, make_release
from tests.helpers.judged import fit_one, make_judged_study
from tests.helpers.rated import close

pytestmark = pytest.mark.django_db
LATER = NOW + 3 * HOUR
ROWS = (Judgment, Rater, Fit, Rating)


@pytest.fixture(scope="module")
def kept(module_rows):
    """Return the key of an open study with ratings by people and by everybody."""
    study = make_judged_study(with_llm=True)
    for pool in (EvaluatorPool.HUMAN, EvaluatorPool.COMBINED):
        fit_one(study, NOW + HOUR, pool)
    make_release(study=study)
    return study.pk


@pytest.fixture
def study(kept):
    return Study.objects.get(pk=kept)


def publish(study, pool=EvaluatorPool.HUMAN):
    fit = study.fits.filter(pool=pool).latest("as_of")
    services.publish_fit(fit=fit, now=LATER, by=make_member())
    return fit


class TestOracles:
    def test_there_is_none_while_results_are_kept_back(self, study):
        assert oracle.oracles(study, now=LATER) == []

    def test_what_is_added_to_see_is_taken_back(self, study):
        counts = [model.objects.count() for model in ROWS]

        oracle.oracles(study, now=LATER)

        assert [model.objects.count() for model in ROWS] == counts

    def test_one_that_is_opened_is_named_by_its_addresses(self, study, monkeypatch):
        monkeypatch.setattr(queries.Results, "has_all", True)

        found = " ".join(oracle.oracles(study, now=LATER))

        for path in ("results/{}/", "results/{}/history.csv", "results/{}/verdicts/"):
            assert f"/{path.format(study.slug)} changes" in found
        for path in ("ratings/", "fits/"):
            assert f"/api/v1/studies/{study.slug}/{path} changes" in found

    def test_a_published_fit_is_told_and_is_none(self, study):
        fit = publish(study)

        assert oracle.oracles(study, now=LATER) == []
        (said,) = oracle.publications(study)
        assert said.startswith(f"{fit.key} (12 judgments")

    def test_two_published_fits_are_one_by_their_difference(self, study):
        first = publish(study)
        make_judged_study(study=study)
        fit_one(study, LATER, EvaluatorPool.HUMAN)
        second = publish(study)

        (said,) = oracle.oracles(study, now=LATER)
        assert first.key in said
        assert second.key in said

    def test_published_fits_of_other_selections_are_not_held_together(self, study):
        publish(study)
        publish(study, EvaluatorPool.COMBINED)

        assert oracle.oracles(study, now=LATER) == []

    def test_a_closed_study_has_none(self, study, monkeypatch):
        monkeypatch.setattr(queries.Results, "has_all", True)
        publish(study)
        close(study)

        assert oracle.oracles(study, now=LATER) == []
        assert oracle.publications(study) == []
