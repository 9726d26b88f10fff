"""The console's page of exports, what it leads to, and the tables of results as CSV."""

import csv
import io
import json
import re

import pytest
from django.urls import reverse

from access.choices import Role
from annotation.models import Study
from completions.models import Context, Dataset
from ranking.choices import EvaluatorPool
from ranking.exports.sources import COUNTED
from ranking.exports.tables import TABLES
from tests.heart_site.permissions import TABLE
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_completion,
    make_judgment,
    make_study,
    make_system,
)
from tests.helpers.factories_written_once import make_member
from tests.helpers.judged import fit_one, make_judged_study, make_study_of_people
from tests.helpers.rated import close
from tests.helpers.released import make_mixed_study

pytestmark = pytest.mark.django_db

OF_FITS, OF_THE_TEAM = "history", "log"
OF_STUDIES = [
    route
    for route in TABLE
    if re.search(r"<slug:study>/[^<]*(<slug:code>/\w+)?\.csv$", route)
    and not {OF_FITS, OF_THE_TEAM} & set(re.split(r"[/.]", route))
]
"""Addresses of tables about a study's data."""


@pytest.fixture(scope="module")
def key(module_rows):
    study = make_mixed_study()
    Dataset.objects.update(licence="CC BY 4.0")
    return study.pk


@pytest.fixture
def study(key):
    return Study.objects.get(pk=key)


@pytest.fixture
def analyst(client):
    client.force_login(make_member("ana", role=Role.ANALYST))
    return client


def page(client, study, query=""):
    return client.get(reverse("raters:exports", args=[study.slug]) + query)


def download(client, study, name="judgments", form="csv", query=""):
    return client.get(reverse("raters:export", args=[study.slug, name, form]) + query)


def body(response):
    return b"".join(response.streaming_content)


def table(content):
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


class TestPage:
    def test_needs_no_number_of_rows_of_an_export(self, analyst, study, monkeypatch):
        monkeypatch.delitem(COUNTED, "raters")

        assert page(analyst, study).status_code == 200

    def test_leads_to_every_export_and_each_answers(self, analyst, study):
        html = page(analyst, study).content.decode()

        assert ">Parquet</a>" in html
        links = re.findall(rf'href="(/console/{study.slug}/exports/[^"]+\.\w+)"', html)
        assert len(links) == 3 * (len(TABLES) - 1) + 1 + 3
        for link in links:
            answer = analyst.get(link)
            assert answer.status_code == 200
            assert answer["Content-Disposition"].startswith("attachment")
        n_rows = len(body(download(analyst, study, form="jsonl")).splitlines())
        assert re.search(rf'Judgments <small>.*?<td class="number">{n_rows}</td>', html, re.DOTALL)

    def test_says_simulated_where_anything_is(self, analyst, study):
        assert "Simulated." in page(analyst, study).content.decode()
        assert "Simulated." not in page(analyst, make_study()).content.decode()

    def test_says_what_the_licence_keeps_back(self, analyst, study):
        Dataset.objects.update(licence="All rights reserved", is_authored=False)

        html = page(analyst, study).content.decode()

        assert "All rights reserved" in html
        assert "preferences.jsonl" not in html

    def test_hands_choices_on_to_the_downloads(self, analyst, study):
        html = page(analyst, study, "?blinded=on&bom=on").content.decode()

        assert "exports/judgments.csv?blinded=on&amp;bom=on" in html

    def test_shows_what_is_wrong_with_a_choice(self, analyst, study):
        answer = page(analyst, study, "?least_agreement=7")

        assert answer.status_code == 422
        assert "less than or equal to 1" in answer.content.decode()


class TestDownloads:
    def test_are_streamed_under_a_name_that_says_what_they_are(self, analyst, study):
        answer = download(analyst, study, form="parquet")

        named = f'filename="simulated-{study.slug}-judgments.parquet"'
        assert named in answer["Content-Disposition"]
        assert answer.streaming

    def test_follow_the_choices(self, analyst, study):
        query = "?blinded=on&bom=on&rationales=0"

        chosen = body(download(analyst, study, query=query)).decode()

        assert chosen.startswith("\ufeffcomparison")
        assert "first_system" not in chosen
        assert "rationale" not in chosen

    def test_of_pairs_follow_the_rule(self, analyst, study):
        query = "?pool=LLM&least_agreement=1&split=train"
        found = body(download(analyst, study, "preferences", "jsonl", query)).splitlines()

        rows = map(json.loads, found)
        told = {(row["pool"], row["split"], row["agreement"]) for row in rows}
        assert told == {("LLM", "train", 1.0)}

    @pytest.mark.parametrize("holds_simulated", [True, False])
    @pytest.mark.parametrize("route", OF_STUDIES)
    def test_of_a_study_say_in_their_name_if_anything_in_it_is_simulated(
        self, admin_client, route, holds_simulated
    ):
        shown = make_judgment().comparison.study
        Context.objects.update(is_simulated=holds_simulated)
        rater = shown.raters.get()
        address = route.replace("<slug:study>", shown.slug).replace("<slug:code>", rater.code)

        answer = admin_client.get(f"/{address}")

        named = answer["Content-Disposition"].partition('filename="')[2]
        assert named.removeprefix("embargoed-").startswith("simulated-") is holds_simulated
        assert shown.slug in named

    def test_of_coverage_say_so_of_a_simulated_system_that_is_not_compared(self, admin_client):
        shown = make_judgment().comparison.study
        context = shown.comparisons.get().context
        make_completion(
            context=context, system=make_system(name="Simulated Oak", is_simulated=True)
        )

        answer = admin_client.get(reverse("raters:coverage_csv", args=[shown.slug]))

        assert f'"simulated-{shown.slug}-coverage.csv"' in answer["Content-Disposition"]

    @pytest.mark.parametrize(
        ("name", "form", "query", "status"),
        [
            ("judgments", "xlsx", "", 404),
            ("secrets", "csv", "", 409),
            ("preferences", "csv", "", 409),
            ("judgments", "csv", "?least_agreement=x", 404),
        ],
        ids=["form", "name", "nested", "choice"],
    )
    def test_that_cannot_be_had_say_why(self, analyst, study, name, form, query, status):
        answer = download(analyst, study, name, form, query)

        assert answer.status_code == status
        assert answer.content.strip()


class TestDictionary:
    def test_names_the_columns_of_the_study(self, analyst, study):
        answer = analyst.get(reverse("raters:dictionary", args=[study.slug, "csv"]))

        rows = table(body(answer))
        header = body(download(analyst, study)).decode().splitlines()[0].split(",")
        assert [row["column"] for row in rows if row["table"] == "judgments"] == header

    def test_comes_as_json_and_as_a_page(self, analyst, study):
        as_json, as_page, none = (
            analyst.get(reverse("raters:dictionary", args=[study.slug, form]))
            for form in ("json", "md", "txt")
        )

        assert set(as_json.json()) == {table.name for table in TABLES}
        assert "| `why_not` |" in as_page.content.decode()
        assert none.status_code == 404


class TestJudgmentsCsv:
    def test_stand_where_they_always_were_at_the_same_cost_for_any_number(
        self, admin_client, django_assert_max_num_queries
    ):
        study = make_judged_study(with_llm=True)
        make_judgment()
        address = reverse("ranking:judgments_csv", args=[study.slug])

        # who asks, the study, what is simulated, rules, rows
        with django_assert_max_num_queries(13):
            found = body(admin_client.get(address))

        assert len(table(found)) == 24
        assert found == body(download(admin_client, study))


def ratings_csv(client, fit):
    return table(body(client.get(reverse("ranking:ratings_csv", args=[fit.study.slug, fit.key]))))


class TestRatingsCsv:
    def test_has_a_row_per_system_best_first_and_leaves_cells_without_marks_empty(self, client):
        systems = [make_system(name="=Ash"), make_system(name="Beech")]
        study = make_judged_study(systems=systems, with_llm=True, verdict=lambda *_: 1)
        fit = fit_one(close(study), NOW + HOUR, EvaluatorPool.LLM)

        rows = ratings_csv(client, fit)

        told = ("system", "win_per_cent", "win_per_cent_H", "win_per_cent_E", "fit")
        assert [tuple(row[name] for name in told) for row in rows] == [
            ("'=Ash", "100.0", "100.0", "", fit.key),
            ("Beech", "0.0", "0.0", "", fit.key),
        ]
        assert sum(float(row["elo"]) for row in rows) == pytest.approx(3000.0)

    def test_ends_with_what_is_made_from_people_which_is_no_system(self, client):
        fit = fit_one(close(make_study_of_people()), NOW + HOUR)

        rows = ratings_csv(client, fit)

        assert [row["derived"] for row in rows] == [
            *[""] * 3,
            "Average Human",
            "Mean of the texts of a context",
            "Random text of a context",
            "Best Human, cross-fitted",
            "Best Human, plain",
        ]
        for row in rows[3:]:
            assert (row["system"], row["rank"], row["kind"]) == ("", "", "DERIVED")
            assert float(row["elo_low"]) <= float(row["elo"]) <= float(row["elo_high"])
            assert int(row["n_judgments"]) > 0
        assert None not in rows[3]  # as many cells as columns
