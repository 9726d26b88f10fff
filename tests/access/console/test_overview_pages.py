"""The console's home: what waits for somebody, the studies and what moves them, the way around."""

import datetime as dt

import pytest
from django.urls import reverse
from django.utils import timezone

from access.models import LogEntry
from annotation.choices import Protocol, StudyState
from annotation.overview.queries import judgment_row, verdict_words
from completions.choices import JobState, PauseReason, RunState
from tests.helpers.factories import (
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_judge,
    make_judgment,
    make_llm_judgment,
    make_rater,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_of_calls import make_generation_run, make_judge_run
from tests.helpers.factories_of_people import make_hold
from tests.helpers.factories_of_site import make_job
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

ACTS = ["lock", "open", "pause", "close", "extend"]
HOME = reverse("console:overview")
SEARCH = reverse("console:search")
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

    @pytest.mark.parametrize(("n_left", "what"), [(1, "About to fill"), (0, "Every slot is taken")])
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


def act(client, study, name, **options):
    return client.post(reverse(f"console:{name}", args=[study.slug]), **options)


def shown(client):
    return client.get(HOME).content.decode()


def make_draft(**fields):
    return make_study(state=StudyState.DRAFT, locked_at=None, protocol_hash="", **fields)


class TestStudies:
    def test_an_empty_site_says_how_to_begin(self, admin_client):
        assert "There is none yet" in shown(admin_client)

    def test_each_study_has_its_own_counts_and_a_changed_answer_counts_once(self, admin_client):
        study = make_study(title="Spring round")
        comparison = make_comparison(study=study, slots_left=4)
        make_comparison(study=study, slots_left=5)
        make_context(dialogue=make_dialogue(dataset=study.dataset))
        first = make_judgment(comparison=comparison)
        make_judgment(comparison=comparison)
        make_judgment(comparison=comparison, rater=first.rater, lease=first.lease, revises=first)
        make_llm_judgment(comparison=comparison)
        make_study(title="Autumn round")

        (_autumn, none), (spring, counts) = admin_client.get(HOME).context["studies"]

        assert spring.title == "Spring round"
        assert (counts.contexts, counts.completions, counts.comparisons) == (3, 4, 2)
        assert (counts.by_people, counts.by_judges, counts.slots_left) == (2, 1, 9)
        assert none.contexts == none.comparisons == none.by_people == 0

    def test_links_to_what_belongs_to_a_study(self, admin_client):
        study = make_study()

        page = shown(admin_client)

        for name in ("ranking:leaderboard", "ranking:judgments_csv", "annotation:entry"):
            assert f'href="{reverse(name, args=[study.slug])}"' in page

    @pytest.mark.parametrize(
        ("state", "offered"),
        [
            (StudyState.DRAFT, {"open", "lock", "plan"}),
            (StudyState.LOCKED, {"open", "close", "plan"}),
            (StudyState.OPEN, {"pause", "close", "plan"}),
            (StudyState.PAUSED, {"open", "close", "plan"}),
            (StudyState.CLOSED, set()),
        ],
    )
    def test_offers_the_acts_that_its_state_allows(self, admin_client, state, offered):
        study = make_draft() if state == StudyState.DRAFT else make_study(state=state)

        page = shown(admin_client)

        names = [*ACTS, "plan"]
        addresses = {name: reverse(f"console:{name}", args=[study.slug]) for name in names}
        assert {name for name, address in addresses.items() if address in page} == offered


class TestMoving:
    """Which steps there are is proved with the service: annotation/studies/test_studies.py."""

    @pytest.mark.parametrize(
        ("before", "name", "after"),
        [
            (StudyState.DRAFT, "lock", StudyState.LOCKED),
            (StudyState.PAUSED, "open", StudyState.OPEN),
            (StudyState.OPEN, "pause", StudyState.PAUSED),
            (StudyState.OPEN, "close", StudyState.CLOSED),
        ],
    )
    def test_changes_the_state_and_logs_who_did(
        self, admin_client, admin_user, before, name, after
    ):
        study = make_draft() if before == StudyState.DRAFT else make_study(state=before)

        page = act(admin_client, study, name, follow=True)

        study.refresh_from_db()
        assert study.state == after
        assert LogEntry.objects.get(subject=f"study {study.slug}").by == admin_user
        assert "notice good" in page.content.decode()

    def test_says_why_a_step_is_refused(self, admin_client):
        page = act(admin_client, make_study(state=StudyState.OPEN), "lock", follow=True)

        assert "notice error" in page.content.decode()
        assert "Nothing changed: a study that is open cannot be locked." in page.content.decode()

    def test_extending_says_what_came_and_what_there_is_now(self, admin_client):
        page = act(admin_client, make_comparison().study, "extend", follow=True)

        assert "0 comparisons added to the plan; it has 1 now." in text(page)


class TestJudgmentsAsListed:
    def test_say_who_said_what(self):
        comparison = make_comparison(first=make_completion(system=make_system(name="Warm")))
        person = make_rater(study=comparison.study, code="RABC")
        by_person = make_judgment(comparison=comparison, rater=person, verdict=2)
        machine = make_judge(name="Judge Ash")
        by_judge = make_llm_judgment(comparison=comparison, judge=machine, verdict=-3)

        rater, judge = map(judgment_row, (by_person, by_judge))

        assert (rater.who, rater.better, rater.words) == ("RABC", "Warm", "much better than")
        assert (judge.who, judge.worse, judge.words) == ("Judge Ash", "Warm", "better than (+++)")
        assert rater.key == judge.key == comparison.key

    def test_mark_what_is_simulated_changed_or_surplus(self):
        plain = make_judgment()
        same = {"comparison": plain.comparison, "rater": plain.rater, "lease": plain.lease}
        judgments = [
            plain,
            make_judgment(**same, revises=plain),
            make_judgment(is_surplus=True),
            make_llm_judgment(judge=make_judge(name="Simulated judge", is_simulated=True)),
            make_judgment(rater=make_rater(is_simulated=True)),
        ]

        rows = [judgment_row(one) for one in judgments]

        assert [row.is_simulated for row in rows] == [False, False, False, True, True]
        assert [row.notes for row in rows] == [(), ("changed",), ("surplus",), (), ()]

    @pytest.mark.parametrize(
        ("protocol", "verdict", "words"),
        [
            (Protocol.PREFERENCE, 0, "about the same as"),
            (Protocol.PREFERENCE, 1, "slightly better than"),
            (Protocol.PREFERENCE, -2, "much better than"),
            (Protocol.RUBRIC, 1, "better than (+)"),
            (Protocol.RUBRIC, -5, "better than (+++++)"),
        ],
    )
    def test_a_verdict_reads_from_the_better_message(self, protocol, verdict, words):
        assert verdict_words(protocol=protocol, verdict=verdict) == words
