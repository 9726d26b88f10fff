"""The console's page of exports, and what it leads to."""

import csv
import io
import json
import re

import pytest
from django.urls import reverse

from access.choices import Role
from annotation.models import Study
from completions.models import Dataset
from ranking.exports.data_dictionary import TABLES
from tests.helpers.factories import make_study
from tests.helpers.factories_written_once import make_member
from tests.helpers.released import make_mixed_study

pytestmark = pytest.mark.django_db


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


class TestPage:
    def test_leads_to_every_export_and_each_answers(self, analyst, study):
        html = page(analyst, study).content.decode()

        links = re.findall(rf'href="(/console/{study.slug}/exports/[^"]+\.\w+)"', html)
        assert len(links) == 3 * (len(TABLES) - 1) + 1 + 3
        for link in links:
            answer = analyst.get(link)
            assert answer.status_code == 200
            assert answer["Content-Disposition"].startswith("attachment")

    def test_counts_rows(self, analyst, study):
        html = page(analyst, study).content.decode()

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

    def test_asks_few_queries(self, analyst, study, django_assert_max_num_queries):
        with django_assert_max_num_queries(15):
            page(analyst, study)

    @pytest.mark.parametrize("name", ["exports", "export", "dictionary"])
    def test_is_for_members_alone(self, client, study, name):
        last = {"exports": [], "export": ["judgments", "csv"], "dictionary": ["csv"]}[name]

        answer = client.get(reverse(f"raters:{name}", args=[study.slug, *last]))

        assert answer.status_code == 302


class TestDownloads:
    def test_say_in_their_name_what_they_are(self, analyst, study):
        named = f'filename="simulated-{study.slug}-judgments.parquet"'

        assert named in download(analyst, study, form="parquet")["Content-Disposition"]

    def test_are_streamed(self, analyst, study):
        assert download(analyst, study, form="jsonl").streaming

    def test_follow_the_choices(self, analyst, study):
        plain, chosen = (
            body(download(analyst, study, query=query)).decode()
            for query in ("", "?blinded=on&bom=on&rationales=0")
        )

        assert "first_system" in plain
        assert chosen.startswith("\ufeffcomparison")
        assert "first_system" not in chosen
        assert "rationale" not in chosen

    def test_of_pairs_follow_the_rule(self, analyst, study):
        query = "?pool=LLM&least_agreement=1&split=train"
        found = body(download(analyst, study, "preferences", "jsonl", query)).splitlines()

        rows = [json.loads(line) for line in found]
        assert rows
        assert {row["pool"] for row in rows} == {"LLM"}
        assert {row["split"] for row in rows} == {"train"}
        assert {row["agreement"] for row in rows} == {1.0}

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

        rows = list(csv.DictReader(io.StringIO(body(answer).decode(), newline="")))
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
