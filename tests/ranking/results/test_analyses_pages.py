"""The pages and downloads of the analyses of a fit."""

import csv
import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.models import Rater
from ranking.choices import AnalysisKind, FitState
from ranking.models import Analysis, Fit
from ranking.report.questions import QUESTIONS
from tests.helpers.factories import HOUR, NOW, make_judge, make_rater, make_system
from tests.helpers.factories_written_once import make_analysis
from tests.helpers.rated import make_findings, make_rated_fit
from tests.ranking.results.charts import inline

pytestmark = pytest.mark.django_db

DONE = {"state": FitState.DONE, "ended_at": NOW + HOUR}


@pytest.fixture
def fit():
    systems = [
        make_system(slug="ash", name="Ash"),
        make_system(slug="beech", name="Simulated Beech", is_simulated=True),
    ]
    return make_rated_fit(systems)


@pytest.fixture(autouse=True)
def _judge():
    make_judge(slug="judge-oak", name="Judge Oak")


def found(fit, kind=AnalysisKind.RATERS, **fields):
    return make_analysis(fit=fit, kind=kind, result=make_findings(**fields).as_json(), **DONE)


def address(fit, name="analysis", kind="raters", *more):
    return reverse(f"ranking:{name}", args=[fit.study.slug, fit.key, kind, *more])


def text(response):
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def read(response):
    lines = b"".join(response.streaming_content).decode().splitlines()
    return list(csv.DictReader(lines))


class TestLeaderboard:
    def test_leads_to_each_analysis_with_what_it_asks(self, client, fit):
        found(fit)

        page = client.get(reverse("ranking:leaderboard", args=[fit.study.slug]))

        assert address(fit) in page.content.decode()
        assert "Who judges reliably" in text(page)

    def test_says_where_an_analysis_stands(self, client, fit):
        found(fit)
        make_analysis(fit=fit, kind=AnalysisKind.STYLE)
        make_analysis(
            fit=fit, kind=AnalysisKind.DRAWS, **DONE | {"state": FitState.REFUSED, "refusal": "No."}
        )

        page = client.get(reverse("ranking:fit", args=[fit.study.slug, fit.key]))

        assert "Being computed." in text(page)
        assert "Not enough data." in text(page)
        assert address(fit, kind="style") not in page.content.decode()

    def test_shows_nothing_of_analyses_before_there_are_any(self, client, fit):
        page = client.get(reverse("ranking:leaderboard", args=[fit.study.slug]))

        assert "A closer look" not in text(page)

    def test_costs_few_queries_with_all_analyses(self, client, fit, django_assert_max_num_queries):
        for kind in AnalysisKind:
            found(fit, kind)

        # study, fitted selections, newest fit, ratings with systems, dimension rates, people,
        # decisions since, the fit that is analysed with what is done of it, and its analyses
        with django_assert_max_num_queries(12):
            client.get(reverse("ranking:leaderboard", args=[fit.study.slug]))


class TestAnalysisPage:
    def test_shows_each_table_with_its_words_and_its_download(self, client, fit):
        found(fit)

        page = client.get(address(fit))

        keys = ("matrix", "differences", "told-and-seen", "growth", "radar", "funnel", "evaluators")
        for key in keys:
            assert f"How to read {key}." in text(page)
            assert address(fit, "table_csv", "raters", key) in page.content.decode()
        assert "By hand, for a test." in text(page)
        assert "Only a test." in text(page)

    def test_draws_every_kind_of_picture_without_anything_inline(self, client, fit):
        found(fit)

        page = client.get(address(fit))
        html = page.content.decode()

        assert html.count('class="plot"') == 3
        assert html.count('class="radar"') == 1
        assert html.count('class="limit ') == 5
        assert html.count('class="whisker"') == 2
        assert re.search(r'class="number heat (up|down)5"', html)
        assert not inline(page)

    def test_names_systems_and_says_which_are_simulated(self, client, fit):
        found(fit)

        shown = text(client.get(address(fit)))

        assert "Simulated Beech simulated" in shown
        assert " beech " not in shown

    def test_says_when_what_is_behind_it_is_simulated(self, client, fit):
        found(fit)
        Fit.objects.update(is_simulated=True)

        assert "they say nothing about real ones" in text(client.get(address(fit)))

    def test_gives_the_reason_of_a_refusal(self, client, fit):
        refused = {"state": FitState.REFUSED, "refusal": "Nobody tied."}
        make_analysis(fit=fit, kind=AnalysisKind.DRAWS, **DONE | refused)

        assert "Nobody tied." in text(client.get(address(fit, kind="draws")))

    def test_says_when_it_is_still_computed(self, client, fit):
        make_analysis(fit=fit, kind=AnalysisKind.DRAWS)

        assert "Being computed" in text(client.get(address(fit, kind="draws")))

    @pytest.mark.parametrize("kind", ["pairs", "nothing"])
    def test_that_is_not_there_is_not_found(self, client, fit, kind):
        found(fit)

        assert client.get(address(fit, kind=kind)).status_code == 404

    def test_reads_no_findings_of_other_analyses(self, client, fit):
        found(fit)
        other = found(fit, AnalysisKind.CHECKS)
        Analysis.objects.filter(pk=other.pk).update(result={"not": "findings"})

        page = client.get(address(fit))

        assert page.status_code == 200
        assert AnalysisKind.CHECKS.label in text(page)

    def test_costs_the_same_queries_for_any_size(self, client, fit, django_assert_max_num_queries):
        found(fit, systems=[f"system-{n}" for n in range(20)])

        # study, fit, its analysis, which others there are, systems, judges, raters
        with django_assert_max_num_queries(7):
            assert client.get(address(fit)).status_code == 200


class TestPeople:
    @pytest.fixture
    def codes(self, fit):
        codes = [f"R7XK{n}" for n in range(6)]
        for code in codes:
            make_rater(study=fit.study, code=code)
        found(fit, evaluators=["judge-oak", *codes])
        return codes

    def places(self, fit):
        yield address(fit)
        yield address(fit, "analysis_json")
        yield address(fit, "table_csv", "raters", "evaluators")
        yield f"/api/v1/studies/{fit.study.slug}/fits/{fit.key}/analyses/raters/"

    def content(self, response):
        return (
            b"".join(response.streaming_content) if response.streaming else response.content
        ).decode()

    def test_are_never_listed_alone_for_the_public(self, client, fit, codes):
        for place in self.places(fit):
            answer = client.get(place)
            shown = self.content(answer)

            assert answer.status_code == 200
            assert [code for code in codes if code in shown] == [], place
            assert "6 people, median" in shown
            assert "judge-oak" in shown or "Judge Oak" in shown

    def test_are_never_listed_alone_for_one_who_is_merely_signed_in(self, client, fit, codes):
        client.force_login(User.objects.create_user("plain"))

        assert [code for code in codes if code in self.content(client.get(address(fit)))] == []

    def test_are_listed_by_pseudonym_for_staff(self, admin_client, fit, codes):
        for place in (address(fit), address(fit, "table_csv", "raters", "evaluators")):
            shown = self.content(admin_client.get(place))

            assert [code for code in codes if code not in shown] == []

    def test_go_by_nothing_but_their_pseudonym(self, admin_client, fit, codes):
        Rater.objects.filter(code=codes[0]).update(platform="PROLIFIC", external_id="secret-id")

        assert "secret-id" not in self.content(admin_client.get(address(fit)))


class TestDownloads:
    def test_of_a_table_say_of_which_fit_and_whether_simulated(self, client, fit):
        found(fit)
        Fit.objects.update(is_simulated=True)

        answer = client.get(address(fit, "table_csv", "raters", "differences"))

        assert 'filename="simulated-' in answer["Content-Disposition"]
        rows = read(answer)
        assert [row["system"] for row in rows] == ["ash", "beech"]
        assert {(row["fit"], row["fit_is_simulated"]) for row in rows} == {(fit.key, "True")}
        assert float(rows[0]["value"]) == -12.0

    def test_take_the_fire_out_of_formulas(self, client, fit):
        found(fit, evaluators=["judge-oak"])
        Analysis.objects.update(
            result=make_findings(systems=["=1+1", "beech"]).as_json(),
        )

        (first, _) = read(client.get(address(fit, "table_csv", "raters", "differences")))

        assert first["system"] == "'=1+1"

    def test_as_json_hold_all_that_was_found(self, client, fit):
        found(fit)

        answer = client.get(address(fit, "analysis_json"))

        content = answer.json()
        assert content["fit"] == fit.key
        assert content["fit_is_simulated"] is False
        assert content["tables"][0]["key"] == "matrix"
        assert content["is_exploratory"] is True

    @pytest.mark.parametrize(
        ("name", "parts"),
        [
            ("table_csv", ("raters", "nothing")),
            ("table_csv", ("draws", "matrix")),
            ("analysis_json", ("draws",)),
        ],
    )
    def test_of_what_is_not_there_are_not_found(self, client, fit, name, parts):
        found(fit)
        make_analysis(fit=fit, kind=AnalysisKind.DRAWS)

        assert client.get(address(fit, name, *parts)).status_code == 404


def test_every_analysis_says_what_it_asks():
    assert set(QUESTIONS) == set(AnalysisKind)
