"""The console's pages on judges: what they say, alone and together, and their runs in a study."""

import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from access.models import LogEntry
from annotation.choices import Protocol, StudyState
from annotation.judges.services import runs
from annotation.models import Judge, JudgeCall, JudgeRun
from completions.choices import CallState
from tests.annotation.judges.conftest import WITH_RUBRIC
from tests.helpers.factories import (
    NOW,
    make_alone,
    make_comparison,
    make_judge,
    make_judge_call,
    make_study,
)
from tests.helpers.factories_written_once import make_exclusion
from tests.helpers.judged import delete_text, judge_calls
from tests.helpers.pages import rows_of, text

pytestmark = pytest.mark.django_db

FAILED = {"state": CallState.FAILED, "ended_at": NOW}


def url(study, name="console:judges", *args):
    return reverse(name, args=[study.slug, *args])


def url_of(comparison):
    return url(comparison.study, "console:judged", comparison.key)


def downloaded(client, study):
    return rows_of(client.get(url(study, "ranking:ensemble_csv")))


def asked(*answers, study=None):
    comparison = make_comparison(study=study or make_study())
    for n, said in enumerate(answers):
        judge_calls(comparison, make_judge(name=f"Judge {'ABCD'[n]}"), said)
    return comparison


class TestPage:
    def test_says_what_will_stand_there_when_no_judge_was_asked(self, admin_client):
        lonely = make_comparison()

        assert "None was asked about this study yet" in text(admin_client.get(url(lonely.study)))
        for key in (lonely.key, "unknown"):
            page = admin_client.get(url(lonely.study, "console:judged", key))
            assert page.status_code == 404

    def test_shows_accounts_what_is_left_out_and_what_needs_a_look(self, admin_client):
        study = make_study()
        comparison = asked(["A+3", "B-1"], ["A-1", "B-2"], study=study)
        judge = make_judge(name="Judge Z")
        pair = make_comparison(study=study)
        judge_calls(pair, judge, ["A?"], **FAILED, error_kind="server_error")
        make_exclusion(judge=judge)
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
        assert 'aria-current="page">List' in answer.content.decode()

    def test_speaks_of_no_winner_where_messages_are_rated_alone(self, admin_client):
        study = make_study(protocol=Protocol.LIKERT, **WITH_RUBRIC)
        make_alone(study=study)
        runs.plan_judge_calls(study=study, judges=[make_judge(name="Judge A")], now=NOW)

        page = text(admin_client.get(url(study)))
        form = text(admin_client.get(url(study, "console:judge_choose")))
        choice = {"judges": make_judge().slug}
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


class TestComparison:
    def test_shows_orders_verdicts_reasons_and_what_was_asked(self, admin_client):
        comparison = asked(["A+3", "B-1"])
        kept = {"asked": {"model": "openai/oak"}, "prompt_hash": "f" * 64}
        JudgeCall.objects.update(raw_answer="<script>alert(1)</script>", **kept)

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

    def test_goes_by_the_public_key_once_a_text_was_deleted(self, admin_client):
        comparison = asked(["A+3"])
        known = url_of(comparison)
        delete_text(comparison.first_id)

        page = admin_client.get(url(comparison.study, "console:judged", f"deleted-{comparison.pk}"))

        assert "A text was deleted at its writer's wish" in text(page)
        assert comparison.key not in page.content.decode()
        assert admin_client.get(known).status_code == 404

    def test_says_how_each_call_failed(self, admin_client):
        words = {"content_filtered": "refused or filtered", "timeout": "timed out"}
        words |= {"truncated": "cut off", "empty": "empty", "server_error": "failed"}
        comparison = make_comparison()
        for n, kind in enumerate(words):
            judge = make_judge(name=f"Judge {n}")
            judge_calls(comparison, judge, ["A?"], **FAILED, error_kind=kind)

        page = text(admin_client.get(url_of(comparison)))

        told = re.findall(rf"sample 1: ({'|'.join(words.values())})", page)
        assert told == list(words.values())


def test_pages_and_download_say_simulated_where_a_judge_is(admin_client):
    comparison = make_comparison()
    judge_calls(comparison, make_judge(name="Oak (simulated)", is_simulated=True), ["A+3"])

    for page in (url(comparison.study), url_of(comparison)):
        assert "Simulated." in text(admin_client.get(page))
    (row,) = downloaded(admin_client, comparison.study)
    assert (row["is_simulated"], row["judge_Oak (simulated)"]) == ("True", "FIRST")


class TestCsv:
    def test_has_a_row_per_comparison_with_its_votes(self, admin_client):
        comparison = asked(["A+3", "B+1"], ["A+1", "B-1"], ["A+2"])
        alone = make_comparison(study=comparison.study)
        judge_calls(alone, make_judge(name="Judge D"), ["A-1"])

        row, other = downloaded(admin_client, comparison.study)

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
        make_exclusion(judge=Judge.objects.get(name="Judge B"))
        erased = make_comparison(study=study)
        judge_calls(erased, make_judge(name="Judge C"), ["A+3"])
        delete_text(erased.first_id)

        (row,) = downloaded(admin_client, study)

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


JUDGES = reverse("console:all_judges")
DRAFT = {"state": StudyState.DRAFT, "locked_at": None, "protocol_hash": ""}
PRICED = {"price": {"input": 1.0, "output": 10.0}}


def make_pairs(n=3, **fields):
    study = make_study(slug="heart", **fields)
    for _ in range(n):
        make_comparison(study=study)
    return study


def make_run(*, n=3, judge=None):
    judge = judge or make_judge(slug="wise", parameters=PRICED)
    return runs.start_judge_run(study=make_pairs(n), judges=[judge], now=NOW)


def address(name, *numbers):
    if numbers:
        return reverse(f"models:{name}", args=["judges", *numbers])
    return reverse(f"console:judge_{name}", args=["heart"])


class TestTheListOfJudges:
    def test_says_what_is_set_and_never_what_it_is(
        self, staff, monkeypatch, django_assert_max_num_queries
    ):
        monkeypatch.setenv("WISE_KEY", "a-very-secret-key")
        make_judge(slug="wise", parameters={"api_key_env": "WISE_KEY"} | PRICED)
        make_judge(slug="pretence", name="Pretence (simulated)", is_simulated=True)
        for _ in range(2):
            make_judge()

        with django_assert_max_num_queries(6):
            answer = staff.get(JUDGES)

        lines = {line.row.slug: line for line in answer.context["page"]}
        assert len(lines) == 4
        assert "set WISE_KEY" in text(answer)
        assert "a-very-secret-key" not in answer.content.decode()
        assert lines["wise"].price == {"input": 1.0, "output": 10.0}
        assert "Pretence (simulated) simulated" in text(answer)

    def test_says_what_to_do_where_there_is_none_and_syncing_registers_the_catalogue(self, staff):
        assert "Sync the catalogue" in text(staff.get(JUDGES))

        answer = staff.post(reverse("console:sync_judges"), follow=True)

        assert "Synced:" in text(answer)
        assert Judge.objects.filter(is_simulated=False).exists()
        assert LogEntry.objects.filter(action="judge.added", by__username="ada").exists()


class TestPlanning:
    def test_counts_orders_and_samples_but_no_pair_of_its_makers_and_writes_nothing(
        self, staff, django_assert_max_num_queries
    ):
        study = make_pairs(3)
        family = study.comparisons.first().first.system.family
        judges = [make_judge(parameters=PRICED).slug for _ in range(2)]
        judges += [make_judge(family=family, parameters=PRICED).slug for _ in range(2)]
        asked = {"judges": judges, "both_orders": "on", "samples": "2", "temperature": "0.7"}

        with django_assert_max_num_queries(10):
            draft = staff.get(address("plan"), asked).context["draft"]

        assert draft.n_calls == 40
        assert draft.most_usd > 0
        assert not JudgeRun.objects.exists()
        assert not JudgeCall.objects.exists()

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ({"judges": []}, "Choose at least one judge."),
            ({"samples": "0"}, "Give a whole number from 1 to 100."),
            ({"samples": "101"}, "Give a whole number from 1 to 100."),
            ({"temperature": "3"}, "Give a temperature from 0 to 2"),
            ({"samples": "2"}, "at 0 they would be copies of one"),
        ],
    )
    def test_asks_again_where_that_cannot_be(self, staff, asked, said):
        make_pairs()
        make_judge(slug="wise")

        answer = staff.get(address("plan"), {"judges": ["wise"]} | asked)

        assert answer.status_code == 422
        assert said in text(answer)

    @pytest.mark.parametrize(
        ("state", "said"),
        [
            (StudyState.PAUSED, "Waiting calls continue once it is opened"),
            (StudyState.CLOSED, "The study is closed: judges are asked nothing more"),
        ],
    )
    def test_offers_both_orders_first_and_says_why_judges_wait(self, staff, state, said):
        make_pairs(state=state)
        make_judge(slug="wise")

        form = staff.get(address("choose")).content.decode()
        plan = staff.get(address("plan"), {"judges": ["wise"]})

        assert 'name="both_orders" type="checkbox" checked' in form
        assert said in text(plan)


class TestStarting:
    def test_starts_what_was_planned_once_and_logs_who_did(self, staff):
        make_pairs(3)
        make_judge(slug="wise", parameters=PRICED)
        asked = {"judges": ["wise"], "both_orders": "on", "samples": "2", "temperature": "0.7"}

        answer = staff.post(address("start"), asked | {"budget_usd": "2.50"})
        again = staff.post(address("start"), asked)

        run = JudgeRun.objects.get()
        assert answer["Location"] == address("run", run.pk)
        assert again.status_code == 422
        assert (run.both_orders, run.samples, run.plan["temperature"]) == (True, 2, 0.7)
        assert (run.calls.count(), run.budget_usd) == (12, Decimal("2.50"))
        assert LogEntry.objects.filter(action="run.started", by__username="ada").count() == 1
        page = text(staff.get(address("run", run.pk)))
        assert "0 of 12 calls have ended" in page
        assert "both orders; 2 answers in each" in page

    @pytest.mark.parametrize(
        ("study", "asked", "said"),
        [
            (DRAFT, {}, "not locked yet"),
            ({"state": StudyState.CLOSED}, {}, "the study is closed"),
            ({}, {"budget_usd": "2"}, "wise"),
        ],
        ids=["a draft", "a closed study", "a judge without a price and a budget"],
    )
    def test_says_why_nothing_can_be_started(self, staff, study, asked, said):
        make_pairs(**study)
        make_judge(slug="wise")

        answer = staff.post(address("start"), {"judges": ["wise"]} | asked)

        assert answer.status_code == 422
        assert said in text(answer)
        assert not JudgeRun.objects.exists()


class TestWatching:
    def test_names_the_dialogue_of_a_call_that_failed(self, staff):
        run = make_run()
        call = run.calls.first()
        JudgeCall.objects.filter(pk=call.pk).update(**FAILED, claimed_at=NOW, error_kind="timeout")

        page = text(staff.get(address("failed", run.pk)))

        assert call.comparison.context.key in page

    def test_says_that_it_is_simulated(self, staff):
        run = make_run(judge=make_judge(name="Pretence (simulated)", is_simulated=True))

        for shown in (address("run", run.pk), address("failed", run.pk), address("runs")):
            assert "simulated" in text(staff.get(shown)).lower().replace("pretence (simulated)", "")
