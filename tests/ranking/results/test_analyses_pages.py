"""The pages and downloads of the analyses of a fit, and radars as readers choose them."""

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.models import Rater, Study
from ranking.choices import QUESTIONS, AnalysisKind, FitState
from ranking.models import Analysis, Fit
from tests.helpers.factories import HOUR, NOW, make_judge, make_rater, make_system
from tests.helpers.factories_written_once import make_analysis
from tests.helpers.pages import charts, inline, rows_of, text
from tests.helpers.rated import make_findings, make_rated_fit

pytestmark = pytest.mark.django_db

SLUGS = ("ash", "beech", "cedar", "elm", "oak")
DONE = {"state": FitState.DONE, "ended_at": NOW + HOUR}
REFUSED = {"state": FitState.REFUSED, "ended_at": NOW + HOUR, "refusal": "Nobody tied."}


@pytest.fixture
def fit():
    beech = make_system(slug="beech", name="Simulated Beech", is_simulated=True)
    return make_rated_fit([make_system(slug="ash", name="Ash"), beech])


@pytest.fixture(autouse=True)
def _judge():
    make_judge(slug="judge-oak", name="Judge Oak")


def found(fit, kind=AnalysisKind.RATERS, **fields):
    return make_analysis(fit=fit, kind=kind, result=make_findings(**fields).as_json(), **DONE)


def address(fit, name="analysis", kind="raters", *more):
    return reverse(f"ranking:{name}", args=[fit.study.slug, fit.key, kind, *more])


class TestLeaderboard:
    def test_leads_to_each_analysis_and_says_where_it_stands(self, client, fit):
        leaderboard = reverse("ranking:leaderboard", args=[fit.study.slug])
        assert "A closer look" not in text(client.get(leaderboard))

        found(fit)
        make_analysis(fit=fit, kind=AnalysisKind.STYLE)
        make_analysis(fit=fit, kind=AnalysisKind.DRAWS, **REFUSED)
        pages = (leaderboard, reverse("ranking:fit", args=[fit.study.slug, fit.key]))

        for page in map(client.get, pages):
            assert address(fit) in page.content.decode()
            assert address(fit, kind="style") not in page.content.decode()
            for said in ("Who judges reliably", "Being computed.", "Not enough data."):
                assert said in text(page)

    def test_costs_few_queries_with_all_analyses(self, client, fit, django_assert_max_num_queries):
        for kind in AnalysisKind:
            found(fit, kind)

        # study, fitted selections, newest fit, ratings with systems, dimension rates, people,
        # decisions since, the fit that is analysed with what is done of it, and its analyses
        with django_assert_max_num_queries(12):
            client.get(reverse("ranking:leaderboard", args=[fit.study.slug]))


class TestRatingsAsJson:
    @pytest.mark.parametrize("below_minimum", [False, True])
    @pytest.mark.parametrize("kinds", [(), (AnalysisKind.RATERS,), (AnalysisKind.STYLE, "DRAWS")])
    def test_is_downloaded_as_the_api_gives_it(self, client, fit, kinds, below_minimum):
        content = fit.study.content | {"results": {"judgments": fit.n_judgments + below_minimum}}
        Study.objects.filter(pk=fit.study.pk).update(content=content)
        for kind in kinds:
            found(fit, kind)
        of_fit = [fit.study.slug, fit.key]

        downloaded = client.get(reverse("ranking:ratings_json", args=of_fit)).json()
        given = client.get("/api/v1/studies/{}/fits/{}/".format(*of_fit)).json()

        assert downloaded == given
        assert len(downloaded["analyses"]) == (0 if below_minimum else len(kinds))


class TestBelowTheMinimumOfTheProtocol:
    def test_no_analysis_is_found_in_any_form(self, client, fit):
        analysis = found(fit)
        table = analysis.findings.tables[0].key
        content = fit.study.content | {"results": {"judgments": fit.n_judgments + 1}}
        Study.objects.filter(pk=fit.study.pk).update(content=content)

        shown = text(client.get(address(fit)))
        assert f"{fit.n_judgments} of {fit.n_judgments + 1} judgments" in shown
        assert "Other looks" not in shown
        assert client.get(address(fit, "analysis_json")).status_code == 404
        for name, *form in (("table_csv",), ("table_figure", "svg")):
            assert client.get(address(fit, name, "raters", table, *form)).status_code == 404
        listed = reverse("api:analyses", args=[fit.study.slug, fit.key])
        assert client.get(listed).json() == {"results": []}
        assert client.get(f"{listed}raters/").status_code == 404


class TestAnalysisPage:
    def test_shows_each_table_with_its_words_its_picture_and_its_download(self, client, fit):
        found(fit)
        pictures = {"matrix": "heat", "differences": "whiskers", "told-and-seen": "points"}
        pictures |= {"growth": "lines", "radar": "radar", "funnel": "funnel"}

        page = client.get(address(fit))

        for key in (*pictures, "evaluators"):
            assert f"How to read {key}." in text(page)
            assert address(fit, "table_csv", "raters", key) in page.content.decode()
        assert "By hand, for a test." in text(page)
        assert "Only a test." in text(page)
        assert "xplorator" in text(page)
        assert "Simulated Beech simulated" in text(page)
        assert " beech " not in text(page)
        assert {key: parts["picture"] for key, parts in charts(page).items()} == pictures

    def test_keeps_every_table_and_picture_for_those_without_scripts(self, client, fit):
        found(fit)

        page = client.get(address(fit))

        html = page.content.decode()
        marks = ("<table", 'class="plot"', 'class="radar"', 'class="limit ', 'class="whisker"')
        assert [html.count(mark) for mark in marks] == [6, 3, 1, 5, 2]
        assert re.search(r'class="number heat (up|down)5"', html)
        assert re.search(r'<details class="folds" open>', html)
        assert not inline(page)

    @pytest.mark.parametrize("is_simulated", [True, False])
    def test_says_of_itself_and_of_each_chart_whether_the_fit_is_simulated(
        self, client, is_simulated
    ):
        systems = [make_system(slug=slug) for slug in ("ash", "beech")]
        fit = make_rated_fit(systems, is_simulated=is_simulated)
        found(fit, systems=("ash", "beech"))

        page = client.get(address(fit))

        assert ("they say nothing about real ones" in text(page)) is is_simulated
        parts = charts(page).values()
        assert [one.get("isSimulated", False) for one in parts] == [is_simulated] * 6
        marks = page.content.decode().count('data-simulated="Simulated"')
        assert marks == 6 * is_simulated

    def test_cannot_be_broken_out_of_by_a_name(self, client):
        hostile = "</script><script>alert(1)</script>"
        fit = make_rated_fit([make_system(slug="ash", name=hostile), make_system(slug="beech")])
        found(fit, systems=("ash", "beech"))

        page = client.get(address(fit))

        assert hostile in charts(page)["matrix"]["rows"]
        assert inline(page) == []

    @pytest.mark.parametrize(
        ("fields", "said"), [(REFUSED, "Nobody tied."), ({}, "Being computed")]
    )
    def test_says_why_there_are_no_findings(self, client, fit, fields, said):
        make_analysis(fit=fit, kind=AnalysisKind.DRAWS, **fields)

        assert said in text(client.get(address(fit, kind="draws")))

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

    def shown(self, client, place):
        answer = client.get(place)
        assert answer.status_code == 200
        return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()

    @pytest.mark.parametrize("is_signed_in", [False, True])
    def test_are_never_listed_alone_for_the_public(self, client, fit, codes, is_signed_in):
        if is_signed_in:
            client.force_login(User.objects.create_user("plain"))

        for place in (
            address(fit),
            address(fit, "analysis_json"),
            address(fit, "table_csv", "raters", "evaluators"),
            f"/api/v1/studies/{fit.study.slug}/fits/{fit.key}/analyses/raters/",
        ):
            shown = self.shown(client, place)
            assert [code for code in codes if code in shown] == [], place
            assert "6 people, median" in shown
            assert "judge-oak" in shown or "Judge Oak" in shown

    def test_are_listed_by_nothing_but_their_pseudonym_for_staff(self, admin_client, fit, codes):
        Rater.objects.filter(code=codes[0]).update(platform="PROLIFIC", external_id="secret-id")

        for place in (address(fit), address(fit, "table_csv", "raters", "evaluators")):
            shown = self.shown(admin_client, place)
            assert [code for code in codes if code not in shown] == []
            assert "secret-id" not in shown


class TestDownloads:
    def test_of_a_table_say_of_which_fit_and_whether_simulated(self, client, fit):
        found(fit)
        Fit.objects.update(is_simulated=True)

        answer = client.get(address(fit, "table_csv", "raters", "differences"))

        assert 'filename="simulated-' in answer["Content-Disposition"]
        rows = rows_of(answer)
        assert [row["system"] for row in rows] == ["ash", "beech"]
        assert {(row["fit"], row["fit_is_simulated"]) for row in rows} == {(fit.key, "True")}
        assert float(rows[0]["value"]) == -12.0

    def test_as_json_hold_all_that_was_found(self, client, fit):
        found(fit)

        content = client.get(address(fit, "analysis_json")).json()

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


class TestRadar:
    @pytest.fixture
    def fit(self):
        systems = [make_system(slug=slug, name=slug.title()) for slug in SLUGS[:-1]]
        simulated = make_system(slug="oak", name="Simulated Oak", is_simulated=True)
        rated = make_rated_fit([*systems, simulated])
        found(rated, systems=SLUGS)
        return rated

    def get(self, client, fit, name, *more, query=""):
        address = reverse(f"ranking:{name}", args=[fit.study.slug, fit.key, "raters", *more])
        return client.get(address + query)

    def page(self, client, fit, query=""):
        return self.get(client, fit, "analysis", query=query)

    def figure(self, client, fit, query="", table="radar"):
        return self.get(client, fit, "table_figure", table, "svg", query=query)

    def drawn(self, page):
        svg = re.search(r'<svg class="radar".*?</svg>', page.content.decode(), re.DOTALL)
        return re.findall(r"<title>(.*?)</title>", svg[0])

    def printed(self, figure):
        svg = figure.content.decode()
        return [name for name in (*map(str.title, SLUGS), "Simulated Oak") if f">{name}<" in svg]

    def ticked(self, page):
        """Return which systems can be ticked, and which are."""
        box = r'<input type="checkbox" name="systems" value="([\w-]+)"( checked)?>'
        return {slug: bool(checked) for slug, checked in re.findall(box, page.content.decode())}

    @pytest.mark.parametrize(
        ("query", "slugs", "names"),
        [
            ("", ["ash", "beech", "cedar"], ["Ash", "Beech", "Cedar"]),
            ("?systems=oak&systems=ash", ["ash", "oak"], ["Ash", "Simulated Oak"]),
            ("?systems=oak,ash", ["ash", "oak"], ["Ash", "Simulated Oak"]),
        ],
        ids=["the first three", "from boxes", "from a list"],
    )
    def test_draws_what_the_address_names_and_offers_all(self, client, fit, query, slugs, names):
        shown = self.page(client, fit, query)

        assert self.drawn(shown) == names
        assert self.ticked(shown) == {slug: slug in slugs for slug in SLUGS}

    def test_draws_four_at_most_and_says_so(self, client, fit):
        shown = self.page(client, fit, f"?systems={','.join(SLUGS)}")

        assert self.drawn(shown) == ["Ash", "Beech", "Cedar", "Elm"]
        said = '<p class="quiet" role="status">Four at most are drawn'
        assert said in shown.content.decode()
        assert said not in self.page(client, fit).content.decode()

    def test_of_a_system_that_is_not_there_is_not_found(self, client, fit):
        assert self.page(client, fit, "?systems=willow").status_code == 404
        assert self.figure(client, fit, "?systems=willow").status_code == 404

    def test_says_which_are_simulated_and_leaves_all_in_the_table_and_the_download(
        self, client, fit
    ):
        html = self.page(client, fit, "?systems=oak").content.decode()

        legend = re.search(r'<ul class="legend".*?</ul>', html, re.DOTALL)
        assert '<span class="tag">simulated</span>' in legend[0]
        assert html.count('scope="row">Ash') > 0
        rows = rows_of(self.get(client, fit, "table_csv", "radar"))
        assert [row["system"] for row in rows] == list(SLUGS)

    def test_for_print_is_of_the_same_systems_and_says_that_others_are_simulated(self, client, fit):
        html = self.page(client, fit, "?systems=ash,elm").content.decode()
        (address,) = re.findall(r'href="([^"]*radar\.svg[^"]*)"', html)

        figure = client.get(address.replace("&amp;", "&"))

        assert address.endswith("?systems=ash,elm")
        assert self.printed(figure) == ["Ash", "Elm"]
        assert ">SIMULATED<" in figure.content.decode()
        assert self.printed(self.figure(client, fit)) == ["Ash", "Beech", "Cedar"]

    def test_leaves_other_pictures_as_they_are(self, client, fit):
        chosen = self.figure(client, fit, "?systems=ash", table="matrix")

        assert chosen.content == self.figure(client, fit, table="matrix").content


def test_every_analysis_says_what_it_asks():
    assert set(QUESTIONS) == set(AnalysisKind)
