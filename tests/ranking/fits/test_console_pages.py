"""The console's page on ratings: how the newest stand, and the button that has them renewed."""

import datetime as dt

import pytest
from django.urls import reverse

from access import background
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState
from tests.helpers.factories import HOUR, NOW, make_study
from tests.helpers.factories_written_once import make_analysis, make_fit
from tests.helpers.pages import text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("handed")]

START = NOW + HOUR
SECOND = dt.timedelta(seconds=1)
DONE = {"state": FitState.DONE, "ended_at": START + 2 * SECOND, "claimed_at": START}
FOUND = {"method": "Counted.", "tables": [], "warnings": [], "is_exploratory": True}


@pytest.fixture
def handed(monkeypatch, site_clock):
    """The studies that were handed to a worker; the clock stands still."""
    sent: list[int] = []
    site_clock.at = START + 60 * SECOND
    monkeypatch.setattr(background, "hand_over", lambda _task, study_id: sent.append(study_id))
    return sent


@pytest.fixture
def study():
    return make_study()


def address(study, name="fits"):
    return reverse(f"raters:{name}", args=[study.slug])


class TestPage:
    @pytest.mark.parametrize("name", ["fits", "refit"])
    def test_of_an_unknown_study_is_not_found(self, admin_client, handed, name):
        where = reverse(f"raters:{name}", args=["none"])

        answer = admin_client.get(where) if name == "fits" else admin_client.post(where)

        assert (answer.status_code, handed) == (404, [])

    def test_says_what_will_stand_there(self, admin_client, study):
        assert "There is none yet" in text(admin_client.get(address(study)))

    def test_shows_each_newest_fit_with_its_age_and_what_it_took(self, admin_client, study):
        old = make_fit(study=study, as_of=NOW, **DONE)
        new = make_fit(study=study, as_of=START, n_judgments=1234, **DONE)
        adversarial = {"context_set": ContextSet.ADVERSARIAL, "pool": EvaluatorPool.LLM}
        why = {"state": FitState.REFUSED, "refusal": "All on one source dialogue."}
        make_fit(study=study, **DONE | adversarial | why)

        answer = admin_client.get(address(study))

        page = text(answer)
        newest = page[: page.index("Analyses")]
        assert new.key in newest
        assert old.key not in newest
        assert old.key in page
        for words in ("1,234", "2.0 s", "LLM judges, adversarial contexts", "one source dialogue"):
            assert words in newest
        assert f'href="{reverse("ranking:fit", args=[study.slug, new.key])}"' in str(answer.content)

    def test_says_what_is_simulated_and_what_other_code_computed(self, admin_client, study):
        make_fit(study=study, is_simulated=True, **DONE)

        answer = admin_client.get(address(study))

        assert "Simulated." in text(answer)
        assert "other code" in text(answer)
        tab = f'<a href="{address(study)}" aria-current="page">Ratings</a>'
        assert tab in answer.content.decode()

    def test_shows_how_each_analysis_ended(self, admin_client, study):
        fit = make_fit(study=study, **DONE)
        make_fit(study=study, as_of=START, **DONE)
        make_analysis(fit=fit, kind=AnalysisKind.CHECKS, **DONE, result=FOUND)
        make_analysis(fit=fit, kind=AnalysisKind.STYLE)
        refused = {"state": FitState.REFUSED, "refusal": "There are no ties."}
        make_analysis(fit=fit, kind=AnalysisKind.DRAWS, **DONE | refused)

        page = text(admin_client.get(address(study)))

        assert "1 of 3 with findings" in page
        assert "Ties and strengths Refused There are no ties. 2.0 s" in page
        assert "Does the model fit? Done 2.0 s" in page
        assert "Adjusted for length and style Under way" in page


class TestRefitButton:
    def test_says_when_a_computation_is_under_way_and_begins_none(
        self, admin_client, study, handed
    ):
        make_fit(study=study, claimed_at=START)

        page = text(admin_client.post(address(study, "refit"), follow=True))

        assert handed == []
        assert "1 computation is under way already: nothing is begun twice." in page

    def test_hands_the_study_to_a_worker_and_says_so(self, admin_client, study, handed):
        answer = admin_client.post(address(study, "refit"), follow=True)

        assert handed == [study.pk]
        assert answer.redirect_chain == [(address(study), 302)]
        assert "A worker computes now whatever changed" in text(answer)
