"""What pages of results serve for charts: data beside figures, scripts only where needed."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.urls import reverse

from ranking.choices import AnalysisKind, FitState
from tests.helpers.factories import HOUR, NOW, make_rater, make_study, make_system
from tests.helpers.factories_written_once import make_analysis
from tests.helpers.rated import make_findings, make_rated_fit
from tests.ranking.results.charts import charts, inline

pytestmark = pytest.mark.django_db
HEAVIEST = 3_000  # bytes, compressed, of the script that every page with a chart loads at once


@pytest.fixture
def fit():
    return make_rated_fit([make_system(slug="ash", name="Ash"), make_system(slug="beech")])


def leaderboard(client, fit):
    return client.get(reverse("ranking:leaderboard", args=[fit.study.slug]))


def analysed(client, fit, **found):
    ended = {"state": FitState.DONE, "ended_at": NOW + HOUR}
    result = make_findings(**found).as_json()
    make_analysis(fit=fit, kind=AnalysisKind.RATERS, result=result, **ended)
    return client.get(reverse("ranking:analysis", args=[fit.study.slug, fit.key, "raters"]))


class TestLeaderboard:
    def test_hands_over_ratings_with_both_intervals_and_their_words(self, client, fit):
        parts = charts(leaderboard(client, fit))["drawn-ratings"]

        assert parts["centre"] == 1500.0
        first, second = parts["rows"]
        assert (first["name"], first["low"], first["value"], first["high"]) == (
            "Ash",
            1520.0,
            1540.0,
            1560.0,
        )
        assert (first["jointLow"], first["jointHigh"]) == (1510.0, 1570.0)
        assert first["said"][:3] == ["Elo: 1540", "95 % interval: 1520 to 1560", "Rank: 1\u20132"]
        assert second["value"] == 1500.0

    def test_is_the_same_at_the_permanent_address(self, client, fit):
        there = client.get(reverse("ranking:fit", args=[fit.study.slug, fit.key]))

        assert charts(there) == charts(leaderboard(client, fit))

    def test_shows_nothing_of_charts_before_a_script_has_drawn_them(self, client, fit):
        html = leaderboard(client, fit).content.decode()

        (figure,) = re.findall(r"<figure[^>]*data-drawn-only[^>]*>", html)
        assert figure.endswith("hidden>")
        assert re.search(r'<div class="chart [^>]*hidden>', html)

    def test_without_ratings_loads_no_script(self, client):
        study = make_study()

        html = client.get(reverse("ranking:leaderboard", args=[study.slug])).content.decode()

        assert "<script" not in html


class TestAnalysis:
    def test_hands_over_each_table_that_has_a_picture(self, client, fit):
        page = analysed(client, fit)

        found = {key: parts["picture"] for key, parts in charts(page).items()}
        assert found == {
            "matrix": "heat",
            "differences": "whiskers",
            "told-and-seen": "points",
            "growth": "lines",
            "radar": "radar",
            "funnel": "funnel",
        }
        assert inline(page) == []

    def test_keeps_every_table_and_picture_for_those_without_scripts(self, client, fit):
        html = analysed(client, fit).content.decode()

        assert html.count("<table") == 6
        assert html.count('class="plot"') == 3
        assert html.count('class="radar"') == 1
        assert re.search(r'<details class="folds" open>', html)

    def test_says_of_each_chart_of_a_simulated_fit_that_it_is(self, client):
        fit = make_rated_fit([make_system(slug="ash")], is_simulated=True)

        page = analysed(client, fit, systems=("ash",))

        assert all(parts["isSimulated"] for parts in charts(page).values())
        assert page.content.decode().count('data-simulated="Simulated"') == len(charts(page)) == 5

    def test_of_real_systems_says_nothing_of_the_kind(self, client, fit):
        page = analysed(client, fit)

        assert not any("isSimulated" in parts for parts in charts(page).values())
        assert "data-simulated" not in page.content.decode()

    def test_names_no_rater_to_the_public(self, client, fit):
        codes = [make_rater(study=fit.study).code for _ in range(3)]

        html = analysed(client, fit, evaluators=codes).content.decode()

        assert not any(code in html for code in codes)

    def test_cannot_be_broken_out_of_by_a_name(self, client):
        fit = make_rated_fit([make_system(slug="ash", name="</script><script>alert(1)</script>")])

        page = analysed(client, fit, systems=("ash",))

        assert charts(page)["matrix"]["rows"] == ["</script><script>alert(1)</script>"]
        assert inline(page) == []


class TestHistory:
    def test_hands_over_lines_over_time(self, client):
        study, system = make_study(), make_system(name="Ash")
        for hours in range(2):
            make_rated_fit([system], study=study, as_of=NOW + hours * HOUR)

        parts = charts(client.get(reverse("ranking:history", args=[study.slug])))["moved"]

        first, second = parts["places"]
        assert second - first == 3_600_000
        assert parts["said"][0] == f"{NOW:%Y-%m-%d %H:%M} UTC"
        assert [one["values"] for one in parts["series"]] == [[1540.0, 1540.0]]

    def test_of_one_fit_has_no_chart_and_no_script(self, client, fit):
        page = client.get(reverse("ranking:history", args=[fit.study.slug]))

        assert charts(page) == {}
        assert "<script" not in page.content.decode()


class TestScripts:
    def test_come_from_this_site_and_the_library_only_when_a_chart_is_near(self, client, fit):
        html = leaderboard(client, fit).content.decode()

        assert re.findall(r'<script src="([^"]+)"', html) == ["/static/js/charts.js"]
        needs = self.needs(html)
        assert needs[0] == "/static/vendor/echarts-6.1.0/echarts.min.js"
        for address in needs:
            assert finders.find(address.removeprefix("/static/"))

    def test_that_pages_load_at_once_are_small(self):
        found: Any = finders.find("js/charts.js")

        assert len(Path(found).read_bytes()) < HEAVIEST

    def test_are_named_by_their_contents_in_a_deployment(self, client, fit, settings, tmp_path):
        settings.STATIC_ROOT = tmp_path
        settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
        backend = "whitenoise.storage.CompressedManifestStaticFilesStorage"
        settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": backend}}
        call_command("collectstatic", interactive=False, verbosity=0)

        needs = self.needs(leaderboard(client, fit).content.decode())

        assert len(needs) == 5
        for address in needs:
            file = tmp_path / address.removeprefix("/static/")
            assert re.search(r"\.[0-9a-f]{12}\.js$", address)
            assert file.is_file()
            assert file.with_name(f"{file.name}.gz").is_file()

    @staticmethod
    def needs(html):
        return re.findall(r'data-needs="([^"]+)"', html)[0].split()
