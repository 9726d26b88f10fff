"""The console's home: what waits for somebody first, then the studies; and the way around."""

import datetime as dt

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.choices import StudyState
from completions.choices import JobState, PauseReason, RunState
from tests.helpers.factories import make_comparison, make_context, make_judgment, make_study
from tests.helpers.factories_of_calls import make_generation_run, make_judge_run
from tests.helpers.factories_of_people import make_hold
from tests.helpers.factories_of_site import make_job
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

HOME = reverse("console:overview")
HELD_BY_BUDGET = {"state": RunState.PAUSED, "pause_reason": PauseReason.BUDGET}


@pytest.fixture
def staff(client):
    client.force_login(make_member("ada"))
    return client


def needs(staff):
    return [(one.what, one.url) for one in staff.get(HOME).context["needs"]]


class TestWhatWaits:
    def test_nothing_is_said_where_nothing_waits(self, staff):
        assert "What waits for you" not in text(staff.get(HOME))

    def test_runs_that_stand_still_come_first(self, staff):
        make_context()
        run = make_generation_run(**HELD_BY_BUDGET)
        judged = make_judge_run(**HELD_BY_BUDGET)
        make_generation_run(state=RunState.PAUSED, pause_reason=PauseReason.ADMIN)

        whats = [what for what, _url in needs(staff)]

        assert sorted(whats[:2]) == [
            f"Completions, run {run.pk}, stands still",
            f"Judging, run {judged.pk}, stands still",
        ]
        assert whats[2:] == ["1 context to review"]

    def test_a_job_that_failed_is_shown_for_a_week(self, staff):
        now = timezone.now()
        lately = make_job(state=JobState.FAILED, ended_at=now - dt.timedelta(days=6))
        make_job(state=JobState.FAILED, ended_at=now - dt.timedelta(days=8))

        assert needs(staff) == [("A job failed", reverse("data:job", args=[lately.pk]))]

    def test_reviews_lead_to_their_queues(self, staff):
        hold = make_hold()
        dataset = hold.completion.context.dataset.slug

        assert ("1 completion held back", reverse("contexts:held", args=[dataset])) in needs(staff)

    @pytest.mark.parametrize(
        ("n_left", "what"), [(1, "About to fill"), (0, "Every judgment is in")]
    )
    def test_a_study_that_is_almost_or_wholly_full_is_named(self, staff, n_left, what):
        study = make_study(state=StudyState.OPEN)
        for _ in range(10 - n_left):
            make_judgment(comparison=make_comparison(study=study, slots_left=0))
        for _ in range(n_left):
            make_comparison(study=study)

        assert (what, reverse("console:study", args=[study.slug])) in needs(staff)


class TestWayAround:
    @pytest.mark.parametrize(
        ("name", "part"),
        [
            ("console:overview", "Studies"),
            ("contexts:datasets", "Data"),
            ("writing:datasets", "Data"),
            ("data:jobs", "Data"),
            ("models:systems", "Models"),
            ("console:all_judges", "Models"),
            ("members:all", "Team"),
            ("log:all", "Team"),
            ("console:search", "Search"),
        ],
    )
    def test_each_page_says_in_which_part_it_is(self, staff, name, part):
        page = staff.get(reverse(name)).content.decode()

        assert page.count('aria-current="true"') == 1
        assert f'aria-current="true">{part}</a>' in page

    def test_a_page_that_is_not_there_keeps_the_way_around(self, staff, client):
        lost = staff.get("/console/nowhere/")

        assert lost.status_code == 404
        assert reverse("contexts:datasets") in lost.content.decode()

    def test_strangers_see_no_console_on_a_page_of_errors(self, client):
        assert reverse("contexts:datasets") not in client.get("/console/nowhere/").content.decode()
