"""The live overview of a study and its lists: counts, pace, money, alerts, and rows behind them."""

import datetime as dt
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from annotation.choices import Purpose
from annotation.models import Comparison
from annotation.overview import progress as overview_progress
from annotation.overview.queries import COMPARISONS, JUDGMENTS
from annotation.raters.services.withdrawing import withdraw_rater
from annotation.studies import stored_figures
from annotation.studies.counts import COUNTS
from completions.choices import CallState, HoldState, LeaseOutcome, PauseReason, RunState
from ranking.choices import FitState
from tests.annotation.assignment.test_choosing import make_planting_study, walk
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_generation_call,
    make_judge,
    make_judgment,
    make_lease,
    make_llm_judgment,
    make_quality_check,
    make_rater,
    make_study,
)
from tests.helpers.factories_of_calls import make_judge_run
from tests.helpers.factories_of_people import make_hold, make_report
from tests.helpers.factories_written_once import make_exclusion, make_fit, make_user
from tests.helpers.pages import rows_of, text

pytestmark = pytest.mark.django_db
HOME = reverse("console:overview")


def address(name, study):
    return reverse(f"console:{name}", args=[study.slug])


def progress(study, *, now=NOW):
    return overview_progress.study_progress(
        study, stored_figures.shown(COUNTS, study, now=now), now=now
    )


def alerts(study, *, now=NOW):
    return [str(alert.text) for alert in progress(study, now=now)["alerts"]]


def judged(study, n, *, ago, now=NOW, make=make_judgment):
    comparison = make_comparison(study=study, slots_left=6)
    at = now - ago
    for _ in range(n):
        make(comparison=comparison, shown_at=at, submitted_at=at)
    return comparison


class TestCounts:
    def test_lead_to_their_rows(self, admin_client):
        study = make_study()
        judged(study, 2, ago=dt.timedelta(minutes=5))

        page = admin_client.get(address("study", study)).content.decode()

        for name, query in (
            ("raters:coverage", ""),
            ("raters:comparisons", ""),
            ("raters:comparisons", "?show=open"),
            ("raters:comparisons", "?show=leased"),
            ("raters:judgments", "?show=people"),
            ("raters:judgments", "?show=judges"),
        ):
            url = f"{reverse(name, args=[study.slug])}{query}"
            assert f'href="{url}"' in page
            assert admin_client.get(url).status_code == 200

    def test_are_of_this_study_alone(self):
        study = make_study()
        judged(study, 2, ago=dt.timedelta(minutes=5))
        judged(study, 3, ago=dt.timedelta(minutes=5), make=make_llm_judgment)
        judged(make_study(), 4, ago=dt.timedelta(minutes=5))
        make_lease(comparison=make_comparison(study=study), rater=make_rater(study=study))

        found = progress(study)

        tally = found["counts"]
        assert (tally.comparisons, tally.by_people, tally.by_judges) == (3, 2, 3)
        assert found["n_leases"] == 1

    @pytest.mark.parametrize("planted", ["check", "repeat"])
    def test_leave_out_of_screens_and_of_the_time_left_what_takes_no_slot(
        self, admin_client, planted
    ):
        study = make_study()
        pair, rater = make_comparison(study=study, slots_left=0), make_rater(study=study)
        if planted == "check":
            check = make_quality_check(comparison=make_comparison(study=study, slots_left=0))
            make_lease(comparison=check.comparison, rater=rater, quality_check=check)
        else:
            earlier = make_lease(
                comparison=pair, rater=rater, closed_at=NOW, outcome=LeaseOutcome.SUBMITTED
            )
            make_lease(comparison=pair, rater=rater, repeats=earlier)

        found = progress(study)

        assert (found["n_leases"], found["left"]) == (0, dt.timedelta())
        assert rows(admin_client, "comparisons", study, show="leased") == []

    def test_hold_against_the_plan_what_takes_a_slot_of_it(self, admin_client):
        study = make_planting_study(
            n=8, rate=0.3, repeat_rate=0.2, session_length=10, judgments_per_pair=1
        )
        Comparison.objects.filter(purpose="MAIN").update(slots_left=1)
        rater = make_rater(study=study)
        n_main = sum(lease.is_main for lease in walk(rater))
        answered = progress(study)["counts"]
        pages = [admin_client.get(one) for one in (HOME, address("study", study))]
        withdraw_rater(rater=rater, now=NOW)
        taken_back = progress(study)["counts"]

        assert (answered.by_people, taken_back.by_people) == (10, 10)
        assert (answered.done, answered.wanted) == (n_main, 8)
        for page in pages:
            assert f'<progress value="{n_main}" max="8"' in page.content.decode()
        assert (taken_back.done, taken_back.wanted) == (0, 8)


class TestPace:
    def test_is_told_of_people_and_judges_apart_and_leads_to_the_time_left(self):
        study = make_study()
        judged(study, 6, ago=dt.timedelta(minutes=5))
        assert progress(study)["left"] == dt.timedelta(hours=1)
        judged(study, 1, ago=dt.timedelta(hours=5))
        judged(study, 2, ago=dt.timedelta(hours=5), make=make_llm_judgment)
        judged(study, 1, ago=dt.timedelta(days=2))

        found = progress(study)

        assert (found["counts"].people.in_hour, found["counts"].people.in_day) == (6, 7)
        assert (found["counts"].judges.in_hour, found["counts"].judges.in_day) == (0, 2)

    def test_says_that_nobody_can_tell_yet(self, admin_client):
        study = make_study()
        make_comparison(study=study, slots_left=3)

        assert "not known yet" in text(admin_client.get(address("study", study)))


class TestSpend:
    @pytest.mark.parametrize(
        ("budgets", "total"), [((10, 20), 30), ((10, None), None)], ids=["all", "one has none"]
    )
    def test_is_the_sum_of_the_runs_with_what_is_set_aside(self, budgets, total):
        study = make_study()
        for budget in budgets:
            spent = {"spent_usd": Decimal("2.50"), "reserved_usd": 1}
            make_judge_run(study=study, budget_usd=budget, **spent)

        spend = progress(study)["spend"]

        assert (spend["spent"], spend["reserved"], spend["budget"]) == (5, 2, total)


class TestAlerts:
    def test_tell_of_reports_and_of_completions_held_and_failed(self):
        study = make_study()
        assert alerts(study) == [], "there are none where all is well"
        make_report(rater=make_rater(study=study))
        comparison = make_comparison(study=study)
        make_hold(completion=comparison.first, state=HoldState.HELD)
        failed = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "timeout"}
        make_generation_call(context=comparison.context, **failed)

        assert alerts(study) == [
            "1 reported conversation waits for a decision.",
            "1 completion is held back and waits for a decision.",
            "1 completion could not be generated.",
        ]

    @pytest.mark.parametrize(
        ("reason", "detail", "words"),
        [
            (PauseReason.BUDGET, "", "the budget holds it"),
            (PauseReason.REFUSED, "broke", "no question: broke"),
        ],
    )
    def test_tell_why_a_run_stands_still(self, reason, detail, words):
        paused = {"state": RunState.PAUSED, "pause_reason": reason, "pause_detail": detail}
        run = make_judge_run(**paused)

        (found,) = alerts(run.study)
        assert words in found

    def test_tell_of_raters_left_out_lately_and_not_taken_back(self):
        study, by = make_study(), make_user()
        lately, long_ago, back = (make_rater(study=study) for _ in range(3))
        for rule in ("checks-2", "times-2"):  # two rules leave out one rater
            make_exclusion(rater=lately, rule=rule)
        make_exclusion(rater=long_ago, decided_at=NOW - dt.timedelta(days=3))
        for is_excluded in (True, False, True, False):
            make_exclusion(rater=back, is_excluded=is_excluded, decided_by=by, reason="Looked.")

        assert alerts(study) == ["1 rater was left out in the last day."]

    def test_tell_that_a_study_is_nearly_full(self):
        study = make_study(judgments_per_pair=21)
        comparison = make_comparison(study=study, slots_left=1)
        for _ in range(20):
            make_judgment(comparison=comparison)

        assert alerts(study) == ["Nearly full: 1 judgment by people is left."]

    def test_tell_of_a_fit_that_was_refused_until_one_is_done(self):
        study = make_study()
        make_fit(study=study, state=FitState.REFUSED, refusal="Not connected.", ended_at=NOW)

        (found,) = alerts(study)
        make_fit(study=study, state=FitState.DONE, as_of=NOW + dt.timedelta(hours=1), ended_at=NOW)

        assert "Not connected." in found
        assert alerts(study) == []


class TestWatching:
    @pytest.mark.parametrize(("state", "asks"), [("OPEN", True), ("CLOSED", False)])
    def test_asks_again_while_the_study_can_change(self, admin_client, state, asks):
        study = make_study(state=state)

        page = admin_client.get(address("study", study)).content.decode()

        assert ("hx-get" in page) is asks
        assert (f'hx-get="{address("live", study)}?state={state}"' in page) is asks

    def test_answers_with_the_numbers_alone(self, admin_client):
        answer = admin_client.get(address("live", make_study()), {"state": "OPEN"})

        assert answer.content.decode().lstrip().startswith('<section id="live"')
        assert "no-store" in answer["Cache-Control"]

    @pytest.mark.parametrize("who", ["somebody", "nobody"])
    def test_loads_the_page_where_other_acts_are_due_or_somebody_is_signed_out(
        self, admin_client, who
    ):
        client = admin_client if who == "somebody" else Client()

        answer = client.get(address("live", make_study()), {"state": "PAUSED"})

        assert answer["HX-Refresh"] == "true"


LISTS = ["comparisons", "judgments"]


def list_address(name, study):
    return reverse(f"raters:{name}", args=[study.slug])


def rows(client, name, study, **asked):
    return client.get(list_address(name, study), asked).context["rows"]


def table(client, name, study, **asked):
    return rows_of(client.get(list_address(f"{name}_csv", study), asked))


class TestComparisons:
    @pytest.fixture
    def study(self):
        study = make_study()
        kinds = {
            "open": {"slots_left": 2},
            "done": {"slots_left": 0},
            "held": {"slots_left": 1, "held_at": NOW},
            "planted": {"slots_left": 0, "purpose": Purpose.CHECK},
        }
        for key, fields in kinds.items():
            make_comparison(study=study, key=key, **fields)  # type: ignore[arg-type]
        leased = make_comparison(study=study, key="leased", slots_left=0)
        make_lease(comparison=leased, rater=make_rater(study=study))
        make_comparison(key="elsewhere")
        return study

    @pytest.mark.parametrize(
        ("show", "keys"),
        [
            ("", {"open", "done", "held", "leased"}),
            ("open", {"open", "held"}),
            ("done", {"done", "leased"}),
            ("leased", {"leased"}),
            ("held", {"held"}),
            ("planted", {"planted"}),
        ],
    )
    def test_are_those_asked_for(self, admin_client, study, show, keys):
        found = {row.key for row, *_ in rows(admin_client, "comparisons", study, show=show)}
        loaded = table(admin_client, "comparisons", study, show=show)

        assert found == keys == {row["comparison"] for row in loaded}

    def test_count_what_was_said_of_each(self, admin_client, study):
        comparison = study.comparisons.get(key="open")
        make_judgment(revises=make_judgment(comparison=comparison))
        make_llm_judgment(comparison=comparison)

        ((_row, *said),) = rows(admin_client, "comparisons", study, q="open")
        (loaded,) = table(admin_client, "comparisons", study, q="open")

        assert said == [1, 1]
        assert (loaded["judgments_by_people"], loaded["judgments_by_judges"]) == ("1", "1")

    def test_are_found_sorted_and_lead_on_as_asked(self, admin_client, study):
        comparison = study.comparisons.get(key="open")

        for q in (comparison.context.key, comparison.first.system.slug):
            ((found, *_said),) = rows(admin_client, "comparisons", study, q=q)
            assert found.key == "open"
        listed = rows(admin_client, "comparisons", study, sort="-left")
        left = [row.slots_left for row, *_ in listed]
        assert left == sorted(left, reverse=True)
        page = admin_client.get(list_address("comparisons", study)).content.decode()
        judgments = f"{list_address('judgments', study)}?q=open"
        assert f'href="{judgments}"' in page
        assert admin_client.get(judgments).status_code == 200


class TestJudgments:
    @pytest.fixture
    def study(self):
        study = make_study()
        comparison = make_comparison(study=study, key="pair")
        rater = make_rater(study=study, code="RAAA")
        first = make_judgment(comparison=comparison, rater=rater, rationale="=1+1")
        make_judgment(revises=first)
        make_judgment(comparison=comparison, is_surplus=True)
        make_llm_judgment(comparison=comparison, judge=make_judge(slug="ash", name="Judge Ash"))
        make_judgment()
        return study

    @pytest.mark.parametrize(
        ("show", "n"), [("", 4), ("people", 2), ("judges", 1), ("changed", 1), ("surplus", 1)]
    )
    def test_are_those_asked_for(self, admin_client, study, show, n):
        loaded = table(admin_client, "judgments", study, show=show)

        assert len(rows(admin_client, "judgments", study, show=show)) == len(loaded) == n
        reasons = {row["rationale"] for row in loaded}
        assert "=1+1" not in reasons, "a download defuses formulas"
        assert show or "'=1+1" in reasons

    def test_are_found_by_who_and_what(self, admin_client, study):
        for q, n in (("RAAA", 2), ("ash", 1), ("pair", 4), ("x", 0)):
            assert len(rows(admin_client, "judgments", study, q=q)) == n

    def test_are_sorted_without_losing_any(self, admin_client, study):
        for sort in ("at", "-at", "who", "-context"):
            assert len(rows(admin_client, "judgments", study, sort=sort)) == 4


class TestBothLists:
    @pytest.mark.parametrize("listed", [COMPARISONS, JUDGMENTS], ids=LISTS)
    def test_offer_every_choice_and_say_so_when_nothing_matches(self, admin_client, listed):
        name = LISTS[listed is JUDGMENTS]

        answer = admin_client.get(list_address(name, make_study()))

        assert "matches" in text(answer)
        page = answer.content.decode()
        assert all(f'<option value="{show}"' in page for show in listed.shows)

    @pytest.mark.parametrize("name", LISTS)
    def test_have_pages(self, admin_client, monkeypatch, name):
        monkeypatch.setattr("annotation.overview.queries.ON_PAGE", 2)
        study = make_study()
        for _ in range(3):
            make_judgment(comparison=make_comparison(study=study))

        page = admin_client.get(list_address(name, study), {"page": "2", "sort": "context"})

        assert len(page.context["rows"]) == 1
        assert "page=1" in page.content.decode()
