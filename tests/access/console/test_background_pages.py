"""Pages of figures that a worker works out: they wait, show what was kept, and say as of when."""

import pytest
from django.urls import reverse

from access import background
from annotation.judges import console as judge_console
from annotation.planning import queries as planning_queries
from annotation.planning import services as planning_services
from annotation.studies import counts, stored_figures
from ranking.raters.services import reviewing
from ranking.releases import queries
from tests.helpers.datasets import make_dialogues
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_judge,
    make_judgment,
    make_study,
)
from tests.helpers.judged import judge_calls
from tests.helpers.pages import text
from tests.helpers.released import make_reviewed_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def handed(monkeypatch):
    """What workers were asked for, of studies that are all large."""
    for module in (planning_queries, judge_console, counts, queries, reviewing):
        monkeypatch.setattr(module, "MOST_LIVE", 0)
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)
    asked: list[str] = []
    monkeypatch.setattr(background, "hand_over", lambda _task, kind, study_id: asked.append(kind))
    return asked


@pytest.fixture
def study():
    return make_study(dataset=make_dialogues(), pairs_per_context=4)


def keep(kind, study, now=NOW):
    return stored_figures.keep_figures(kind=kind, study_id=study.pk, now=now)


class TestAPlan:
    def test_is_waited_for_then_shown_as_of_its_time(self, admin_client, study, handed):
        address = reverse("console:plan", args=[study.slug])
        part = {"HX-Request": "true"}

        assert "One moment" in text(admin_client.get(address))
        assert admin_client.get(address, headers=part).status_code == 204
        assert handed == ["plan"]  # the second asker need not
        assert keep("plan", study)

        page = text(admin_client.get(address))
        assert "Add 8 comparisons" in page
        assert f"Worked out at {NOW:%-d %b %Y, %H:%M:%S} UTC." in page
        assert "may have changed" not in page
        assert admin_client.get(address, headers=part).headers["HX-Refresh"] == "true"

    @pytest.mark.parametrize("changed", ["texts", "age", "plan"])
    def test_that_is_not_current_says_so_and_is_asked_for(
        self, admin_client, study, handed, changed
    ):
        keep("plan", study, now=NOW - HOUR if changed == "age" else NOW)
        if changed == "texts":
            make_completion(context=study.dataset.contexts.earliest("pk"))
        if changed == "plan":
            planning_services.plan_study(study=study, now=NOW)

        page = text(admin_client.get(reverse("console:plan", args=[study.slug])))

        assert "Add 8 comparisons" in page
        assert "may have changed" in page
        assert handed == ["plan"]

    def test_is_worked_out_by_one_worker_at_a_time(self, study, handed, monkeypatch):
        again: list[bool] = []
        work = stored_figures.FiguresKind(
            "plan", lambda _: False, lambda _: 0, lambda one, _now: again.append(keep("plan", one))
        )

        assert stored_figures.keep(work, study, now=NOW)
        assert again == [False]


class TestJudges:
    def test_are_counted_once_and_listed_as_they_are_now(self, admin_client, handed):
        pair = make_comparison(study=make_study())
        judge = make_judge(name="Judge A")
        judge_calls(pair, judge, ["A+1", "B-1"])
        address = reverse("console:judges", args=[pair.study.slug])

        assert "One moment" in text(admin_client.get(address))
        keep("judges", pair.study)
        page = text(admin_client.get(address, {"show": "inconsistent"}))
        judge_calls(make_comparison(study=pair.study), judge, ["A+1"])

        assert "Judge A" in page
        assert pair.key in page
        assert "may have changed" not in page
        assert "may have changed" in text(admin_client.get(address))
        assert handed == ["judges"]


class TestCounts:
    def test_of_a_large_study_are_those_that_a_worker_made(self, admin_client, handed):
        study = make_judgment().comparison.study
        pages = [reverse("console:study", args=[study.slug]), reverse("console:overview")]

        for page in pages:
            assert "a worker counts what it has" in text(admin_client.get(page))
        assert handed == ["counts"]  # for both pages
        keep("counts", study)

        link = f'<a href="{reverse("raters:judgments", args=[study.slug])}?show=people">1</a>'
        for page in pages:
            assert link in admin_client.get(page).content.decode()
        assert f"Counted at {NOW:%-d %b %Y, %H:%M:%S} UTC." in text(admin_client.get(pages[0]))

    def test_are_asked_for_again_when_more_came(self, admin_client, handed):
        study = make_judgment().comparison.study
        address = reverse("console:live", args=[study.slug]), {"state": study.state}
        keep("counts", study)

        assert "Newer numbers" not in text(admin_client.get(*address))
        make_judgment()  # of whichever study
        assert "Newer numbers are being counted." in text(admin_client.get(*address))
        assert handed == ["counts"]


class TestWhatAReleaseWouldHold:
    def test_is_counted_by_a_worker_and_never_rests_on_what_was_kept(self, admin_client, handed):
        study = make_judgment().comparison.study
        address = reverse("raters:release", args=[study.slug])

        page = text(admin_client.get(address))
        assert "a worker counts what a release would hold" in page
        assert "Build a release" not in page
        assert handed == ["release"]
        keep("release", study)

        assert "no ratings to release yet" in text(admin_client.get(address))


class TestMovesOfRanks:
    def test_are_worked_out_for_those_who_would_go(self, admin_client, handed):
        study, careless = make_reviewed_study()
        address = reverse("raters:moves", args=[study.slug])
        part = {"headers": {"HX-Request": "true"}}

        waiting = admin_client.get(address, {"rater": careless.code}, **part).content.decode()
        assert 'hx-trigger="load delay:2s"' in waiting
        assert handed == ["moves"]
        keep("moves", study, now=NOW + 3 * HOUR)

        shown = text(admin_client.get(address, {"rater": careless.code}, **part))
        assert "60 judgments now, 45 after" in shown
        assert "Others would go by now." in text(admin_client.get(address, {"rater": "R1"}))
