"""The ranking under weights of the dimensions: shipped examples, the page, the downloads."""

import re

import numpy as np
import pytest
from django.urls import reverse

from annotation.studies.rubric import load_rubric
from ranking.analyses.weights import JointBoards
from ranking.choices import AnalysisKind, FitState
from ranking.findings import Findings
from ranking.models import Fit
from ranking.numerics.composites import JointRatings
from ranking.results.weights import SHIPPED, ExamplesError, examples_for, parse_examples
from tests.helpers.factories import HOUR, NOW, make_system
from tests.helpers.factories_written_once import make_analysis
from tests.helpers.pages import charts, rows_of, text
from tests.helpers.rated import make_rated_fit

pytestmark = pytest.mark.django_db

SYSTEMS = ("ash", "beech", "cedar")
ELO = np.array([[1600.0, 1500.0, 1400.0], [1400.0, 1500.0, 1600.0], [1510.0, 1490.0, 1500.0]])
KEYS = ("H", "E", "T")


ONE = """
[[examples]]
rubric = "heart"
slug = "one"
name = "One"
reason = "Because."
weights = {weights}
"""


@pytest.fixture
def fit():
    beech = make_system(slug="beech", name="Simulated Beech", is_simulated=True)
    ash, cedar = (make_system(slug=slug, name=slug.title()) for slug in ("ash", "cedar"))
    return make_rated_fit([ash, beech, cedar])


def kept():
    noise = np.random.default_rng(5).normal(scale=10.0, size=(200, *ELO.shape))
    ratings = JointRatings(ELO, ELO + noise, np.array([60, 60, 60]))
    return JointBoards(KEYS, SYSTEMS, ratings, 0.95).as_stored()


def analysed(fit, **fields):
    result = Findings("Weighted.", (), ("A warning.",), kept=kept()).as_json()
    done = {"state": FitState.DONE, "ended_at": NOW + HOUR, "result": result}
    return make_analysis(fit=fit, kind=AnalysisKind.WEIGHTS, **done | fields)


def address(fit, query="", name="weights"):
    return reverse(f"ranking:{name}", args=[fit.study.slug, fit.key]) + query


class TestExamplesOfWeights:
    def test_weigh_the_dimensions_of_their_rubric(self):
        known = set(load_rubric("heart-1").keys)

        found = examples_for("heart")

        assert [one.slug for one in found] == ["crisis-line", "wellness-app"]
        for one in found:
            assert set(one.weights) == known
            assert len(set(one.weights.values())) > 1
            assert len(one.reason) > 40
        assert "They are examples" in SHIPPED.read_text(encoding="utf-8")
        assert examples_for("kindness") == ()

    @pytest.mark.parametrize("weights", ["{ H = -1 }", "{ H = inf }", '{ H = "much" }'])
    def test_that_are_no_weights_are_refused(self, weights):
        with pytest.raises(ExamplesError, match=r"one\.toml: examples\.0\.weights\.H"):
            parse_examples(ONE.replace("{weights}", weights), source="one.toml")


class TestPage:
    def test_asks_for_a_number_per_dimension_and_begins_with_equal_ones(self, client, fit):
        analysed(fit)

        page = client.get(address(fit))
        html = page.content.decode()

        for key in KEYS:
            assert re.search(rf'<label for="weight-{key}">', html)
            assert re.search(rf'id="weight-{key}" name="{key}" type="number"[^>]* value="1"', html)
        assert "Dimension H" in text(page)
        assert 'method="get"' in html
        assert 'id="weighted"' not in html
        assert not re.findall(r"<script|<style|\sstyle=|\son\w+=", html)

    def test_shows_the_ranking_of_the_weights_beside_equal_ones_with_downloads(self, client, fit):
        analysed(fit)

        page = client.get(address(fit, "?H=0&E=3&T=1"))
        shown, html = text(page), page.content.decode().replace("&amp;", "&")

        # Cedar has 3/4 of 1600 and 1/4 of 1500, and with equal weights 1500
        assert re.search(r"Cedar 1,?575 1,?\d+ 1,?\d+ 1 1 1,?500", shown)
        assert "What these weights change" in shown
        assert "Dimension E 75 %" in shown
        assert "Simulated Beech simulated" in shown
        assert re.search(r'name="E" type="number"[^>]* value="3"', html)
        for name in ("weighed_csv", "weighed_json"):
            assert address(fit, "?H=0&E=0.75&T=0.25", name) in html

    @pytest.mark.parametrize("is_simulated", [True, False])
    def test_marks_its_chart_where_only_those_who_judged_are_simulated(self, client, is_simulated):
        systems = [make_system(slug=slug) for slug in SYSTEMS]
        fit = make_rated_fit(systems, is_simulated=is_simulated)
        analysed(fit)

        drawn = charts(client.get(address(fit, "?H=1&E=3")))

        assert drawn["weighted"].get("isSimulated", False) is is_simulated

    def test_offers_examples_with_reasons_and_says_which_is_shown(self, client, fit):
        analysed(fit)
        # without the dimensions A and R the shipped examples cannot be had
        assert "Examples of weights" not in text(client.get(address(fit)))

        elo = np.array([*ELO, *ELO[:2]])
        ratings = JointRatings(elo, np.stack([elo] * 9), np.array([60] * 5))
        five = JointBoards(tuple("HEART"), SYSTEMS, ratings, 0.95).as_stored()
        fit.analyses.update(result=Findings("W.", (), kept=five).as_json())
        page = client.get(address(fit, "?H=2&E=4&A=4&R=2&T=8"))

        assert "Examples with their reasons, not advice" in text(page)
        current = re.findall(r'aria-current="true"><b>([^<]+)', page.content.decode())
        assert current == ["Crisis line"]
        assert "?H=3&amp;E=2&amp;A=2&amp;R=3&amp;T=1" in page.content.decode()

    def test_costs_the_same_queries_for_any_weights(
        self, client, fit, django_assert_max_num_queries
    ):
        analysed(fit)

        # study, fit, its analysis, which others there are, systems, judges, raters
        with django_assert_max_num_queries(7):
            assert client.get(address(fit, "?H=1&E=2&T=3")).status_code == 200

    def test_is_that_of_any_analysis_until_there_is_something_to_weigh(self, client, fit):
        assert client.get(address(fit)).status_code == 404
        made = make_analysis(fit=fit, kind=AnalysisKind.WEIGHTS)
        assert "Being computed" in text(client.get(address(fit, "?H=1")))

        refused = {"state": FitState.REFUSED, "refusal": "No marks.", "ended_at": NOW + HOUR}
        type(made).objects.update(**refused)

        assert "No marks." in text(client.get(address(fit)))


WRONG = [
    ("?H=-1&E=2", "Dimension H", "A weight cannot be below 0."),
    ("?H=much&E=2", "Dimension H", "Please give a number, such as 2 or 0.5."),
    ("?H=nan&E=2", "Dimension H", "Please give a number, such as 2 or 0.5."),
    ("?H=inf", "Dimension H", "Please give a number, such as 2 or 0.5."),
    ("?H=1001", "Dimension H", "Please stay within 1000"),
    ("?H=1&H=2", "Dimension H", "The address has this weight more than once."),
    ("?H=0&E=0&T=0", "", "One dimension at least needs a weight above 0."),
    ("?H=&E=", "", "One dimension at least needs a weight above 0."),
    ("?H=1&Z=2", "", "No dimension here is called Z. There are H, E, T."),
]
IDS = [query for query, _, _ in WRONG]


@pytest.mark.parametrize(("query", "label", "message"), WRONG, ids=IDS)
def test_wrong_weights_are_answered_in_words_and_give_no_download(
    client, fit, query, label, message
):
    analysed(fit)

    page = client.get(address(fit, query))

    assert page.status_code == 400
    assert message in text(page)
    assert 'role="alert"' in page.content.decode()
    asked = dict(re.findall(r"(\w)=([^&]*)", query))
    for key in set(asked) & set(KEYS):  # what was asked for is kept
        assert re.search(rf'name="{key}"[^>]* value="{asked[key]}"', page.content.decode())
    if label:
        assert 'aria-describedby="weight-H_error"' in page.content.decode()
    for name in ("weighed_csv", "weighed_json"):
        answer = client.get(address(fit, query, name))
        assert answer.status_code == 400
        assert answer["Content-Type"].startswith("text/plain")
        assert label in answer.content.decode()
        assert message in answer.content.decode()


class TestDownloads:
    def test_as_csv_have_the_weights_in_columns_and_in_the_name(self, client, fit):
        analysed(fit)

        answer = client.get(address(fit, "?H=1&E=3&T=0", "weighed_csv"))

        name = f"{fit.study.slug}-{fit.key}-weights-H0.25-E0.75-T0.csv"
        assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
        rows = rows_of(answer)
        assert [row["system"] for row in rows] == ["cedar", "beech", "ash"]
        for row in rows:
            assert (row["weight_H"], row["weight_E"], row["weight_T"]) == ("0.25", "0.75", "0.0")
            assert (row["fit"], row["fit_is_simulated"]) == (fit.key, "False")
        # Cedar: 1550 instead of 1500, from the second place to the first
        assert (float(rows[0]["value"]), float(rows[0]["equal"])) == (1550.0, 1500.0)
        assert (rows[0]["places"], float(rows[0]["change"])) == ("1", 50.0)

    def test_as_json_have_the_weights_and_the_terms(self, client, fit):
        analysed(fit)
        Fit.objects.update(is_simulated=True)

        answer = client.get(address(fit, "?H=1&E=3&T=0", "weighed_json"))

        name = f"simulated-{fit.study.slug}-{fit.key}-weights-H0.25-E0.75-T0.json"
        assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
        content = answer.json()
        assert content["weights"] == {"H": 0.25, "E": 0.75, "T": 0.0}
        assert content["analysis"] == "weights"
        assert content["fit_is_simulated"] is True
        assert content["warnings"] == ["A warning."]
        assert [table["key"] for table in content["tables"]] == ["weighted"]
        of_analysis = reverse("ranking:analysis_json", args=[fit.study.slug, fit.key, "weights"])
        for found in (content, client.get(of_analysis).json()):
            assert "kept" not in found  # for pages

    @pytest.mark.parametrize("name", ["weighed_csv", "weighed_json"])
    def test_of_what_is_not_there_are_not_found(self, client, fit, name):
        assert client.get(address(fit, "?H=1", name)).status_code == 404
