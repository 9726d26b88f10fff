"""The console's pages on what judges say, and the download of what they say together."""

import csv

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.choices import Protocol
from annotation.judges.services import runs
from annotation.models import Exclusion, JudgeCall
from annotation.studies.rubric import load_rubric
from completions.choices import CallState
from tests.helpers.factories import (
    NOW,
    make_alone,
    make_comparison,
    make_judge,
    make_judge_call,
    make_study,
)
from tests.helpers.judged import delete_text, judge_calls, judge_in_bulk
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

LEFT_OUT = {"is_excluded": True, "rule": "by-hand", "decided_at": NOW}


def url(study, name="console:judges", *args):
    return reverse(name, args=[study.slug, *args])


def url_of(comparison):
    return url(comparison.study, "console:judged", comparison.key)


def rows_of(client, study):
    answer = client.get(url(study, "ranking:ensemble_csv"))
    return list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))


def asked(*answers, study=None):
    comparison = make_comparison(study=study or make_study())
    for n, said in enumerate(answers):
        judge_calls(comparison, make_judge(name=f"Judge {'ABCD'[n]}"), said)
    return comparison


class TestPage:
    def test_says_what_will_stand_there_when_no_judge_was_asked(self, admin_client):
        assert "None was asked about this study yet" in text(admin_client.get(url(make_study())))

    def test_shows_accounts_what_is_left_out_and_what_needs_a_look(self, admin_client):
        study = make_study()
        comparison = asked(["A+3", "B-1"], ["A-1", "B-2"], study=study)
        failed = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "server_error"}
        judge = make_judge(name="Judge Z")
        judge_calls(make_comparison(study=study), judge, ["A?"], **failed)
        Exclusion.objects.create(judge=judge, **LEFT_OUT)
        erased = make_comparison(study=study)
        judge_calls(erased, judge, ["A+3"])
        delete_text(erased.first_id)

        answer = admin_client.get(url(study))

        page = text(answer)
        assert all(f"Judge {one}" in page for one in "ABZ")
        assert "server_error: 1" in page
        assert "left out of the analysis" in page
        assert "1 comparison more is left out" in page
        assert "Simulated." not in page
        assert f'href="{url_of(comparison)}"' in answer.content.decode()
        assert 'aria-current="page">Judges' in answer.content.decode()

    def test_speaks_of_no_winner_where_messages_are_rated_alone(self, admin_client):
        content = {"rubric": load_rubric("heart-1").content()}
        study = make_study(protocol=Protocol.LIKERT, content=content)
        make_alone(study=study)
        runs.plan_judge_calls(study=study, judges=[make_judge(name="Judge A")], now=NOW)

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

    def test_lists_the_kind_that_is_asked_for_and_knows_no_other(self, admin_client):
        comparison = asked(["A+3"], ["A-1"])
        address = url(comparison.study)

        assert comparison.key in text(admin_client.get(address, {"show": "no-majority"}))
        assert comparison.key not in text(admin_client.get(address, {"show": "inconsistent"}))
        assert comparison.key in text(admin_client.get(address, {"page": "9"}))  # the last
        assert admin_client.get(address, {"show": "all"}).status_code == 404

    def test_costs_few_queries_for_any_number_of_calls(
        self, admin_client, django_assert_max_num_queries
    ):
        study = make_study()
        pairs = [make_comparison(study=study) for _ in range(12)]
        judge_in_bulk(pairs, [make_judge(), make_judge()])

        # Session, user and study; how large it is; the page's five, and two of its list.
        with django_assert_max_num_queries(11):
            admin_client.get(url(study))
        with django_assert_max_num_queries(9):
            admin_client.get(url_of(pairs[0]))
        with django_assert_max_num_queries(7):
            assert len(rows_of(admin_client, study)) == 12


class TestComparison:
    def test_shows_orders_verdicts_reasons_and_what_was_asked(self, admin_client):
        comparison = asked(["A+3", "B-1"])
        JudgeCall.objects.update(
            asked={"model": "openai/oak"},
            prompt_hash="f" * 64,
            raw_answer="<script>alert(1)</script>",
        )

        answer = admin_client.get(url_of(comparison))

        page = text(answer)
        assert "First shown as A , sample 1: first, strength 3" in page
        assert "First shown as B , sample 2: second, strength 1" in page
        assert "It names the feeling." in page
        assert "openai/oak" in page
        assert "f" * 64 in page
        assert comparison.first.text in page
        assert comparison.second.system.name in page
        assert "Simulated." not in page
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

        assert f"sample 1: {words}" in text(admin_client.get(url_of(comparison)))

    def test_that_no_judge_was_asked_about_is_not_found(self, admin_client):
        assert admin_client.get(url_of(make_comparison())).status_code == 404


def test_pages_and_download_say_simulated_where_a_judge_is(admin_client):
    comparison = make_comparison()
    judge_calls(comparison, make_judge(name="Oak (simulated)", is_simulated=True), ["A+3"])

    for address in (url(comparison.study), url_of(comparison)):
        assert "Simulated." in text(admin_client.get(address))
    (row,) = rows_of(admin_client, comparison.study)
    assert (row["is_simulated"], row["judge_Oak (simulated)"]) == ("True", "FIRST")


class TestCsv:
    def test_has_a_row_per_comparison_with_its_votes(self, admin_client):
        comparison = asked(["A+3", "B+1"], ["A+1", "B-1"], ["A+2"])
        alone = make_comparison(study=comparison.study)
        judge_calls(alone, make_judge(name="Judge D"), ["A-1"])

        row, other = rows_of(admin_client, comparison.study)

        assert row["comparison"] == comparison.key
        assert row["first_system"] == comparison.first.system.slug
        assert (row["verdict"], row["votes_first"], row["votes_second"]) == ("FIRST", "2", "0")
        assert (row["judges"], row["consistent"], row["is_simulated"]) == ("3", "False", "False")
        votes = [[one[f"judge_Judge {name}"] for name in "ABCD"] for one in (row, other)]
        assert votes == [["FIRST", "UNSETTLED", "FIRST", ""], ["", "", "", "SECOND"]]

    def test_sends_its_head_before_any_comparison_is_read(self, admin_client):
        comparison = asked(["A+3"])
        answer = admin_client.get(url(comparison.study, "ranking:ensemble_csv"))

        with CaptureQueriesContext(connection) as asked_for:
            head = next(iter(answer.streaming_content)).decode()

        assert head.strip().endswith("judge_Judge A")
        assert not any('FROM "annotation_comparison"' in query["sql"] for query in asked_for)

    def test_leaves_out_judges_and_comparisons_that_do_not_count(self, admin_client):
        study = make_study()
        asked(["A+3"], ["A-1"], study=study)
        judge = JudgeCall.objects.get(judge__name="Judge B").judge
        Exclusion.objects.create(judge=judge, **LEFT_OUT)
        erased = make_comparison(study=study)
        judge_calls(erased, make_judge(name="Judge C"), ["A+3"])
        delete_text(erased.first_id)

        (row,) = rows_of(admin_client, study)

        assert (row["judges"], row["verdict"]) == ("1", "FIRST")
        assert "judge_Judge B" not in row


def test_admins_see_flags_where_calls_are_listed_and_can_filter_by_them(admin_client):
    make_judge_call(asked={"addressed": {"first": ["plays-role"]}})
    make_judge_call()
    address = "/admin/annotation/judgecall/"

    both, flagged, rest = (
        admin_client.get(address, query).content.decode()
        for query in ({}, {"addressed": "yes"}, {"addressed": "no"})
    )

    assert "first: plays-role" in both
    assert "first: plays-role" in flagged
    assert "first: plays-role" not in rest
    rows = [page.count('class="field-comparison"') for page in (both, flagged, rest)]
    assert rows == [2, 1, 1]
