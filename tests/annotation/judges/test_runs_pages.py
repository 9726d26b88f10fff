"""The console's pages on judges, and on their runs in a study."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from access.models import LogEntry
from annotation.choices import StudyState
from annotation.judges.services.running import Asking, start_judge_run
from annotation.models import Judge, JudgeCall, JudgeRun, RationaleRun
from completions.choices import CallState, RunState
from tests.helpers.factories import NOW, make_comparison, make_judge, make_judgment, make_study
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import assert_turned_away, text

pytestmark = pytest.mark.django_db

JUDGES = reverse("console:all_judges")
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


class TestAccess:
    @pytest.mark.parametrize("name", ["runs", "choose", "plan"])
    def test_others_are_turned_away(self, client, name):
        make_pairs()
        client.force_login(User.objects.create_user("bob"))

        assert_turned_away(client.get(address(name)))

    def test_the_list_of_judges_is_for_members(self, client):
        assert_turned_away(client.get(JUDGES))

    @pytest.mark.parametrize("name", ["pause", "resume", "cancel", "retry"])
    def test_only_members_move_a_run(self, client, name):
        run = make_run()

        client.post(address(name, run.pk))

        run.refresh_from_db()
        assert run.state == RunState.RUNNING

    def test_numbers_send_who_was_signed_out_to_the_sign_in_page(self, client):
        assert client.get(address("progress", make_run().pk))["HX-Refresh"] == "true"


class TestTheListOfJudges:
    def test_says_what_is_set_and_never_what_it_is(self, staff, monkeypatch):
        monkeypatch.setenv("WISE_KEY", "a-very-secret-key")
        make_judge(slug="wise", parameters={"api_key_env": "WISE_KEY"} | PRICED)
        make_judge(slug="pretence", name="Pretence (simulated)", is_simulated=True)

        answer = staff.get(JUDGES)

        lines = {line.row.slug: line for line in answer.context["page"]}
        assert "set WISE_KEY" in text(answer)
        assert "a-very-secret-key" not in answer.content.decode()
        assert lines["wise"].price == {"input": 1.0, "output": 10.0}
        assert "Pretence (simulated) simulated" in text(answer)

    def test_asks_as_often_for_many_as_for_one(self, staff, django_assert_max_num_queries):
        for _ in range(4):
            make_judge()

        with django_assert_max_num_queries(6):
            page = staff.get(JUDGES)

        assert len(page.context["page"]) == 4

    def test_says_what_to_do_where_there_is_none(self, staff):
        assert "Sync the catalogue" in text(staff.get(JUDGES))

    def test_syncing_registers_those_of_the_catalogue(self, staff):
        answer = staff.post(reverse("console:sync_judges"), follow=True)

        assert "Synced:" in text(answer)
        assert Judge.objects.filter(is_simulated=False).exists()
        assert LogEntry.objects.filter(action="judge.added", by__username="ada").exists()


class TestThemes:
    def start(self, staff, **fields):
        address = reverse("console:find_themes", args=["heart"])
        return staff.post(address, {"model": "offline"} | fields)

    def test_a_model_reads_the_reasons_that_it_has_not(self, staff):
        comparison = make_pairs(1).comparisons.get()
        make_judgment(comparison=comparison, rationale="It listens.")

        answer = self.start(staff)

        run = RationaleRun.objects.get()
        assert answer["Location"] == reverse("models:run", args=["rationales", run.pk])
        assert run.n_planned == 1
        assert "Rationale themes" in text(staff.get(address("runs")))

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({}, "Nothing was started"),
            ({"model": ""}, "Name a model"),
            ({"budget_usd": "x"}, "0.01"),
        ],
        ids=["no reason", "no model", "no sum"],
    )
    def test_nothing_is_started_where_that_cannot_be(self, staff, fields, said):
        make_pairs(1)

        answer = self.start(staff, **fields)

        assert answer.status_code == 422
        assert said in text(answer)
        assert not RationaleRun.objects.exists()


class TestPlanning:
    @pytest.mark.parametrize(
        ("asked", "n"),
        [
            ({}, 3),
            ({"both_orders": "on"}, 6),
            ({"both_orders": "on", "samples": "2", "temperature": "0.7"}, 12),
        ],
        ids=["one order", "both orders", "two samples of both orders"],
    )
    def test_counts_orders_and_samples_and_writes_nothing(self, staff, asked, n):
        make_pairs(3)
        make_judge(slug="wise", parameters=PRICED)

        answer = staff.get(address("plan"), {"judges": ["wise"]} | asked)

        assert answer.context["draft"].n_calls == n
        assert answer.context["draft"].most_usd > 0
        assert not JudgeRun.objects.exists()
        assert not JudgeCall.objects.exists()

    def test_counts_no_pair_with_a_message_of_the_judges_own_maker(self, staff):
        study = make_pairs(2)
        family = study.comparisons.first().first.system.family
        make_judge(slug="wise", family=family, parameters=PRICED)

        draft = staff.get(address("plan"), {"judges": ["wise"]}).context["draft"]

        assert draft.n_calls == 1

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

    def test_offers_both_orders_first(self, staff):
        make_pairs()

        assert (
            'name="both_orders" type="checkbox" checked'
            in staff.get(address("choose")).content.decode()
        )

    def test_asks_as_often_for_many_judges_as_for_one(self, staff, django_assert_max_num_queries):
        make_pairs(3)
        judges = [make_judge(parameters=PRICED).slug for _ in range(4)]

        with django_assert_max_num_queries(10):
            page = staff.get(address("plan"), {"judges": judges})

        assert page.context["draft"].n_calls == 12

    def test_says_that_judges_wait_for_an_open_study(self, staff):
        make_pairs(state=StudyState.PAUSED)
        make_judge(slug="wise")

        assert "The study is not open" in text(staff.get(address("plan"), {"judges": ["wise"]}))


class TestStarting:
    def test_starts_what_was_planned_and_logs_who_did(self, staff):
        make_pairs(3)
        make_judge(slug="wise", parameters=PRICED)
        asked = {"judges": ["wise"], "both_orders": "on", "samples": "2", "temperature": "0.7"}

        answer = staff.post(address("start"), asked | {"budget_usd": "2.50"})

        run = JudgeRun.objects.get()
        assert answer["Location"] == address("run", run.pk)
        assert (run.both_orders, run.samples, run.plan["temperature"]) == (True, 2, 0.7)
        assert (run.calls.count(), run.budget_usd) == (12, Decimal("2.50"))
        assert LogEntry.objects.filter(action="run.started", by__username="ada").count() == 1

    def test_a_draft_is_judged_by_nobody(self, staff):
        make_pairs(state=StudyState.DRAFT, locked_at=None, protocol_hash="")
        make_judge(slug="wise", parameters=PRICED)

        answer = staff.post(address("start"), {"judges": ["wise"]})

        assert answer.status_code == 422
        assert "the study is not locked yet" in text(answer)
        assert not JudgeRun.objects.exists()

    def test_names_the_judges_with_which_no_budget_can_be_kept(self, staff):
        make_pairs()
        make_judge(slug="wise")

        answer = staff.post(address("start"), {"judges": ["wise"], "budget_usd": "2"})

        assert answer.status_code == 422
        assert "wise" in text(answer)
        assert not JudgeRun.objects.exists()

    def test_a_second_press_starts_no_second_run(self, staff):
        make_pairs()
        make_judge(slug="wise", parameters=PRICED)
        staff.post(address("start"), {"judges": ["wise"]})

        answer = staff.post(address("start"), {"judges": ["wise"]})

        assert answer.status_code == 422
        assert JudgeRun.objects.count() == 1


class TestWatching:
    def test_shows_orders_samples_and_how_far_it_is(self, staff):
        asking = Asking(both_orders=True, samples=2, temperature=0.7)
        run = make_run(asking=asking)

        page = text(staff.get(address("run", run.pk)))

        assert "0 of 12 calls have ended" in page
        assert "both orders; 2 answers in each" in page

    def test_looks_again_until_it_is_over(self, staff):
        run = make_run()

        before = staff.get(address("run", run.pk)).content.decode()
        staff.post(address("cancel", run.pk))
        after = staff.get(address("run", run.pk)).content.decode()

        assert f'hx-get="{address("progress", run.pk)}?state=RUNNING"' in before
        assert "hx-get" not in after

    def test_lists_what_failed_with_the_answer_as_it_came(self, staff):
        run = make_run()
        call = run.calls.first()
        JudgeCall.objects.filter(pk=call.pk).update(
            state=CallState.INVALID,
            claimed_at=NOW,
            ended_at=NOW,
            error_kind="invalid_answer",
            error_detail="no winner",
            raw_answer="{<b>}",
        )

        page = staff.get(address("failed", run.pk), {"kind": "invalid_answer"}).content.decode()

        assert call.comparison.context.key in page
        assert "no winner" in page
        assert "{&lt;b&gt;}" in page

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

    def test_moves_on_by_the_same_buttons(self, staff):
        run = make_run()

        for name, said in [
            ("pause", "Paused"),
            ("resume", "It goes on."),
            ("cancel", "Cancelled"),
            ("retry", "3 calls are made again."),
        ]:
            answer = staff.post(address(name, run.pk), follow=True)
            assert said in text(answer)

        run.refresh_from_db()
        assert run.state == RunState.RUNNING
