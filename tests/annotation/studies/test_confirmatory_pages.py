"""Confirmatory and exploratory analyses, told apart wherever they are shown or leave."""

import csv
import re

import pytest
from django.urls import reverse

from annotation.models import Study
from completions.files.toml import content_hash
from ranking.choices import AnalysisKind, FitState
from tests.helpers.factories import HOUR, NOW, make_study, make_system
from tests.helpers.factories_written_once import make_analysis
from tests.helpers.pages import text
from tests.helpers.rated import make_findings, make_rated_fit
from tests.ranking.results.test_weights_pages import address as weights_address
from tests.ranking.results.test_weights_pages import analysed as weights_analysed

pytestmark = pytest.mark.django_db

SAYS = "Confirmatory: named in the protocol before the judgments were seen."
ASKS = "Exploratory: it was not named in the protocol before the judgments were seen."


def study_naming(confirmatory, weights=()):
    study = make_study()
    content = study.content | {
        "analysis": {"confirmatory": list(confirmatory), "weights": dict(weights)}
    }
    changed = {"content": content, "protocol_hash": content_hash(content)}
    Study.objects.filter(pk=study.pk).update(**changed)
    return Study.objects.get(pk=study.pk)


def fit_naming(*confirmatory, weights=(), systems=("ash", "beech", "cedar")):
    """A fit of which pairs and style were analysed, as if neither knew of the file."""
    rated = [make_system(slug=slug) for slug in systems]
    fit = make_rated_fit(rated, study=study_naming(confirmatory, weights))
    for kind in (AnalysisKind.PAIRS, AnalysisKind.STYLE):
        result = make_findings().as_json()
        done = {"state": FitState.DONE, "ended_at": NOW + HOUR, "result": result}
        make_analysis(fit=fit, kind=kind, **done)
    return fit


@pytest.fixture
def fit():
    return fit_naming("pairs")


def address(fit, kind, name="analysis", *more):
    return reverse(f"ranking:{name}", args=[fit.study.slug, fit.key, kind, *more])


CASES = pytest.mark.parametrize(
    ("kind", "is_exploratory"), [("pairs", False), ("style", True)], ids=["named", "not named"]
)


@CASES
class TestAnAnalysis:
    def test_says_on_its_page_by_word_sign_and_border(self, client, fit, kind, is_exploratory):
        page = client.get(address(fit, kind))

        (heading,) = re.findall(r"<h1>.*?</h1>", page.content.decode(), flags=re.DOTALL)
        sign, style = ("?", "explores") if is_exploratory else ("✓", "confirms")
        assert f'class="tag {style}"><span aria-hidden="true">{sign}</span>' in heading
        assert ("exploratory" in heading) is is_exploratory
        assert ("confirmatory" in heading) is not is_exploratory
        assert (ASKS in text(page)) is is_exploratory
        assert (SAYS in text(page)) is not is_exploratory

    def test_says_it_in_the_list(self, client, fit, kind, is_exploratory):
        leaderboard = reverse("ranking:leaderboard", args=[fit.study.slug])
        html = client.get(leaderboard).content.decode()

        (line,) = [
            one
            for one in re.findall(r"<li>.*?</li>", html, flags=re.DOTALL)
            if address(fit, kind) in one
        ]
        assert ("exploratory" in line) is is_exploratory
        assert ("confirmatory" in line) is not is_exploratory

    def test_says_it_in_each_row_of_its_csv(self, client, fit, kind, is_exploratory):
        answer = client.get(address(fit, kind, "table_csv", "differences"))

        rows = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))
        assert {row["is_exploratory"] for row in rows} == {str(is_exploratory)}

    def test_says_it_in_its_json_and_in_the_api(self, client, fit, kind, is_exploratory):
        api = f"/api/v1/studies/{fit.study.slug}/fits/{fit.key}/"

        for place in (address(fit, kind, "analysis_json"), f"{api}analyses/{kind}/"):
            assert client.get(place).json()["is_exploratory"] is is_exploratory
        listed = {one["analysis"]: one for one in client.get(api).json()["analyses"]}
        assert listed[kind]["is_exploratory"] is is_exploratory

    def test_says_it_on_its_figures_for_print(self, client, fit, kind, is_exploratory):
        svg = client.get(address(fit, kind, "table_figure", "matrix", "svg")).content.decode()

        assert ("exploratory" in svg) is is_exploratory
        assert ("confirmatory" in svg) is not is_exploratory


class TestAStudy:
    def test_that_names_nothing_only_explores(self, client):
        fit = make_rated_fit([make_system(slug="ash")])
        result = make_findings(is_exploratory=False).as_json()  # as stored by earlier code
        done = {"state": FitState.DONE, "ended_at": NOW + HOUR, "result": result}
        make_analysis(fit=fit, kind=AnalysisKind.PAIRS, **done)

        assert ASKS in text(client.get(address(fit, "pairs")))
        assert client.get(address(fit, "pairs", "analysis_json")).json()["is_exploratory"] is True

    def test_whose_file_was_amended_says_so_and_confirms_nothing(self, client, fit):
        named = ["pairs", "style"]
        content = fit.study.content | {"analysis": {"confirmatory": named, "weights": {}}}
        Study.objects.filter(pk=fit.study.pk).update(content=content)

        page = client.get(address(fit, "pairs"))

        assert ASKS in text(page)
        assert "is not the one that it was locked and judged under" in text(page)

    def test_costs_one_query_more_for_what_it_names(
        self, client, fit, django_assert_max_num_queries
    ):
        # study, fit, analysis, first judgment, which others there are, systems, judges, raters
        with django_assert_max_num_queries(8):
            assert client.get(address(fit, "pairs")).status_code == 200


class TestNamedWeights:
    @pytest.fixture
    def weighed(self):
        fit = fit_naming("weights", weights={"H": 1, "E": 3, "T": 0})
        weights_analysed(fit)
        return fit

    def test_are_what_the_page_begins_with(self, client, weighed):
        page = client.get(weights_address(weighed))

        assert SAYS in text(page)
        assert "Dimension E 75 %" in text(page)
        assert re.search(r'name="E" type="number"[^>]* value="3', page.content.decode())
        stored = client.get(address(weighed, "weights", "analysis_json")).json()
        assert stored["is_exploratory"] is True, "equal ones are not the named ones"

    @pytest.mark.parametrize(
        ("query", "is_exploratory"),
        [("?H=2&E=6", False), ("?H=3&E=1", True), ("?H=1&E=1&T=1", True)],
        ids=["the same ratios", "others", "equal"],
    )
    def test_alone_are_confirmatory(self, client, weighed, query, is_exploratory):
        page = client.get(weights_address(weighed, query))
        content = client.get(weights_address(weighed, query, "weighed_json")).json()
        lines = client.get(weights_address(weighed, query, "weighed_csv")).streaming_content
        rows = list(csv.DictReader(b"".join(lines).decode().splitlines()))

        assert (ASKS in text(page)) is is_exploratory
        assert content["is_exploratory"] is is_exploratory
        assert {row["is_exploratory"] for row in rows} == {str(is_exploratory)}

    def test_of_a_dimension_that_is_not_rated_are_not_shown(self, client):
        fit = fit_naming("weights", weights={"H": 1, "A": 1})
        weights_analysed(fit)

        page = client.get(weights_address(fit))

        assert ASKS in text(page)
        assert "The ranking under these weights" not in text(page)
