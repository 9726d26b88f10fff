"""The results of a study that rates messages one by one: pages, downloads, and what they cost."""

import datetime as dt

import pytest
from django.test import override_settings
from django.urls import reverse

from annotation.choices import Protocol
from annotation.models import Study
from ranking.choices import AnalysisKind, FitState
from ranking.fits import queries
from ranking.gate import services as gate_services
from ranking.gate.rules import GateRequest
from ranking.gate.services import NoFitError
from ranking.models import Fit
from ranking.raters import services as rater_services
from ranking.raters.accounting import verdict_accounting
from ranking.report import services as report_services
from tests.helpers.factories import NOW, make_rater, make_study, make_system
from tests.helpers.factories_written_once import make_member
from tests.helpers.judged import fit_one, make_judged_study
from tests.helpers.pages import rows_of, text
from tests.helpers.rated import close
from tests.helpers.scores import make_rated_study, rate

pytestmark = pytest.mark.django_db

START = NOW + dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def _few_replicates(settings):
    settings.HEART_BOOTSTRAP_REPLICATES = 40


def refit(study, at=START, *, with_analysis=True):
    fit = fit_one(close(study), at)
    if with_analysis:
        report_services.analyse_fit(fit_id=fit.pk, kind=AnalysisKind.LIKERT, clock=lambda: at)
    return fit


@pytest.fixture(scope="module")
def stored(module_rows):
    """Keys of a study whose 54 ratings are fitted and analysed, and of that fit."""
    systems = [make_system(slug=slug, name=slug.title()) for slug in ("ash", "birch", "cedar")]
    study = make_rated_study(systems=systems, n_dialogues=6)
    with override_settings(HEART_BOOTSTRAP_REPLICATES=40):
        return study.pk, refit(study).pk


@pytest.fixture
def study(stored):
    return Study.objects.get(pk=stored[0])


@pytest.fixture
def fit(stored):
    return Fit.objects.get(pk=stored[1])


def page(client, study, query=""):
    return client.get(reverse("ranking:leaderboard", args=[study.slug]) + query)


class TestLeaderboard:
    def test_shows_mean_points_above_the_order_that_they_imply(self, client, study, fit):
        shown = text(page(client, study))

        parts = (
            "Mean points",
            "Mean points on each dimension",
            "The order that the points imply",
            "pairs implied by 54 ratings on 6 source dialogues",
            "Implied pairs",
        )
        assert [*map(shown.index, parts)] == sorted(map(shown.index, parts))
        assert all(one["name"] in shown for one in study.content["rubric"]["dimensions"])
        permanent = text(client.get(reverse("ranking:fit", args=[study.slug, fit.key])))
        assert all(part in permanent for part in parts)

    def test_never_says_that_messages_were_compared(self, client, study):
        shown = text(page(client, study))

        assert "Nobody compared replies in this study." in shown
        assert "slightly" not in shown
        assert "a win is whole" in shown

    def test_says_that_means_are_still_to_come(self, client):
        study = make_rated_study(n_dialogues=3)
        refit(study, with_analysis=False)

        shown = text(page(client, study))

        assert "Mean points are being computed" in shown
        assert "The order that the points imply" in shown

    def test_means_of_an_earlier_fit_say_so(self, client, study, fit):
        rate(study.comparisons.earliest("pk"), make_rater(study=study), 5)
        refit(study, START + dt.timedelta(minutes=2), with_analysis=False)

        response = page(client, study)

        assert "the newest are still being computed" in text(response)
        assert reverse("ranking:fit", args=[study.slug, fit.key]) in response.content.decode()

    def test_where_no_order_is_implied_the_means_stand(self, client):
        study = make_study(protocol=Protocol.LIKERT)
        for n in range(2):
            make_rated_study(study=study, systems=[make_system(name=f"Tree {n}")], n_dialogues=3)
        assert refit(study).state == FitState.REFUSED

        shown = text(page(client, study))

        assert "Mean points on each dimension" in shown
        assert "Tree 0" in shown.split("The order that the points imply")[0]
        assert "Nobody rated two messages of one context" in shown

    def test_what_is_simulated_is_marked(self, client):
        oak = make_system(slug="simulated-oak", name="Simulated Oak", is_simulated=True)
        study = make_rated_study(systems=[oak, make_system()], n_dialogues=5)
        refit(study)

        shown = text(page(client, study))

        assert "Simulated Oak simulated" in shown.split("The order that the points imply")[0]

    def test_costs_as_many_queries_for_many_as_for_few(
        self, client, study, django_assert_max_num_queries
    ):
        many = make_rated_study(systems=[make_system() for _ in range(6)], n_dialogues=8)
        refit(many)

        for one in (study, many):
            with django_assert_max_num_queries(17):
                page(client, one)


class TestAnalysisPage:
    def test_shows_all_tables_and_who_is_strict_to_staff_alone(self, client, study, fit):
        codes = study.raters.values_list("code", flat=True)
        address = reverse("ranking:analysis", args=[study.slug, fit.key, "likert"])

        for_all = client.get(address).content.decode()
        client.force_login(make_member("ada"))
        for_staff = client.get(address).content.decode()

        for title in ("Orders beside each other", "Who is mild and who is strict", "Every mean"):
            assert title in for_all
        assert not any(code in for_all for code in codes)
        assert all(code in for_staff for code in codes)


class TestDownloads:
    def get(self, client, fit, name, *more):
        return client.get(reverse(f"ranking:{name}", args=[fit.study.slug, fit.key, *more]))

    @pytest.mark.parametrize("key", ["scores", pytest.param("dimensions", marks=pytest.mark.full)])
    def test_mean_points_for_print(self, client, fit, key):
        found = self.get(client, fit, "table_figure", "likert", key, "svg")

        assert found.status_code == 200
        assert b"<svg" in found.content

    def test_implied_ratings_say_what_they_are(self, client, fit):
        found = self.get(client, fit, "ratings_csv")

        assert "implied-ratings.csv" in found.headers["Content-Disposition"]
        assert {row["is_implied"] for row in rows_of(found)} == {"True"}
        assert self.get(client, fit, "ratings_json").json()["is_implied"] is True
        assert "Nobody compared messages" in queries.leaderboard_text(fit)


def test_a_study_of_pairs_has_no_points_and_nothing_implied(client):
    study = make_judged_study()
    fit = refit(study)

    shown = text(page(client, study))
    found = client.get(reverse("ranking:ratings_csv", args=[study.slug, fit.key]))

    assert "Mean points" not in shown
    assert "implied" not in found.headers["Content-Disposition"]
    assert "is_implied" not in rows_of(found)[0]


class TestElsewhere:
    def test_the_gate_has_no_preferences_to_go_by(self, study):
        with pytest.raises(NoFitError, match="rated alone"):
            gate_services.ask_gate(study=study, request=GateRequest("ash", "birch"))

    def test_a_review_of_raters_foretells_the_implied_order(self, study):
        review = rater_services.review_raters(study=study, dry_run=True, now=START)

        assert review.movements[0].n_before == 54
        assert len(review.movements[0].moves) == 3

    def test_every_other_page_of_results_opens(self, client, study):
        for name in ("history", "verdicts", "fits"):
            assert client.get(reverse(f"ranking:{name}", args=[study.slug])).status_code == 200

    def test_what_became_of_the_ratings_adds_up_to_those_of_the_fit(self, study, fit):
        (people,) = verdict_accounting(study)

        assert people.n_preferences + people.n_ties == fit.n_judgments == 54
        assert sum(people.cells) == people.n_calls == 54
