"""The console's pages of one study: the study, its plan before it is written, the tabs."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, reverse

from annotation.choices import PlanKind, Protocol, StudyState
from annotation.models import Comparison, Study
from annotation.studies.protocol.files import STUDIES, load_protocol, parse_protocol
from annotation.studies.protocol.study import TAKEN
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts, states
from annotation.templatetags.study_tabs import TABS, pages_beside, study_tabs
from completions.files.toml import content_hash
from completions.models import Hold
from tests.helpers.datasets import make_dialogues
from tests.helpers.factories import (
    CONTENT,
    NOW,
    make_alone,
    make_completion,
    make_context,
    make_dialogue,
    make_judgment,
    make_study,
)
from tests.helpers.factories_written_once import make_mark
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

DRAFT: dict[str, Any] = {"state": StudyState.DRAFT, "locked_at": None, "protocol_hash": ""}
FRAMES = "This site opens in no frame"


def address(name, study):
    return reverse(f"console:{name}", args=[study.slug])


def draft_of_file():
    protocol = load_protocol(STUDIES / "heart-rubric.toml")
    rubric = load_rubric(protocol.rubric)
    return drafts.create_study(protocol=protocol, rubric=rubric, dataset=make_dialogues(), now=NOW)


class TestStudyPage:
    def test_shows_the_hash_that_judgments_carry_and_that_it_still_holds(self, admin_client):
        study = states.lock_study(study=draft_of_file(), now=NOW)

        page = text(admin_client.get(address("study", study)))

        assert study.protocol_hash == content_hash(study.content)
        assert f"{study.protocol_hash} as locked" in page
        assert "heart-rubric, version 1" in page
        assert "not what was locked" not in page

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({}, "The stored content is not what was locked"),
            (DRAFT, "not locked yet"),
            ({"is_simulated": True, "title": "Simulated raters"}, "programs"),
            ({"plan": PlanKind.ADAPTIVE}, PlanKind.ADAPTIVE.label),
        ],
        ids=["changed in the database", "a draft", "a shadow study", "adaptive"],
    )
    def test_says_plainly_what_is_special_about_the_study(self, admin_client, fields, said):
        study = make_study(**fields)  # whose hash is made up

        page = text(admin_client.get(address("study", study)))

        assert said in page
        assert ("The plan is adaptive" in page) is (study.plan == PlanKind.ADAPTIVE)

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
        study, draft = make_study(), make_study(**DRAFT)

        paused = admin_client.post(address("pause", study), follow=True)
        locked = text(admin_client.post(address("lock", draft), follow=True))

        assert paused.redirect_chain[-1][0] == address("study", study)
        assert "On pause" in text(paused)
        assert "Locked: from now on only its state changes." in locked
        assert Study.objects.get(pk=draft.pk).protocol_hash in locked


class TestPlanPage:
    def test_shows_what_planning_would_come_to_and_hold_and_writes_nothing(self, admin_client):
        dataset = make_dialogues()
        study = make_study(dataset=dataset, pairs_per_context=4)
        make_completion(context=dataset.contexts.earliest("pk"), text="As an AI, I hear you.")

        page = text(admin_client.get(address("plan", study)))

        assert "Planned before 0" in page
        assert "Add 8 comparisons" in page
        assert "Regular 2 8 connected" in page
        assert "4 system-3 4" in page
        assert "self-identification" in page
        assert not Comparison.objects.exists()
        assert not Hold.objects.exists()

    def test_counts_pairs_of_one_text_and_says_where_systems_cannot_be_compared(self, admin_client):
        context = make_context()
        for said in ("I hear you.", "I hear you. ", "What helps?"):
            make_completion(context=context, text=said)
        elsewhere = make_context(dialogue=make_dialogue(dataset=context.dataset))
        make_completion(context=elsewhere)
        make_completion(context=elsewhere)

        page = text(admin_client.get(address("plan", make_study(dataset=context.dataset))))

        assert "Add 3 comparisons" in page
        assert "1 pair left out because both replies are word for word the same." in page
        assert "Regular: not connected. Its systems fall into 2 groups" in page

    def test_is_written_by_its_button(self, admin_client, admin_user):
        study = make_study(dataset=make_dialogues())

        page = text(admin_client.post(address("extend", study), follow=True))

        assert "12 comparisons added to the plan; it has 12 now." in page
        assert Comparison.objects.count() == 12

    def test_of_a_draft_says_what_is_planned_and_what_comes_next(self, admin_client):
        draft = make_study(dataset=make_dialogues(), pairs_per_context=4, **DRAFT)
        before = text(admin_client.get(address("plan", draft)))

        admin_client.post(address("extend", draft))
        after = text(admin_client.get(address("plan", draft)))

        assert "nothing is planned yet" in before
        assert "What comes next" not in before
        assert "8 comparisons" in after
        assert "nothing is planned yet" not in after
        assert "What comes next" in after
        assert "Lock the study" in after

    def test_of_a_draft_asks_for_its_counts_and_nothing_else_besides(self, admin_client):
        dataset, n_asked = make_dialogues(), {}
        for name, fields in {"open": {}, "draft": DRAFT}.items():
            study = make_study(dataset=dataset, slug=name, **fields)
            with CaptureQueriesContext(connection) as asked:
                admin_client.get(address("plan", study))
            n_asked[name] = len(asked)

        # Whether it is large, its texts, its plan, its judgments: as on its own page.
        assert n_asked["draft"] - n_asked["open"] == 4

    def test_says_why_nothing_was_planned(self, admin_client):
        checks = CONTENT["checks"] | {"gold_set": "nowhere-1"}
        study = make_study(dataset=make_dialogues(), content=CONTENT | {"checks": checks}, **DRAFT)

        page = text(admin_client.post(address("extend", study), follow=True))

        assert "Nothing was planned" in page
        assert not Comparison.objects.exists()

    def test_shows_a_likert_study_without_pairs(self, admin_client):
        study = make_study(dataset=make_dialogues(), protocol=Protocol.LIKERT)

        page = text(admin_client.get(address("plan", study)))

        assert "Add 8 comparisons" in page
        assert "Strata" not in page


class TestProtocolPage:
    def read(self, client, name, study):
        return client.get(address(name, study)).content.decode()

    def test_sends_the_file_that_makes_the_study_again(self, admin_client):
        study = draft_of_file()

        answer = admin_client.get(address("toml", study))

        sent = parse_protocol(answer.content.decode(), source="file")
        again = sent.model_copy(update={"seed": study.seed})
        rubric, normaliser = study.content["rubric"], study.content["normaliser"]
        assert answer["Content-Disposition"] == 'attachment; filename="heart-rubric.toml"'
        assert again.content(rubric, normaliser=normaliser) == study.content

    def test_has_the_seed_once_the_study_is_closed(self, admin_client):
        study = states.open_study(study=draft_of_file(), now=NOW)
        while_open = [self.read(admin_client, name, study) for name in ("protocol", "toml")]
        states.close_study(study=study, now=NOW)
        closed = [self.read(admin_client, name, study) for name in ("protocol", "toml")]

        assert [study.seed in page for page in while_open] == [False, False]
        assert ["secret until the study is closed" in page for page in while_open] == [True, True]
        assert [study.seed in page for page in closed] == [True, True]
        assert parse_protocol(closed[1], source="file").seed == study.seed


def of_platform(platform, **fields):
    content = CONTENT | {"crowd": CONTENT["crowd"] | {"platform": platform}}
    return make_study(content=content, **fields)


class TestLinksForRaters:
    @pytest.mark.parametrize(
        ("platform", "begins"),
        [
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
        assert (FRAMES in page) == (platform != "prolific"), "Mechanical Turk opens a frame"

    @pytest.mark.parametrize(
        ("platform", "state", "n_acts"),
        [("mturk", "DRAFT", 2), ("mturk", "LOCKED", 1), ("any", "DRAFT", 0)],
    )
    def test_locking_and_opening_say_so_too(self, admin_client, platform, state, n_acts):
        of_platform(platform, state=state)

        page = text(admin_client.get(reverse("console:overview")))

        assert page.count(FRAMES) == n_acts

    def test_are_not_given_for_a_study_that_takes_nobody(self, admin_client):
        simulated = make_study(is_simulated=True, title="Simulated raters")
        for study in (of_platform("mturk", state=StudyState.CLOSED), simulated):
            page = text(admin_client.get(address("study", study)))
            assert "Links for raters" not in page
            assert FRAMES not in page


def test_newest_ratings_say_what_one_message_was_rated(admin_client):
    study = make_study(protocol=Protocol.LIKERT)
    rated = make_alone(study=study)
    judgment = make_judgment(comparison=rated, protocol=Protocol.LIKERT, verdict=None)
    make_mark(judgment=judgment, dimension="E", advantage=4)

    page = text(admin_client.get(reverse("raters:judgments", args=[study.slug])))

    assert f"{rated.first.system.name} rated E 4" in page


BY_TAB = [page for _label, pages in TABS for page in pages if not page.is_of_dataset]
CONSOLE = [page for page in BY_TAB if page.address != "ranking:leaderboard"]


def current(html):
    bar = re.search(r'<nav class="crumbs of-study".*?</nav>', html, re.DOTALL).group()
    return re.findall(r'aria-current="(\w+)">([^<]+)', bar)


class TestTabs:
    def test_mark_the_page_that_is_shown(self, admin_client, subtests):
        study = make_study()

        for page in CONSOLE:
            with subtests.test(page.key):
                shown = admin_client.get(reverse(page.address, args=[study.slug]))
                assert ("page", str(page.label)) in current(shown.content.decode())

    def test_name_no_page_as_the_tab_that_holds_it(self):
        """A phone shows both names side by side, each as a menu."""
        beside = [(tab, pages) for tab, pages in TABS if len(pages) > 1]

        assert [tab for tab, pages in beside if tab in {page.label for page in pages}] == []

    def test_mark_where_a_page_below_belongs(self):
        study = make_study()

        marks = [current for *_, current in study_tabs(study, "raters", is_below=True)]

        assert marks.count("true") == 1
        assert pages_beside(study, "raters", is_below=True)[0][-1] == "true"
        assert pages_beside(study, "planner") == [], "a tab of one page has no second row"


@pytest.mark.parametrize(
    ("state", "left"),
    [
        (StudyState.OPEN, "not known yet: too few judgments came in the last day"),
        (StudyState.CLOSED, "none: the study is closed"),
    ],
)
def test_no_time_is_left_of_a_closed_study_whatever_its_plan_lacks(admin_client, state, left):
    study = make_judgment().comparison.study
    Study.objects.update(state=state)

    assert f"Time left {left}" in text(admin_client.get(address("study", study)))


class TestADraftThatTwoChange:
    def store(self, client, page, **changes):
        """Send a page of the form as it was shown, with some changes."""
        form = page.context["form"]
        shown = {one.html_name: one.value() or "" for one in form}
        sent = {"dataset": Study.objects.get().dataset.slug, "seen": page.context["seen"]}
        return client.post(page.request["PATH_INFO"], shown | sent | changes)

    def test_is_not_set_back_by_who_opened_it_before(self, admin_client):
        address_of_form = address("edit", draft_of_file())
        one, other = (admin_client.get(address_of_form) for _ in range(2))
        self.store(admin_client, one, title="By one")

        late = self.store(admin_client, other, question="By the other?")
        asked = Study.objects.get()
        again = self.store(admin_client, late, title="By one")

        assert (asked.title, late.status_code) == ("By one", 422)
        assert "Somebody changed the draft after you opened it." in text(late)
        assert 'value="By the other?"' in late.content.decode()
        assert again.status_code == 302
        asked.refresh_from_db()
        assert (asked.title, asked.content["question"]) == ("By one", "By the other?")

    def test_is_not_set_back_by_who_had_to_mend_a_field_meanwhile(self, admin_client):
        address_of_form = address("edit", draft_of_file())
        one, other = (admin_client.get(address_of_form) for _ in range(2))
        self.store(admin_client, one, title="By one")

        wrong = self.store(admin_client, other, title="")
        late = self.store(admin_client, wrong, title="By the other")

        assert "Somebody changed the draft after you opened it." in text(late)
        assert Study.objects.get().title == "By one"

    def test_is_not_set_back_by_who_read_it_a_moment_before(self):
        read = draft_of_file()
        file = load_protocol(STUDIES / "heart-rubric.toml")
        told = {"rubric": load_rubric(file.rubric), "dataset": read.dataset, "now": NOW}
        title, question = ({"title": "By one"}, {"question": "By the other?"})
        drafts.edit_study(study=read, protocol=file.model_copy(update=title), **told)

        with pytest.raises(states.StudyStateError, match="somebody changed"):
            drafts.edit_study(study=read, protocol=file.model_copy(update=question), **told)

        assert Study.objects.get().title == "By one"


class TestAddresses:
    def test_below_the_console_that_are_not_a_study_are_no_slugs(self):
        words = set()
        for pattern in get_resolver().url_patterns:
            prefix = str(pattern.pattern)
            if not prefix.startswith("console/"):
                continue
            below = getattr(pattern, "url_patterns", [])
            routes = [prefix + str(one.pattern) for one in below] or [prefix]
            words |= {route.split("/")[1].removesuffix(".csv") for route in routes}

        fixed = {word for word in words if word and not word.startswith("<")}

        assert fixed <= TAKEN
