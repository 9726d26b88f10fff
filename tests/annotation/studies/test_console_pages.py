"""The console's page of one study, and the one that shows a plan before it is written."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.choices import PlanKind, Protocol, StudyState
from annotation.models import Comparison, DimensionMark, Study
from annotation.studies import services
from annotation.studies.protocol import STUDIES, content_hash, load_protocol
from annotation.studies.rubric import load_rubric
from completions.models import Hold
from tests.helpers.datasets import make_dialogues
from tests.helpers.factories import (
    CONTENT,
    NOW,
    make_alone,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_judgment,
    make_study,
)
from tests.helpers.pages import assert_turned_away, text

pytestmark = pytest.mark.django_db

PAGES = ["study", "plan"]


def address(name, study):
    return reverse(f"console:{name}", args=[study.slug])


def locked():
    protocol = load_protocol(STUDIES / "heart-rubric.toml")
    study = services.create_study(
        protocol=protocol,
        rubric=load_rubric(protocol.rubric),
        dataset=make_dialogues(),
        now=NOW,
    )
    return services.lock_study(study=study, now=NOW)


def rate():
    """Give one message of a likert study a rating on one dimension."""
    study = make_study(protocol=Protocol.LIKERT)
    judgment = make_judgment(
        comparison=make_alone(study=study), protocol=Protocol.LIKERT, verdict=None
    )
    DimensionMark.objects.create(judgment=judgment, dimension="E", advantage=4)
    return judgment


class TestAccess:
    @pytest.mark.parametrize("name", PAGES)
    @pytest.mark.parametrize("is_user", [False, True], ids=["nobody", "a user who is no member"])
    def test_others_are_turned_away(self, name, is_user):
        client = Client()
        if is_user:
            client.force_login(User.objects.create_user("ada"))

        answer = client.get(address(name, make_study()))

        assert_turned_away(answer)

    @pytest.mark.parametrize("name", PAGES)
    def test_a_study_that_is_not_there_is_not_found(self, admin_client, name):
        assert admin_client.get(f"/console/nowhere/{name}/").status_code == 404

    @pytest.mark.parametrize("name", PAGES)
    def test_is_left_in_no_cache(self, admin_client, name):
        assert "no-store" in admin_client.get(address(name, make_study()))["Cache-Control"]


class TestStudyPage:
    def test_shows_the_hash_that_judgments_carry_and_that_it_still_holds(self, admin_client):
        study = locked()

        page = text(admin_client.get(address("study", study)))

        assert study.protocol_hash == content_hash(study.content)
        assert f"{study.protocol_hash} as locked" in page
        assert "heart-rubric, version 1" in page
        assert "not what was locked" not in page

    def test_raises_the_alarm_when_the_content_was_changed_in_the_database(self, admin_client):
        study = locked()
        Study.objects.update(content=study.content | {"seed": "another"})

        page = text(admin_client.get(address("study", study)))

        assert "The stored content is not what was locked" in page

    def test_says_that_a_draft_is_not_locked(self, admin_client):
        study = make_study(state=StudyState.DRAFT, locked_at=None, protocol_hash="")

        assert "not locked yet" in text(admin_client.get(address("study", study)))

    @pytest.mark.parametrize(("plan", "is_said"), [("BALANCED", False), ("ADAPTIVE", True)])
    def test_says_plainly_when_the_plan_is_adaptive(self, admin_client, plan, is_said):
        study = make_study(plan=plan)

        page = text(admin_client.get(address("study", study)))

        assert ("The plan is adaptive" in page) == is_said
        assert PlanKind(plan).label in page

    def test_says_that_a_shadow_study_is_simulated(self, admin_client):
        study = make_study(is_simulated=True, title="Simulated raters")

        assert "programs" in text(admin_client.get(address("study", study)))

    def test_leads_to_everything_about_the_study(self, admin_client):
        study = make_study()
        make_study(name=study.name, version=2, slug="later")

        page = admin_client.get(address("study", study)).content.decode()

        for wanted in (
            "console:plan",
            "console:checks",
            "console:reports",
            "raters:list",
            "raters:review",
            "raters:fits",
            "ranking:leaderboard",
            "ranking:judgments_csv",
            "annotation:entry",
        ):
            assert f'href="{reverse(wanted, args=[study.slug])}"' in page
        assert f'href="{reverse("contexts:held", args=[study.dataset.slug])}"' in page
        assert f'href="{reverse("console:study", args=["later"])}"' in page

    def test_comes_back_after_an_act_with_what_happened(self, admin_client):
        study = make_study()

        answer = admin_client.post(address("pause", study), follow=True)

        assert answer.redirect_chain[-1][0] == address("study", study)
        assert "On pause" in text(answer)

    def test_locks_a_draft(self, admin_client):
        study = make_study(state=StudyState.DRAFT, locked_at=None, protocol_hash="")

        page = text(admin_client.post(address("lock", study), follow=True))

        assert "Locked: from now on only its state changes." in page
        assert Study.objects.get().protocol_hash in page

    @pytest.mark.parametrize("n", [1, 8])
    def test_costs_few_queries_for_many_studies(
        self, admin_client, n, django_assert_max_num_queries
    ):
        studies = [make_judgment().comparison.study for _ in range(n)]

        # Session, user and role; the study; nine of its progress; versions, checks, holds.
        with django_assert_max_num_queries(15):
            admin_client.get(address("study", studies[0]))


class TestPlanPage:
    def test_shows_what_planning_would_come_to_and_writes_nothing(self, admin_client):
        study = make_study(dataset=make_dialogues(), pairs_per_context=4)

        page = text(admin_client.get(address("plan", study)))

        assert "0 Planned before" in page or "Planned before 0" in page
        assert "Add 8 comparisons" in page
        assert "Regular 2 8 connected" in page
        assert "4 system-3 4" in page
        assert not Comparison.objects.exists()

    def test_says_where_systems_cannot_be_compared(self, admin_client):
        dataset = make_dataset()
        for _ in range(2):
            context = make_context(dialogue=make_dialogue(dataset=dataset))
            make_completion(context=context)
            make_completion(context=context)

        page = text(admin_client.get(address("plan", make_study(dataset=dataset))))

        assert "Regular: not connected. Its systems fall into 2 groups" in page

    def test_counts_what_would_be_held_by_reason(self, admin_client):
        dataset = make_dialogues()
        context = dataset.contexts.order_by("pk").first()
        assert context is not None
        make_completion(context=context, text="As an AI, I hear you.")

        page = text(admin_client.get(address("plan", make_study(dataset=dataset))))

        assert "self-identification" in page
        assert not Hold.objects.exists()

    def test_counts_the_pairs_that_are_left_out_because_the_replies_are_the_same(
        self, admin_client
    ):
        context = make_context()
        for said in ("I hear you.", "I hear you. ", "What helps?"):
            make_completion(context=context, text=said)

        page = text(admin_client.get(address("plan", make_study(dataset=context.dataset))))

        assert "Add 2 comparisons" in page
        assert "1 pair left out because both replies are word for word the same." in page

    def test_is_written_by_its_button(self, admin_client, admin_user):
        study = make_study(dataset=make_dialogues())

        page = text(admin_client.post(address("extend", study), follow=True))

        assert "12 comparisons added to the plan; it has 12 now." in page
        assert Comparison.objects.count() == 12

    def test_says_why_nothing_was_planned(self, admin_client):
        checks = CONTENT["checks"] | {"gold_set": "nowhere-1"}
        study = make_study(
            dataset=make_dialogues(),
            content=CONTENT | {"checks": checks},
            state=StudyState.DRAFT,
            locked_at=None,
            protocol_hash="",
        )

        page = text(admin_client.post(address("extend", study), follow=True))

        assert "Nothing was planned" in page
        assert not Comparison.objects.exists()

    def test_shows_a_likert_study_without_pairs(self, admin_client):
        study = make_study(dataset=make_dialogues(), protocol=Protocol.LIKERT)

        page = text(admin_client.get(address("plan", study)))

        assert "Add 8 comparisons" in page
        assert "Strata" not in page


class TestNewestRatings:
    def test_say_what_one_message_was_rated(self, admin_client):
        judgment = rate()

        study = judgment.comparison.study
        page = text(admin_client.get(reverse("raters:judgments", args=[study.slug])))

        assert f"{judgment.comparison.first.system.name} rated E 4" in page


FRAMES = "This site opens in no frame"


def of_platform(platform, **fields):
    content = CONTENT | {"crowd": CONTENT["crowd"] | {"platform": platform}}
    return make_study(content=content, **fields)


class TestLinksForRaters:
    @pytest.mark.parametrize(
        ("platform", "begins"),
        [
            ("mturk", ["?workerId="]),
            ("prolific", ["?PROLIFIC_PID={{%PROLIFIC_PID%}}"]),
            ("any", ["", "?PROLIFIC_PID=", "?workerId=", "?participantId=", "?pid="]),
        ],
    )
    def test_are_whole_and_for_those_who_are_let_in(self, admin_client, settings, platform, begins):
        settings.HEART_SITE_URL = "https://heart.example.org/"
        study = of_platform(platform)

        page = text(admin_client.get(address("study", study)))

        entry = f"https://heart.example.org/s/{study.slug}/"
        assert page.count(entry) == len(begins)
        assert all(entry + begin in page for begin in begins)

    @pytest.mark.parametrize(
        ("platform", "is_told"), [("mturk", True), ("any", True), ("prolific", False)]
    )
    def test_of_mechanical_turk_say_that_nothing_opens_in_a_frame(
        self, admin_client, platform, is_told
    ):
        page = text(admin_client.get(address("study", of_platform(platform))))

        assert (FRAMES in page) == is_told

    @pytest.mark.parametrize("state", [StudyState.DRAFT, StudyState.LOCKED])
    @pytest.mark.parametrize(("platform", "is_told"), [("mturk", True), ("any", False)])
    def test_locking_and_opening_say_so_too(self, admin_client, state, platform, is_told):
        of_platform(platform, state=state)
        n_acts = 2 if state == StudyState.DRAFT else 1

        page = text(admin_client.get(reverse("console:overview")))

        assert page.count(FRAMES) == is_told * n_acts

    def test_are_not_given_for_a_study_that_takes_nobody(self, admin_client):
        simulated = make_study(is_simulated=True, title="Simulated raters")
        for study in (of_platform("mturk", state=StudyState.CLOSED), simulated):
            page = text(admin_client.get(address("study", study)))
            assert "Links for raters" not in page
            assert FRAMES not in page
