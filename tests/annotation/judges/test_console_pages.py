"""The console's pages on judges, and the download of what they say together."""

import csv

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.choices import Protocol
from annotation.judges import services
from annotation.models import Exclusion, JudgeCall
from annotation.studies.rubric import load_rubric
from completions.choices import CallState
from tests.helpers.factories import (
    NOW,
    make_alone,
    make_comparison,
    make_judge,
    make_study,
)
from tests.helpers.judged import delete_text, judge_calls, judge_in_bulk
from tests.helpers.pages import assert_turned_away, text

pytestmark = pytest.mark.django_db

NAMES = [("console:judges", 1), ("console:judged", 2), ("ranking:ensemble_csv", 1)]


def url(study, name="console:judges", *args):
    return reverse(name, args=[study.slug, *args])


def read(answer):
    lines = b"".join(answer.streaming_content).decode().splitlines()
    return list(csv.DictReader(lines))


def asked(*answers, study=None):
    comparison = make_comparison(study=study or make_study())
    for n, said in enumerate(answers):
        judge_calls(comparison, make_judge(name=f"Judge {'ABCD'[n]}"), said)
    return comparison


class TestAccess:
    @pytest.mark.parametrize(("name", "n_args"), NAMES)
    def test_is_for_members_alone(self, name, n_args):
        comparison = asked(["A+1"])

        answer = Client().get(url(comparison.study, name, *[comparison.key][: n_args - 1]))

        assert_turned_away(answer)

    @pytest.mark.parametrize(("name", "n_args"), NAMES)
    def test_of_an_unknown_study_is_not_found(self, admin_client, name, n_args):
        address = reverse(name, args=["none", "key"][:n_args])

        assert admin_client.get(address).status_code == 404


class TestPage:
    def test_says_what_will_stand_there_when_no_judge_was_asked(self, admin_client):
        assert "None was asked about this study yet" in text(admin_client.get(url(make_study())))

    def test_shows_judges_accounts_and_what_needs_a_look(self, admin_client):
        study = make_study()
        comparison = asked(["A+3", "B-1"], ["A-1", "B-2"], study=study)
        asked_too = make_comparison(study=study)
        failed = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "server_error"}
        judge_calls(asked_too, make_judge(name="Judge Z"), ["A?"], **failed)

        answer = admin_client.get(url(study))

        page = text(answer)
        assert all(f"Judge {one}" in page for one in "ABZ")
        assert "server_error: 1" in page
        assert "1 comparison" in page or "2 comparisons" in page
        assert f'href="{url(study, "console:judged", comparison.key)}"' in answer.content.decode()
        assert 'aria-current="page">Judges' in answer.content.decode()

    def test_speaks_of_no_winner_where_messages_are_rated_alone(self, admin_client):
        content = {"rubric": load_rubric("heart-1").content()}
        study = make_study(
            protocol=Protocol.LIKERT, content=content, protocol_hash="locked", locked_at=NOW
        )
        make_alone(study=study)
        services.plan_judge_calls(study=study, judges=[make_judge(name="Judge A")], now=NOW)

        page = text(admin_client.get(url(study)))
        form = text(admin_client.get(url(study, "console:judge_choose")))
        choice = {"judges": make_judge(name="Judge B").slug}
        plan = text(admin_client.get(url(study, "console:judge_plan"), choice))

        assert "Judge A" in page
        assert not any(words in page for words in ("In a verdict", "Position", "Majority"))
        assert "Samples" in form
        assert not any(words in form + plan for words in ("both orders", "One order"))
        assert "Each message alone" in plan
        assert "Start: make 1 call" in plan

    @pytest.mark.parametrize(("show", "is_there"), [("no-majority", True), ("inconsistent", False)])
    def test_lists_one_kind_if_wanted(self, admin_client, show, is_there):
        comparison = asked(["A+3"], ["A-1"])

        page = text(admin_client.get(url(comparison.study), {"show": show}))

        assert (comparison.key in page) == is_there

    def test_does_not_know_another_kind(self, admin_client):
        answer = admin_client.get(url(make_study()), {"show": "all"})

        assert answer.status_code == 404

    def test_goes_to_the_last_page_for_one_beyond_it(self, admin_client):
        comparison = asked(["A+3"], ["A-1"])

        answer = admin_client.get(url(comparison.study), {"page": "999"})

        assert comparison.key in text(answer)

    @pytest.mark.parametrize("is_simulated", [True, False])
    def test_says_simulated_where_it_is(self, admin_client, is_simulated):
        name = "Oak (simulated)" if is_simulated else "Oak"
        comparison = make_comparison()
        judge_calls(comparison, make_judge(name=name, is_simulated=is_simulated), ["A+3", "B-1"])

        for address in (
            url(comparison.study),
            url(comparison.study, "console:judged", comparison.key),
        ):
            assert ("Simulated." in text(admin_client.get(address))) == is_simulated

    def test_names_a_judge_left_out_of_the_analysis(self, admin_client):
        comparison = asked(["A+3"])
        judge = JudgeCall.objects.get().judge
        Exclusion.objects.create(judge=judge, is_excluded=True, rule="by-hand", decided_at=NOW)

        assert "left out of the analysis" in text(admin_client.get(url(comparison.study)))

    def test_says_how_many_comparisons_were_deleted(self, admin_client):
        comparison = asked(["A+3"])
        delete_text(comparison.first_id)

        page = text(admin_client.get(url(comparison.study)))

        assert "1 comparison more is left out" in page

    @pytest.mark.parametrize("n", [1, 12])
    def test_costs_a_fixed_number_of_queries(self, admin_client, n, django_assert_max_num_queries):
        study = make_study()
        judge_in_bulk(
            [make_comparison(study=study) for _ in range(n)], [make_judge(), make_judge()]
        )

        # Session, user and study; how large it is; the page's five, and two of its list.
        with django_assert_max_num_queries(11):
            admin_client.get(url(study))


class TestComparison:
    def test_shows_orders_verdicts_reasons_and_what_was_asked(self, admin_client):
        comparison = asked(["A+3", "B-1"])
        JudgeCall.objects.update(asked={"model": "openai/oak"}, prompt_hash="f" * 64)

        page = text(admin_client.get(url(comparison.study, "console:judged", comparison.key)))

        assert "First shown as A , sample 1: first, strength 3" in page
        assert "First shown as B , sample 2: second, strength 1" in page
        assert "It names the feeling." in page
        assert "openai/oak" in page
        assert "f" * 64 in page
        assert comparison.first.text in page
        assert comparison.second.system.name in page

    def test_escapes_what_a_model_wrote(self, admin_client):
        comparison = asked(["A+3"])
        JudgeCall.objects.update(raw_answer="<script>alert(1)</script>")

        answer = admin_client.get(url(comparison.study, "console:judged", comparison.key))

        assert "<script>alert(1)" not in answer.content.decode()

    @pytest.mark.parametrize(
        ("kind", "words"),
        [
            ("content_filtered", "refused or filtered"),
            ("timeout", "timed out"),
            ("truncated", "cut off"),
            ("empty", "empty"),
            ("server_error", "failed"),
        ],
    )
    def test_says_how_a_call_failed(self, admin_client, kind, words):
        comparison = make_comparison()
        failed = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": kind}
        judge_calls(comparison, make_judge(), ["A?"], **failed)

        page = text(admin_client.get(url(comparison.study, "console:judged", comparison.key)))

        assert f"sample 1: {words}" in page

    def test_that_no_judge_was_asked_about_is_not_found(self, admin_client):
        comparison = make_comparison()

        answer = admin_client.get(url(comparison.study, "console:judged", comparison.key))

        assert answer.status_code == 404

    @pytest.mark.parametrize("n", [1, 3])
    def test_costs_a_fixed_number_of_queries(self, admin_client, n, django_assert_max_num_queries):
        comparison = asked(*[["A+3", "B+1"]] * n)

        with django_assert_max_num_queries(9):
            admin_client.get(url(comparison.study, "console:judged", comparison.key))


class TestCsv:
    def test_has_a_row_per_comparison_with_its_votes(self, admin_client):
        comparison = asked(["A+3", "B+1"], ["A+1", "B-1"], ["A+2"])

        (row,) = read(admin_client.get(url(comparison.study, "ranking:ensemble_csv")))

        assert row["comparison"] == comparison.key
        assert row["first_system"] == comparison.first.system.slug
        assert (row["verdict"], row["votes_first"], row["votes_second"]) == ("FIRST", "2", "0")
        assert (row["judges"], row["consistent"], row["is_simulated"]) == ("3", "False", "False")
        assert [row[f"judge_Judge {one}"] for one in "ABC"] == ["FIRST", "UNSETTLED", "FIRST"]

    def test_has_the_word_simulated_in_every_row_of_a_simulated_judge(self, admin_client):
        comparison = make_comparison()
        judge_calls(comparison, make_judge(name="Oak (simulated)", is_simulated=True), ["A+3"])

        (row,) = read(admin_client.get(url(comparison.study, "ranking:ensemble_csv")))

        assert row["is_simulated"] == "True"
        assert row["judge_Oak (simulated)"] == "FIRST"

    def test_sends_its_head_before_any_comparison_is_read(self, admin_client):
        comparison = asked(["A+3"])
        answer = admin_client.get(url(comparison.study, "ranking:ensemble_csv"))

        with CaptureQueriesContext(connection) as asked_for:
            head = next(iter(answer.streaming_content)).decode()

        assert head.strip().endswith("judge_Judge A")
        assert not any('FROM "annotation_comparison"' in query["sql"] for query in asked_for)

    def test_is_empty_where_a_judge_was_not_asked(self, admin_client):
        study = make_study()
        first, second = make_judge(name="Ash"), make_judge(name="Oak")
        for judge in (first, second):
            judge_calls(make_comparison(study=study), judge, ["A+1"])

        rows = read(admin_client.get(url(study, "ranking:ensemble_csv")))

        assert [(row["judge_Ash"], row["judge_Oak"]) for row in rows] == [
            ("FIRST", ""),
            ("", "FIRST"),
        ]

    def test_leaves_out_judges_and_comparisons_that_do_not_count(self, admin_client):
        study = make_study()
        asked(["A+3"], ["A-1"], study=study)
        judge = JudgeCall.objects.get(judge__name="Judge B").judge
        Exclusion.objects.create(judge=judge, is_excluded=True, rule="by-hand", decided_at=NOW)
        erased = make_comparison(study=study)
        judge_calls(erased, make_judge(name="Judge C"), ["A+3"])
        delete_text(erased.first_id)

        (row,) = read(admin_client.get(url(study, "ranking:ensemble_csv")))

        assert (row["judges"], row["verdict"]) == ("1", "FIRST")
        assert "judge_Judge B" not in row

    @pytest.mark.parametrize("n", [1, 12])
    def test_costs_a_fixed_number_of_queries(self, admin_client, n, django_assert_max_num_queries):
        study = make_study()
        judge_in_bulk([make_comparison(study=study) for _ in range(n)], [make_judge()])

        with django_assert_max_num_queries(7):
            rows = read(admin_client.get(url(study, "ranking:ensemble_csv")))

        assert len(rows) == n
