"""The console: who may see it, what it counts, what it moves."""

import pytest
from django.test import Client
from django.urls import reverse

from access.models import LogEntry
from annotation.choices import Protocol, StudyState
from annotation.overview.queries import judgment_row, verdict_words
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
)

pytestmark = pytest.mark.django_db

ACTS = ["lock", "open", "pause", "close", "extend"]
OVERVIEW = "/console/"


def act(client, study, name, **options):
    return client.post(reverse(f"console:{name}", args=[study.slug]), **options)


def shown(client):
    return client.get(OVERVIEW).content.decode()


def make_draft(**fields):
    return make_study(state=StudyState.DRAFT, locked_at=None, protocol_hash="", **fields)


class TestAccess:
    @pytest.mark.parametrize("name", ACTS)
    def test_acts_need_the_form_of_the_site(self, admin_user, name):
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(admin_user)

        assert act(strict, make_study(), name).status_code == 403

    @pytest.mark.parametrize("name", ACTS)
    def test_a_study_that_is_not_there_is_not_found(self, admin_client, name):
        assert admin_client.post(reverse(f"console:{name}", args=["nowhere"])).status_code == 404

    def test_is_left_in_no_cache(self, admin_client):
        assert "no-store" in admin_client.get(OVERVIEW)["Cache-Control"]


class TestStudies:
    def test_an_empty_site_says_how_to_begin(self, admin_client):
        page = shown(admin_client)

        assert "There is none yet" in page

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

        (_autumn, none), (spring, counts) = admin_client.get(OVERVIEW).context["studies"]

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
        assert "cannot become" in page.content.decode()

    def test_extending_plans_what_new_completions_make_possible(self, admin_client):
        study = make_study(pairs_per_context=0)
        context = make_context(dialogue=make_dialogue(dataset=study.dataset))
        for _ in range(3):
            make_completion(context=context)

        pages = [act(admin_client, study, "extend", follow=True) for _ in range(2)]

        assert study.comparisons.count() == 3
        assert "3 comparisons added to the plan; it has 3 now." in pages[0].content.decode()
        assert "0 comparisons added to the plan; it has 3 now." in pages[1].content.decode()


class TestJudgmentsAsListed:
    def test_say_who_said_what(self):
        comparison = make_comparison(
            study=make_study(title="Spring round"),
            first=make_completion(system=(warm := make_system(name="Warm"))),
        )
        by_person = make_judgment(
            comparison=comparison, rater=make_rater(study=comparison.study, code="RABC"), verdict=2
        )
        by_judge = make_llm_judgment(
            comparison=comparison, judge=make_judge(name="Judge Ash"), verdict=-3
        )

        rater, judge = map(judgment_row, (by_person, by_judge))

        assert (rater.who, rater.better, rater.words) == ("RABC", warm.name, "much better than")
        assert (judge.who, judge.worse, judge.words) == (
            "Judge Ash",
            warm.name,
            "better than (+++)",
        )
        assert rater.key == judge.key == comparison.key

    def test_mark_what_is_simulated_changed_or_surplus(self):
        plain = make_judgment()
        judgments = [
            plain,
            make_judgment(
                comparison=plain.comparison, rater=plain.rater, lease=plain.lease, revises=plain
            ),
            make_judgment(is_surplus=True),
            make_llm_judgment(judge=make_judge(name="Simulated judge", is_simulated=True)),
            make_judgment(rater=make_rater(is_simulated=True)),
        ]

        rows = [judgment_row(one) for one in judgments]

        assert [row.is_simulated for row in rows] == [False, False, False, True, True]
        assert [row.notes for row in rows] == [(), ("changed",), ("surplus",), (), ()]

    def test_show_a_reason_as_text(self, admin_client):
        judgment = make_judgment(rationale="<script>alert(1)</script> indeed")
        page = reverse("raters:judgments", args=[judgment.comparison.study.slug])

        assert "<script>alert" not in admin_client.get(page).content.decode()

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


@pytest.mark.parametrize("n", [1, 12])
def test_the_page_costs_a_fixed_number_of_queries(admin_client, n, django_assert_num_queries):
    for _ in range(n):
        make_judgment()
        make_llm_judgment()

    # Session and user; reports that wait; broken links; five counts of studies; what is broken,
    # what is to be reviewed. At most 15.
    with django_assert_num_queries(12):
        admin_client.get(OVERVIEW)
