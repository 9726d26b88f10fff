"""What pages serve to draw: data for charts, scripts only where needed, radars as readers choose.

The charts of an analysis and of ratings over time are tested with their pages.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.urls import reverse

from ranking.choices import AnalysisKind, FitState
from tests.helpers.factories import HOUR, NOW, make_study, make_system
from tests.helpers.factories_written_once import make_analysis
from tests.helpers.pages import charts, rows_of
from tests.helpers.rated import make_findings, make_rated_fit

pytestmark = pytest.mark.django_db
HEAVIEST = 3_000  # bytes, compressed, of the script that every page with a chart loads at once
SLUGS = ("ash", "beech", "cedar", "elm", "oak")


def leaderboard(client, study):
    return client.get(reverse("ranking:leaderboard", args=[study.slug]))


def needs(page):
    return re.findall(r'data-needs="([^"]+)"', page.content.decode())[0].split()


class TestLeaderboard:
    @pytest.fixture
    def fit(self):
        return make_rated_fit([make_system(slug="ash", name="Ash"), make_system(slug="beech")])

    def test_hands_over_ratings_with_both_intervals_and_their_words(self, client, fit):
        page = leaderboard(client, fit.study)

        parts = charts(page)["drawn-ratings"]
        assert parts["centre"] == 1500.0
        first, second = parts["rows"]
        ends = ("jointLow", "low", "value", "high", "jointHigh")
        assert first["name"] == "Ash"
        assert [first[key] for key in ends] == [1510.0, 1520.0, 1540.0, 1560.0, 1570.0]
        assert first["said"][:3] == ["Elo: 1540", "95 % interval: 1520 to 1560", "Rank: 1\u20132"]
        assert second["value"] == 1500.0
        permanent = client.get(reverse("ranking:fit", args=[fit.study.slug, fit.key]))
        assert charts(permanent) == charts(page)

    def test_shows_nothing_of_charts_before_a_script_has_drawn_them(self, client, fit):
        html = leaderboard(client, fit.study).content.decode()

        (figure,) = re.findall(r"<figure[^>]*data-drawn-only[^>]*>", html)
        assert figure.endswith("hidden>")
        assert re.search(r'<div class="chart [^>]*hidden>', html)

    def test_without_ratings_loads_no_script(self, client):
        assert "<script" not in leaderboard(client, make_study()).content.decode()

    def test_loads_the_library_from_this_site_and_only_when_a_chart_is_near(self, client, fit):
        page = leaderboard(client, fit.study)

        scripts = re.findall(r'<script src="([^"]+)"', page.content.decode())
        assert scripts == ["/static/js/charts.js"]
        assert needs(page)[0] == "/static/vendor/echarts-6.1.0/echarts.min.js"
        for address in needs(page):
            assert finders.find(address.removeprefix("/static/"))

    def test_loads_scripts_by_their_contents_in_a_deployment(self, client, fit, settings, tmp_path):
        settings.STATIC_ROOT = tmp_path
        settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
        backend = "whitenoise.storage.CompressedManifestStaticFilesStorage"
        settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": backend}}
        call_command("collectstatic", interactive=False, verbosity=0)

        addresses = needs(leaderboard(client, fit.study))

        assert len(addresses) == 5
        for address in addresses:
            file = tmp_path / address.removeprefix("/static/")
            assert re.search(r"\.[0-9a-f]{12}\.js$", address)
            assert file.is_file()
            assert file.with_name(f"{file.name}.gz").is_file()


def test_the_script_that_pages_load_at_once_is_small():
    found: Any = finders.find("js/charts.js")

    assert len(Path(found).read_bytes()) < HEAVIEST


class TestRadar:
    @pytest.fixture
    def fit(self):
        systems = [make_system(slug=slug, name=slug.title()) for slug in SLUGS[:-1]]
        simulated = make_system(slug="oak", name="Simulated Oak", is_simulated=True)
        rated = make_rated_fit([*systems, simulated])
        findings = make_findings(systems=SLUGS).as_json()
        done = {"state": FitState.DONE, "ended_at": NOW + HOUR}
        make_analysis(fit=rated, kind=AnalysisKind.RATERS, result=findings, **done)
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
        assert svg is not None
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
        assert legend is not None
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
