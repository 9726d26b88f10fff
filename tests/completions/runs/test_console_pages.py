"""The console's pages on runs: planned first, then watched, and moved on by buttons."""

import datetime as dt
import re
from decimal import Decimal

import pytest
from django.urls import reverse

from access.models import LogEntry
from completions.choices import CallState, PauseReason, RunState
from completions.generation.services import start_generation_run
from completions.models import GenerationCall, GenerationRun
from completions.runs.view_data import in_words
from completions.templatetags.money import short, usd
from tests.completions.runs.conftest import changed, make_talks
from tests.helpers.factories import NOW, make_completion, make_context, make_system
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

RUNS, CHOOSE, PLAN, START = (
    reverse(f"models:{name}") for name in ("runs", "choose", "plan", "start")
)
KINDS = ["timeout", "timeout", "empty"]
PRICED = {"price": {"input": 1.0, "output": 10.0}}


def make_run(*, n=3, system=None, **fields):
    system = system or make_system(slug="ours", parameters=PRICED)
    return start_generation_run(dataset=make_talks(n), systems=[system], now=NOW, **fields)


def page_of(name, run):
    return reverse(f"models:{name}", args=[run.kind, run.pk])


def end(call, state=CallState.FAILED, **fields):
    """End a call as a worker would."""
    wrong = {"error_kind": "timeout", "error_detail": "No answer within 120 s."}
    told = {"state": state, "claimed_at": NOW, "ended_at": NOW, "attempts": 8} | wrong | fields
    GenerationCall.objects.filter(pk=call.pk).update(**told)


def make_pretence():
    return make_system(slug="pretence", name="Pretence (simulated)", is_simulated=True)


@pytest.mark.parametrize("name", ["run", "progress", "failed"])
def test_a_run_that_is_not_there_is_not_found(staff, name):
    assert staff.get(reverse(f"models:{name}", args=["completions", 9])).status_code == 404


def test_numbers_lead_who_was_signed_out_to_the_sign_in_page(client):
    answer = client.get(page_of("progress", make_run()))

    assert answer["HX-Refresh"] == "true"
    assert not answer.content


def test_every_page_asks_as_often_for_many_as_for_one(staff, django_assert_max_num_queries):
    systems = [make_system(slug=f"system-{n}", parameters=PRICED) for n in range(5)]
    run = make_run(n=8, system=systems[0])
    for system in systems[1:4]:
        start_generation_run(dataset=run.dataset, systems=[system], now=NOW)
    for call in run.calls.all()[:6]:
        end(call)

    with django_assert_max_num_queries(11):
        planned = staff.get(PLAN, {"dataset": "talks", "systems": [one.slug for one in systems]})
    with django_assert_max_num_queries(9):
        listed = staff.get(RUNS)
    with django_assert_max_num_queries(7):
        staff.get(page_of("run", run))
    with django_assert_max_num_queries(7):
        staff.get(page_of("progress", run), {"state": "RUNNING"})
    with django_assert_max_num_queries(9):
        failed = staff.get(page_of("failed", run))

    assert planned.context["draft"].n_calls == 8  # of the fifth, which nobody has asked
    assert (len(listed.context["rows"]), len(failed.context["page"])) == (4, 6)


class TestPlanning:
    def plan(self, staff, *systems, dataset="talks"):
        return staff.get(PLAN, {"dataset": dataset, "systems": [one.slug for one in systems]})

    def test_counts_what_is_missing_and_writes_nothing(self, staff):
        dataset, ours, theirs = make_talks(3), make_system(slug="ours"), make_pretence()
        make_completion(context=dataset.contexts.first(), system=ours)

        offered = text(staff.get(CHOOSE))
        draft = self.plan(staff, ours, theirs).context["draft"]

        assert dataset.name in offered
        assert "simulated" in offered
        assert {one.model.slug: one.n_calls for one in draft.shares} == {"ours": 2, "pretence": 3}
        assert draft.n_calls == 5
        assert not GenerationRun.objects.exists()
        assert not GenerationCall.objects.exists()

    def test_counts_no_dialogue_twice_that_was_asked_about_and_completed(self, staff):
        system = make_system(slug="ours", parameters=PRICED)
        call = make_run(system=system).calls.order_by("pk").first()
        made = make_completion(context=call.context, system=system)
        end(call, CallState.DONE, completion=made, raw_answer="Oh.", error_kind="")

        answer = self.plan(staff, system)

        assert answer.context["draft"].n_calls == 0
        assert "Nothing is left to ask" in text(answer)
        assert "Start: make" not in text(answer)

    def test_tells_what_calls_cost_so_far_and_the_most_that_they_can(self, staff):
        system = make_system(slug="ours", parameters=PRICED)
        run = make_run(system=system)
        for call in run.calls.all():
            end(call, cost_usd=Decimal("0.25"))
        make_context(dataset=run.dataset)

        share = self.plan(staff, system).context["draft"].shares[0]

        assert (share.n_calls, share.usual_usd) == (1, Decimal("0.25"))
        assert share.most_usd > Decimal("0.003")  # its 300 tokens of answer alone

    def test_says_what_is_not_known_and_which_key_is_missing(self, staff, monkeypatch):
        monkeypatch.delenv("OUR_LAB_KEY", raising=False)
        make_talks(1)
        system = make_system(slug="ours", name="Ours", parameters={"api_key_env": "OUR_LAB_KEY"})

        answer = self.plan(staff, system)

        assert "Nobody says what these cost: Ours" in text(answer)
        assert "OUR_LAB_KEY is not set" in text(answer)
        draft = answer.context["draft"]
        assert draft.shares[0].usual_usd is None
        assert (draft.is_usual_known, draft.is_most_known) == (False, False)

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ({"dataset": "talks"}, "Choose at least one system."),
            ({"dataset": "nowhere", "systems": ["ours"]}, "Choose one of these datasets."),
            ({"dataset": "talks", "systems": ["gone"]}, "is not registered any more"),
        ],
        ids=["no system", "no such dataset", "no such system"],
    )
    def test_asks_again_where_the_choice_is_none(self, staff, query, said):
        make_talks(1)
        make_system(slug="ours")

        answer = staff.get(PLAN, query)

        assert answer.status_code == 422
        assert said in text(answer)


class TestStarting:
    def test_starts_what_was_planned_once_with_its_budget_and_logs_who_did(self, staff):
        make_talks(3)
        make_system(slug="ours", parameters=PRICED)
        wanted = {"dataset": "talks", "systems": ["ours"], "budget_usd": "25"}

        answer, again = staff.post(START, wanted), staff.post(START, wanted)

        run = GenerationRun.objects.get()
        assert answer["Location"] == page_of("run", run)
        assert again.status_code == 422
        assert (run.calls.count(), run.budget_usd) == (3, Decimal(25))
        assert LogEntry.objects.filter(action="run.started", by__username="ada").count() == 1

    @pytest.mark.parametrize(
        ("budget", "said"),
        [
            ("much", "Give a sum of at least 0.01"),
            ("0.001", "Give a sum of at least 0.01"),
            ("25", "Nothing was started.* nobody can say it for ours"),
        ],
    )
    def test_refuses_a_budget_that_is_none_or_cannot_be_kept(self, staff, budget, said):
        make_talks(1)
        make_system(slug="ours")

        answer = staff.post(START, {"dataset": "talks", "systems": ["ours"], "budget_usd": budget})

        assert answer.status_code == 422
        assert re.search(said, text(answer))
        assert not GenerationRun.objects.exists()


class TestTheList:
    def test_shows_the_newest_first_and_who_is_simulated(self, staff):
        assert "There is none yet" in text(staff.get(RUNS))
        first = make_run()
        second = start_generation_run(dataset=first.dataset, systems=[make_pretence()], now=NOW)

        rows = staff.get(RUNS).context["rows"]

        assert [row.run.pk for row in rows] == [second.pk, first.pk]
        assert [row.is_simulated for row in rows] == [True, False]


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

    def test_looks_again_every_two_seconds_until_it_is_over(self, staff):
        run = make_run()
        again = f'hx-get="{page_of("progress", run)}?state=RUNNING" hx-trigger="every 2s"'

        for name in ("run", "progress"):
            assert again in staff.get(page_of(name, run), {"state": "RUNNING"}).content.decode()
        without_scripts = staff.get(page_of("run", run)).content.decode()
        assert "<noscript>" in without_scripts
        assert "onclick" not in without_scripts

        staff.post(page_of("cancel", run))

        assert "hx-trigger" not in staff.get(page_of("run", run)).content.decode()

    def test_goes_on_looking_at_a_paused_run_with_calls_on_their_way(self, staff):
        run = make_run()
        GenerationCall.objects.filter(pk=run.calls.first().pk).update(
            state=CallState.CLAIMED, claimed_at=NOW
        )
        staff.post(page_of("pause", run))

        assert "hx-trigger" in staff.get(page_of("run", run)).content.decode()
        numbers = staff.get(page_of("progress", run), {"state": "RUNNING"})
        assert numbers["HX-Refresh"] == "true"  # other buttons are due

    @pytest.mark.parametrize("name", ["run", "failed"])
    def test_says_that_it_is_simulated(self, staff, name):
        run = make_run(system=make_pretence())
        end(run.calls.first())

        page = text(staff.get(page_of(name, run)))

        assert "Simulated. The offline provider answers" in page


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"seconds": 20}, "less than a minute"),
        ({"minutes": 1}, "1 minute"),
        ({"minutes": 89}, "89 minutes"),
        ({"minutes": 150}, "2 h 30 min"),
    ],
)
def test_the_time_left_is_told_in_words(left, said):
    assert in_words(dt.timedelta(**left)) == said


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
            len(staff.get(page_of("failed", run), {"kind": kind}).context["page"])
            for kind in ("timeout", "", "unheard\0of")
        )

        assert (of_one, of_all, of_none) == (2, 3, 0)


class TestMovingOn:
    def test_says_why_it_stands_still_and_takes_more_money_than_is_spent(self, staff):
        run = make_run(budget_usd=Decimal(5))
        GenerationRun.objects.update(
            state=RunState.PAUSED,
            pause_reason=PauseReason.BUDGET,
            pause_detail="0.4 are left.",
            spent_usd=4,
        )

        page = text(staff.get(page_of("run", run)))
        refused = staff.post(page_of("resume", run), {"budget_usd": "3"}, follow=True)

        assert "The budget holds it." in page
        assert "0.4 are left." in page
        assert "Nothing changed" in text(refused)
        assert (changed(run).state, run.budget_usd) == (RunState.PAUSED, 5)
        staff.post(page_of("resume", run), {"budget_usd": "6"})
        assert (changed(run).state, run.budget_usd) == (RunState.RUNNING, 6)

    def test_each_button_says_what_it_does_and_logs_who_did(self, staff):
        run = make_run()

        before = text(staff.get(page_of("run", run)))
        paused, resumed, cancelled, over = (
            text(staff.post(page_of(name, run), follow=True))
            for name in ("pause", "resume", "cancel", "pause")
        )

        assert changed(run).state == RunState.CANCELLED
        assert "What waits is given up." in before
        assert "What was answered is kept." in paused
        assert "It goes on." in resumed
        assert "What was answered is kept." in cancelled
        assert "Nothing changed" in over
        done = LogEntry.objects.filter(by__username="ada").order_by("pk")
        logged = list(done.values_list("action", flat=True))
        assert logged == ["run.paused", "run.running", "run.cancelled"]

    def test_tries_again_what_failed_and_unusable_answers_only_if_that_is_wanted(self, staff):
        run = make_run()
        unusable, *failed = run.calls.order_by("pk")
        assert "Retry" not in text(staff.get(page_of("run", run)))
        end(unusable, CallState.INVALID, raw_answer="{", error_kind="invalid_answer")
        for call in failed:
            end(call)

        first, without, wanted = (
            text(staff.post(page_of("retry", run), asked, follow=True))
            for asked in ({}, {}, {"with_invalid": "on"})
        )

        assert "2 calls are made again." in first
        assert not run.calls.filter(state=CallState.FAILED).exists()
        assert "also what was not usable" in without
        assert "Nothing had failed" in without
        assert "1 call is made again." in wanted
