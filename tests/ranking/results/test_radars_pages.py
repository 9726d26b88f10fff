"""Radars on pages of results: readers choose by the address which systems are drawn."""

import csv
import re

import pytest
from django.urls import reverse

from ranking.choices import AnalysisKind, FitState
from tests.helpers.factories import HOUR, NOW, make_system
from tests.helpers.factories_written_once import make_analysis
from tests.helpers.rated import make_findings, make_rated_fit

pytestmark = pytest.mark.django_db

SLUGS = ("ash", "beech", "cedar", "elm", "oak")


@pytest.fixture
def fit():
    systems = [make_system(slug=slug, name=slug.title()) for slug in SLUGS[:-1]]
    simulated = make_system(slug="oak", name="Simulated Oak", is_simulated=True)
    rated = make_rated_fit([*systems, simulated])
    findings = make_findings(systems=SLUGS).as_json()
    done = {"state": FitState.DONE, "ended_at": NOW + HOUR}
    make_analysis(fit=rated, kind=AnalysisKind.RATERS, result=findings, **done)
    return rated


def page(client, fit, query=""):
    address = reverse("ranking:analysis", args=[fit.study.slug, fit.key, "raters"])
    return client.get(address + query)


def figure(client, fit, query=""):
    address = reverse(
        "ranking:table_figure", args=[fit.study.slug, fit.key, "raters", "radar", "svg"]
    )
    return client.get(address + query)


def drawn(response):
    svg = re.search(r'<svg class="radar".*?</svg>', response.content.decode(), re.DOTALL)
    assert svg is not None
    return re.findall(r"<title>(.*?)</title>", svg[0])


def boxes(response):
    """Return which systems can be ticked, and which are."""
    found = re.findall(
        r'<input type="checkbox" name="systems" value="([\w-]+)"( checked)?>',
        response.content.decode(),
    )
    return {slug: bool(checked) for slug, checked in found}


class TestChoosing:
    def test_draws_the_first_three_and_offers_all(self, client, fit):
        shown = page(client, fit)

        assert drawn(shown) == ["Ash", "Beech", "Cedar"]
        assert boxes(shown) == {slug: slug in {"ash", "beech", "cedar"} for slug in SLUGS}

    @pytest.mark.parametrize("query", ["?systems=oak&systems=ash", "?systems=oak,ash"])
    def test_draws_those_that_the_address_names(self, client, fit, query):
        shown = page(client, fit, query)

        assert drawn(shown) == ["Ash", "Simulated Oak"]
        assert [slug for slug, is_ticked in boxes(shown).items() if is_ticked] == ["ash", "oak"]

    def test_draws_four_at_most_and_says_so(self, client, fit):
        shown = page(client, fit, f"?systems={','.join(SLUGS)}")

        assert drawn(shown) == ["Ash", "Beech", "Cedar", "Elm"]
        said = '<p class="quiet" role="status">Four at most are drawn'
        assert said in shown.content.decode()
        assert said not in page(client, fit).content.decode()

    def test_of_a_system_that_is_not_there_is_not_found(self, client, fit):
        assert page(client, fit, "?systems=willow").status_code == 404
        assert figure(client, fit, "?systems=willow").status_code == 404

    def test_says_which_are_simulated(self, client, fit):
        legend = re.search(
            r'<ul class="legend".*?</ul>',
            page(client, fit, "?systems=oak").content.decode(),
            re.DOTALL,
        )

        assert legend is not None
        assert '<span class="tag">simulated</span>' in legend[0]

    def test_leaves_all_systems_in_the_table_and_the_download(self, client, fit):
        address = reverse("ranking:table_csv", args=[fit.study.slug, fit.key, "raters", "radar"])
        lines = b"".join(client.get(address).streaming_content).decode().splitlines()

        assert [row["system"] for row in csv.DictReader(lines)] == list(SLUGS)
        assert page(client, fit, "?systems=oak").content.decode().count('scope="row">Ash') > 0


class TestPrint:
    def test_is_of_the_same_systems_as_the_page(self, client, fit):
        html = page(client, fit, "?systems=oak,elm").content.decode()
        (address,) = re.findall(r'href="([^"]*radar\.svg[^"]*)"', html)

        svg = client.get(address.replace("&amp;", "&")).content.decode()

        assert address.endswith("?systems=oak,elm")
        assert [one for one in ("Ash", "Elm", "Simulated Oak") if f">{one}<" in svg] == [
            "Elm",
            "Simulated Oak",
        ]

    def test_of_nothing_chosen_has_the_first_three(self, client, fit):
        svg = figure(client, fit).content.decode()

        assert [one for one in map(str.title, SLUGS) if f">{one}<" in svg] == [
            "Ash",
            "Beech",
            "Cedar",
        ]

    def test_says_that_data_are_simulated_also_where_no_simulated_system_is_drawn(
        self, client, fit
    ):
        assert ">SIMULATED<" in figure(client, fit, "?systems=ash,elm").content.decode()

    def test_of_another_picture_takes_no_notice(self, client, fit):
        address = reverse(
            "ranking:table_figure", args=[fit.study.slug, fit.key, "raters", "matrix", "svg"]
        )

        assert client.get(f"{address}?systems=ash").content == client.get(address).content
