"""The console's pages on judges, and on their runs in a study."""

from decimal import Decimal

import pytest
from django.urls import reverse

from access.models import LogEntry
from annotation.choices import StudyState
from annotation.judges.services.runs import start_judge_run
from annotation.models import Judge, JudgeCall, JudgeRun, RationaleRun
from completions.choices import CallState
from tests.helpers.factories import NOW, make_comparison, make_judge, make_judgment, make_study
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

JUDGES = reverse("console:all_judges")
DRAFT = {"state": StudyState.DRAFT, "locked_at": None, "protocol_hash": ""}
PRICED = {"price": {"input": 1.0, "output": 10.0}}


@pytest.fixture
def staff(client):
    client.force_login(make_member("ada"))
    return client


def make_pairs(n=3, **fields):
    study = make_study(slug="heart", **{"locked_at": NOW} | fields)
    for _ in range(n):
        make_comparison(study=study)
    return study


def make_run(*, n=3, judge=None, **fields):
    judge = judge or make_judge(slug="wise", parameters=PRICED)
    return start_judge_run(study=make_pairs(n), judges=[judge], now=NOW, **fields)


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


class TestThemes:
    def start(self, staff):
        return staff.post(reverse("console:find_themes", args=["heart"]), {"model": "offline"})

    def test_a_model_reads_the_reasons_that_it_has_not(self, staff):
        comparison = make_pairs(1).comparisons.get()
        make_judgment(comparison=comparison, rationale="It listens.")

        answer = self.start(staff)

        run = RationaleRun.objects.get()
        assert answer["Location"] == reverse("models:run", args=["rationales", run.pk])
        assert run.n_planned == 1
        assert "Rationale themes" in text(staff.get(address("runs")))

    def test_nothing_is_started_without_a_reason_to_read(self, staff):
        make_pairs(1)

        answer = self.start(staff)

        assert answer.status_code == 422
        assert "Nothing was started" in text(answer)
        assert not RationaleRun.objects.exists()


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

    def test_offers_both_orders_first_and_says_that_judges_wait_for_an_open_study(self, staff):
        make_pairs(state=StudyState.PAUSED)
        make_judge(slug="wise")

        form = staff.get(address("choose")).content.decode()
        plan = staff.get(address("plan"), {"judges": ["wise"]})

        assert 'name="both_orders" type="checkbox" checked' in form
        assert "The study is not open" in text(plan)


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
            (
                {"state": StudyState.DRAFT, "locked_at": None, "protocol_hash": ""},
                {},
                "not locked yet",
            ),
            ({}, {"budget_usd": "2"}, "wise"),
        ],
        ids=["a draft", "a judge without a price and a budget"],
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
        failed = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "timeout"}
        JudgeCall.objects.filter(pk=call.pk).update(claimed_at=NOW, **failed)

        page = text(staff.get(address("failed", run.pk)))

        assert call.comparison.context.key in page

    def test_says_that_it_is_simulated(self, staff):
        judge = make_judge(slug="pretence", name="Pretence (simulated)", is_simulated=True)
        run = make_run(judge=judge)

        for shown in (address("run", run.pk), address("failed", run.pk), address("runs")):
            assert "simulated" in text(staff.get(shown)).lower().replace("pretence (simulated)", "")

    def test_asks_as_often_for_many_as_for_one(self, staff, django_assert_max_num_queries):
        run = make_run(n=6)
        for _ in range(3):
            start_judge_run(study=run.study, judges=[make_judge()], now=NOW)

        with django_assert_max_num_queries(10):
            rows = staff.get(address("runs")).context["rows"]
        with django_assert_max_num_queries(7):
            staff.get(address("run", run.pk))

        assert len(rows) == 4
