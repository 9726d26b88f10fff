"""The console's home: what waits for somebody first, then the studies; the way around, search."""

import datetime as dt

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.choices import StudyState
from completions.choices import JobState, PauseReason, RunState
from tests.helpers.factories import (
    make_comparison,
    make_completion,
    make_context,
    make_judgment,
    make_rater,
    make_study,
    make_writer,
)
from tests.helpers.factories_of_calls import make_generation_run, make_judge_run
from tests.helpers.factories_of_people import make_hold
from tests.helpers.factories_of_site import make_job
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

HOME = reverse("console:overview")
HELD_BY_BUDGET = {"state": RunState.PAUSED, "pause_reason": PauseReason.BUDGET}


def needs(staff):
    return [(one.text, one.url) for _whose, one in staff.get(HOME).context["needs"]]


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

    def test_a_page_that_is_not_there_keeps_the_way_around(self, staff):
        lost = staff.get("/console/nowhere/")

        assert lost.status_code == 404
        assert reverse("contexts:datasets") in lost.content.decode()

    def test_strangers_see_no_console_on_a_page_of_errors(self, client):
        assert reverse("contexts:datasets") not in client.get("/console/nowhere/").content.decode()


SEARCH = reverse("console:search")


def found(staff, asked):
    groups = staff.get(SEARCH, {"q": asked}).context["groups"]
    return {label: [url for *_words, url in rows] for label, rows in groups}


def test_a_study_is_found_by_its_title_and_its_address(staff):
    study = make_study(slug="pilot-two", title="A pilot with nurses")
    page = reverse("console:study", args=["pilot-two"])

    assert found(staff, "NURSES") == found(staff, "pilot-tw") == {"Studies": [page]}
    assert study.title in text(staff.get(SEARCH, {"q": "nurses"}))


def test_a_context_is_found_by_its_key_and_a_text_by_its_words(staff):
    context = make_context(key="ctx-lamp")
    make_completion(context=context, text="I hear how heavy this is.")
    page = reverse("contexts:context", args=[context.dataset.slug, "ctx-lamp"])

    assert found(staff, "ctx-l") == {"Contexts": [page]}
    assert found(staff, "how heavy") == {"Texts": [page]}


def test_people_are_found_by_the_beginning_of_their_code(staff):
    rater, writer = make_rater(code="ABCD1"), make_writer(code="ABCD2")

    assert found(staff, "abcd") == {
        "Raters": [reverse("raters:rater", args=[rater.study.slug, "ABCD1"])],
        "Writers": [reverse("writing:writer", args=[writer.dataset.slug, "ABCD2"])],
    }


def test_nobody_is_found_by_an_id_of_a_platform(staff):
    make_rater(platform="PROLIFIC", external_id="5f0c")

    assert found(staff, "5f0c") == {}


@pytest.mark.parametrize("asked", ["", " ", "\0", "%", "<script>"])
def test_nothing_found_is_said_and_nothing_asked_is_not(staff, asked):
    page = text(staff.get(SEARCH, {"q": asked}))

    assert ("Nothing has" in page) == bool(asked.strip(" \0"))


def test_a_few_of_each_kind_are_shown(staff):
    for _ in range(12):
        make_study(title="The same")

    page = staff.get(SEARCH, {"q": "same"})

    assert len(page.context["groups"][0][1]) == 10
    assert "More words find fewer." in text(page)
