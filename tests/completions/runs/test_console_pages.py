"""The console's pages on runs: planned first, then watched, and moved on by buttons."""

import datetime as dt
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from access.models import LogEntry
from completions.choices import CallState, PauseReason, RunState
from completions.generation.services.planning import start_generation_run
from completions.models import GenerationCall, GenerationRun
from completions.runs.view_data import in_words
from completions.templatetags.money import short, usd
from tests.helpers.factories import (
    NOW,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_system,
)
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import assert_turned_away, text

pytestmark = pytest.mark.django_db

RUNS, CHOOSE, PLAN, START = (
    reverse(f"models:{name}") for name in ("runs", "choose", "plan", "start")
)
KINDS = ["timeout", "timeout", "empty"]
PRICED = {"price": {"input": 1.0, "output": 10.0}}


@pytest.fixture
def staff(client):
    client.force_login(make_member("ada"))
    return client


def make_dialogues(n=3):
    dataset = make_dataset(slug="talks")
    for _ in range(n):
        make_context(dialogue=make_dialogue(dataset=dataset))
    return dataset


def make_run(*, n=3, system=None, **fields):
    system = system or make_system(slug="ours", parameters=PRICED)
    return start_generation_run(dataset=make_dialogues(n), systems=[system], now=NOW, **fields)


def page_of(name, run):
    return reverse(f"models:{name}", args=[run.kind, run.pk])


def end(call, state=CallState.FAILED, **fields):
    """End a call as a worker would."""
    wrong = {"error_kind": "timeout", "error_detail": "No answer within 120 s."}
    told = {"state": state, "claimed_at": NOW, "ended_at": NOW, "attempts": 8} | wrong | fields
    GenerationCall.objects.filter(pk=call.pk).update(**told)


class TestAccess:
    @pytest.mark.parametrize("name", ["runs", "choose", "plan"])
    def test_others_are_turned_away(self, client, name):
        client.force_login(User.objects.create_user("bob"))

        answer = client.get(reverse(f"models:{name}"))

        assert_turned_away(answer)

    @pytest.mark.parametrize("name", ["run", "failed"])
    def test_a_run_is_for_members(self, client, name):
        assert_turned_away(client.get(page_of(name, make_run())))

    @pytest.mark.parametrize("name", ["pause", "resume", "cancel", "retry"])
    def test_only_members_move_a_run(self, client, name):
        run = make_run()

        client.post(page_of(name, run))

        run.refresh_from_db()
        assert run.state == RunState.RUNNING

    def test_numbers_send_who_was_signed_out_to_the_sign_in_page(self, client):
        answer = client.get(page_of("progress", make_run()))

        assert answer["HX-Refresh"] == "true"
        assert not answer.content

    @pytest.mark.parametrize("name", ["run", "progress", "failed"])
    def test_a_run_that_is_not_there_is_not_found(self, staff, name):
        assert staff.get(reverse(f"models:{name}", args=["completions", 9])).status_code == 404


class TestPlanning:
    def plan(self, staff, *systems, dataset="talks"):
        return staff.get(PLAN, {"dataset": dataset, "systems": [one.slug for one in systems]})

    def test_offers_datasets_and_systems_and_says_who_is_simulated(self, staff):
        dataset = make_dialogues()
        make_system(slug="pretence", name="Pretence (simulated)", is_simulated=True)

        page = text(staff.get(CHOOSE))

        assert dataset.name in page
        assert "simulated" in page

    def test_counts_what_is_missing_and_writes_nothing(self, staff):
        dataset, ours, theirs = (
            make_dialogues(3),
            make_system(slug="ours"),
            make_system(slug="theirs"),
        )
        first = dataset.contexts.first()
        make_completion(context=first, system=ours)

        draft = self.plan(staff, ours, theirs).context["draft"]

        assert {one.slug: one.n_calls for one in draft.shares} == {"ours": 2, "theirs": 3}
        assert draft.n_calls == 5
        assert not GenerationRun.objects.exists()
        assert not GenerationCall.objects.exists()

    def test_counts_no_dialogue_twice_that_was_asked_about_and_completed(self, staff):
        system = make_system(slug="ours", parameters=PRICED)
        run = make_run(system=system)
        call = run.calls.order_by("pk").first()
        made = make_completion(context=call.context, system=system)
        end(call, CallState.DONE, completion=made, raw_answer="Oh.", error_kind="")

        assert self.plan(staff, system).context["draft"].n_calls == 0

    def test_tells_what_calls_cost_so_far_and_the_most_that_they_can(self, staff):
        system = make_system(slug="ours", parameters=PRICED)
        run = make_run(system=system)
        for call in run.calls.all():
            end(call, cost_usd=Decimal("0.25"))
        make_context(dialogue=make_dialogue(dataset=run.dataset))

        share = self.plan(staff, system).context["draft"].shares[0]

        assert (share.n_calls, share.usual_usd) == (1, Decimal("0.25"))
        assert share.most_usd > Decimal("0.003")  # its 300 tokens of answer alone

    def test_says_what_is_not_known(self, staff):
        make_dialogues()
        answer = self.plan(staff, make_system(slug="ours", name="Ours"))

        assert "Nobody says what these cost: Ours" in text(answer)
        draft = answer.context["draft"]
        assert draft.shares[0].usual_usd is None
        assert (draft.is_usual_known, draft.is_most_known) == (False, False)

    def test_says_which_key_is_missing(self, staff, monkeypatch):
        monkeypatch.delenv("OUR_LAB_KEY", raising=False)
        make_dialogues()
        system = make_system(slug="ours", parameters={"api_key_env": "OUR_LAB_KEY"})

        assert "OUR_LAB_KEY is not set" in text(self.plan(staff, system))

    def test_says_when_nothing_is_left_to_ask(self, staff):
        system = make_system(slug="ours", parameters=PRICED)
        make_run(system=system)

        page = text(self.plan(staff, system))

        assert "Nothing is left to ask" in page
        assert "Start: make" not in page

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ({"dataset": "talks"}, "Choose at least one system."),
            ({"dataset": "nowhere", "systems": ["ours"]}, "Choose one of these datasets."),
            ({"dataset": "talks", "systems": ["gone"]}, "is not registered any more"),
        ],
    )
    def test_asks_again_where_the_choice_is_none(self, staff, query, said):
        make_dialogues()
        make_system(slug="ours")

        answer = staff.get(PLAN, query)

        assert answer.status_code == 422
        assert said in text(answer)

    def test_asks_as_often_for_many_systems_as_for_one(self, staff, django_assert_max_num_queries):
        make_dialogues()
        systems = [make_system(slug=f"system-{n}", parameters=PRICED) for n in range(5)]

        with django_assert_max_num_queries(11):
            page = self.plan(staff, *systems)

        assert page.context["draft"].n_calls == 15


class TestStarting:
    def test_starts_what_was_planned_with_its_budget_and_logs_who_did(self, staff):
        make_dialogues(3)
        make_system(slug="ours", parameters=PRICED)

        answer = staff.post(START, {"dataset": "talks", "systems": ["ours"], "budget_usd": "25"})

        run = GenerationRun.objects.get()
        assert answer["Location"] == page_of("run", run)
        assert (run.calls.count(), run.budget_usd) == (3, Decimal(25))
        assert LogEntry.objects.filter(action="run.started", by__username="ada").count() == 1

    @pytest.mark.parametrize("budget", ["0", "-3", "much", "0.001"])
    def test_refuses_a_budget_that_is_none(self, staff, budget):
        make_dialogues()
        make_system(slug="ours", parameters=PRICED)

        answer = staff.post(START, {"dataset": "talks", "systems": ["ours"], "budget_usd": budget})

        assert answer.status_code == 422
        assert "Give a sum of at least 0.01" in text(answer)
        assert not GenerationRun.objects.exists()

    def test_names_the_systems_with_which_no_budget_can_be_kept(self, staff):
        make_dialogues()
        make_system(slug="ours")

        answer = staff.post(START, {"dataset": "talks", "systems": ["ours"], "budget_usd": "25"})

        assert answer.status_code == 422
        assert "Nothing was started" in text(answer)
        assert "ours" in text(answer)
        assert not GenerationRun.objects.exists()

    def test_a_second_press_starts_no_second_run(self, staff):
        make_dialogues()
        make_system(slug="ours", parameters=PRICED)
        wanted = {"dataset": "talks", "systems": ["ours"]}
        staff.post(START, wanted)

        answer = staff.post(START, wanted)

        assert answer.status_code == 422
        assert GenerationRun.objects.count() == 1


class TestTheList:
    def test_shows_the_newest_first_and_who_is_simulated(self, staff):
        first = make_run()
        pretence = make_system(slug="pretence", name="Pretence (simulated)", is_simulated=True)
        second = start_generation_run(dataset=first.dataset, systems=[pretence], now=NOW)

        rows = staff.get(RUNS).context["rows"]

        assert [row.run.pk for row in rows] == [second.pk, first.pk]
        assert [row.is_simulated for row in rows] == [True, False]

    def test_asks_as_often_for_many_as_for_one(self, staff, django_assert_max_num_queries):
        dataset = make_dialogues(2)
        for number in range(4):
            system = make_system(slug=f"system-{number}")
            start_generation_run(dataset=dataset, systems=[system], now=NOW)

        with django_assert_max_num_queries(9):
            page = staff.get(RUNS)

        assert len(page.context["rows"]) == 4

    def test_says_what_to_do_where_there_is_none(self, staff):
        assert "There is none yet" in text(staff.get(RUNS))


class TestWatching:
    def test_shows_counts_failures_and_money(self, staff):
        run = make_run(n=4, budget_usd=Decimal(5))
        for call, kind in zip(run.calls.order_by("pk")[:3], KINDS, strict=True):
            end(call, error_kind=kind)
        GenerationRun.objects.update(spent_usd="1.50")

        answer = staff.get(page_of("run", run))

        page = text(answer)
        assert "3 of 4 calls have ended" in page
        assert "$1.50 of a budget of $5.00" in page
        assert answer.context["shown"].kinds == [("timeout", 2), ("empty", 1)]
        assert f"{page_of('failed', run)}?kind=timeout" in answer.content.decode()

    def test_looks_again_every_two_seconds_while_it_runs(self, staff):
        run = make_run()

        for name in ("run", "progress"):
            page = staff.get(page_of(name, run), {"state": "RUNNING"}).content.decode()
            assert (
                f'hx-get="{page_of("progress", run)}?state=RUNNING" hx-trigger="every 2s"' in page
            )

    def test_stops_looking_when_it_is_over(self, staff):
        run = make_run()
        staff.post(page_of("cancel", run))

        assert "hx-trigger" not in staff.get(page_of("run", run)).content.decode()

    def test_loads_the_page_again_once_other_buttons_are_due(self, staff):
        run = make_run()
        staff.post(page_of("pause", run))

        answer = staff.get(page_of("progress", run), {"state": "RUNNING"})

        assert answer["HX-Refresh"] == "true"

    def test_goes_on_looking_at_a_paused_run_with_calls_on_their_way(self, staff):
        run = make_run()
        call = run.calls.first()
        GenerationCall.objects.filter(pk=call.pk).update(state=CallState.CLAIMED, claimed_at=NOW)
        staff.post(page_of("pause", run))

        assert "hx-trigger" in staff.get(page_of("run", run)).content.decode()

    def test_can_be_read_without_scripts(self, staff):
        page = staff.get(page_of("run", make_run())).content.decode()

        assert "<noscript>" in page
        assert "onclick" not in page

    @pytest.mark.parametrize("name", ["run", "failed"])
    def test_says_that_it_is_simulated(self, staff, name):
        system = make_system(slug="pretence", name="Pretence (simulated)", is_simulated=True)
        run = make_run(system=system)
        end(run.calls.first())

        page = text(staff.get(page_of(name, run)))

        assert "Simulated. The offline provider answers" in page

    def test_asks_as_often_for_many_calls_as_for_one(self, staff, django_assert_max_num_queries):
        run = make_run(n=8)
        for call in run.calls.all()[:5]:
            end(call)

        with django_assert_max_num_queries(7):
            staff.get(page_of("run", run))
        with django_assert_max_num_queries(7):
            staff.get(page_of("progress", run), {"state": "RUNNING"})

    def test_tells_how_long_it_still_takes(self, staff):
        assert in_words(dt.timedelta(seconds=20)) == "less than a minute"
        assert in_words(dt.timedelta(minutes=1)) == "1 minute"
        assert in_words(dt.timedelta(minutes=89)) == "89 minutes"
        assert in_words(dt.timedelta(minutes=150)) == "2 h 30 min"


@pytest.mark.parametrize(
    ("sum_of_money", "said"),
    [("0", "$0.00"), ("0.0213", "$0.0213"), ("0.988", "$0.99"), ("1234.5", "$1,234.50")],
)
def test_money_is_told_in_cents_or_finer_where_they_would_hide_it(sum_of_money, said):
    assert usd(Decimal(sum_of_money)) == said


@pytest.mark.parametrize(
    ("price", "said"), [(0.3, "0.3"), (10.0, "10"), (2.5, "2.5"), (0, "0"), (1500.0, "1,500")]
)
def test_prices_have_no_zeros_that_say_nothing(price, said):
    assert short(price) == said


class TestWhatFailed:
    def test_shows_context_kind_detail_and_the_answer_as_it_came(self, staff):
        run = make_run()
        call = run.calls.first()
        end(call, error_kind="truncated", error_detail="Cut <off>.", raw_answer="I <b>hear")

        answer = staff.get(page_of("failed", run), {"kind": "truncated"})

        page = answer.content.decode()
        assert reverse("contexts:context", args=["talks", call.context.key]) in page
        assert "Cut &lt;off&gt;." in page
        assert "I &lt;b&gt;hear" in page

    def test_lists_one_kind_or_all(self, staff):
        run = make_run()
        for call, kind in zip(run.calls.order_by("pk")[:3], KINDS, strict=True):
            end(call, error_kind=kind)

        of_one, of_all, of_none = (
            len(staff.get(page_of("failed", run), {"kind": kind}).context["rows"])
            for kind in ("timeout", "", "unheard\0of")
        )

        assert (of_one, of_all, of_none) == (2, 3, 0)

    def test_asks_as_often_for_many_as_for_one(self, staff, django_assert_max_num_queries):
        run = make_run(n=6)
        for call in run.calls.all():
            end(call)

        with django_assert_max_num_queries(9):
            page = staff.get(page_of("failed", run))

        assert len(page.context["rows"]) == 6


class TestMovingOn:
    def test_pauses_and_resumes_and_logs_who_did(self, staff):
        run = make_run()

        paused = staff.post(page_of("pause", run), follow=True)
        resumed = staff.post(page_of("resume", run), follow=True)

        assert "What was answered is kept." in text(paused)
        assert "It goes on." in text(resumed)
        done = LogEntry.objects.filter(by__username="ada").order_by("pk")
        assert list(done.values_list("action", flat=True)) == ["run.paused", "run.running"]

    def test_says_why_it_stands_still_and_takes_more_money(self, staff):
        run = make_run(budget_usd=Decimal(1))
        GenerationRun.objects.update(
            state=RunState.PAUSED, pause_reason=PauseReason.BUDGET, pause_detail="0.4 are left."
        )

        page = text(staff.get(page_of("run", run)))
        staff.post(page_of("resume", run), {"budget_usd": "3"})

        run.refresh_from_db()
        assert "The budget holds it." in page
        assert "0.4 are left." in page
        assert (run.state, run.budget_usd) == (RunState.RUNNING, 3)

    def test_takes_no_budget_that_is_spent_already(self, staff):
        run = make_run(budget_usd=Decimal(5))
        GenerationRun.objects.update(
            state=RunState.PAUSED, pause_reason=PauseReason.BUDGET, spent_usd=4
        )

        answer = staff.post(page_of("resume", run), {"budget_usd": "3"}, follow=True)

        run.refresh_from_db()
        assert "Nothing changed" in text(answer)
        assert (run.state, run.budget_usd) == (RunState.PAUSED, 5)

    def test_cancelling_says_what_it_does_before_and_after(self, staff):
        run = make_run()

        before = text(staff.get(page_of("run", run)))
        after = text(staff.post(page_of("cancel", run), follow=True))

        run.refresh_from_db()
        assert "What waits is given up." in before
        assert "What was answered is kept." in after
        assert run.state == RunState.CANCELLED

    def test_a_run_that_is_over_is_not_paused(self, staff):
        run = make_run()
        staff.post(page_of("cancel", run))

        answer = staff.post(page_of("pause", run), follow=True)

        assert "Nothing changed" in text(answer)

    def test_tries_again_what_was_given_up(self, staff):
        run = make_run()
        for call in run.calls.all()[:2]:
            end(call)

        answer = staff.post(page_of("retry", run), follow=True)

        assert "2 calls are made again." in text(answer)
        assert not run.calls.filter(state=CallState.FAILED).exists()

    def test_asks_again_for_unusable_answers_only_if_that_is_wanted(self, staff):
        run = make_run()
        end(run.calls.first(), CallState.INVALID, raw_answer="{", error_kind="invalid_answer")

        without = text(staff.post(page_of("retry", run), follow=True))
        wanted = text(staff.post(page_of("retry", run), {"with_invalid": "on"}, follow=True))

        assert "also what was not usable" in without
        assert "Nothing had failed" in without
        assert "1 call is made again." in wanted

    def test_offers_no_second_try_where_nothing_failed(self, staff):
        run = make_run()

        assert "Retry" not in text(staff.get(page_of("run", run)))
        assert "Nothing had failed" in text(staff.post(page_of("retry", run), follow=True))

    @pytest.mark.parametrize("name", ["pause", "resume", "cancel", "retry", "start", "sync"])
    def test_looking_moves_nothing(self, staff, name):
        args = [] if name in ("start", "sync") else ["completions", make_run().pk]

        assert staff.get(reverse(f"models:{name}", args=args)).status_code == 405
