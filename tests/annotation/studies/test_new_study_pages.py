"""Making a study in the console, and changing it until it is locked."""

import re
from types import MappingProxyType

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from access.models import LogEntry
from annotation.choices import StudyState
from annotation.models import Study
from annotation.studies.protocol.files import STUDIES, shipped_studies, shipped_study
from annotation.studies.services import states
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.planning.needs import Wish
from ranking.planner.plans import Rates, first_plan
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dataset,
    make_study,
    make_system,
)
from tests.helpers.factories_written_once import make_measurement, make_member
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

SEED = "8f3a09c1d4e27b65a0f1c2d3e4b5968f"
FORM, EDIT, VERSION, PROTOCOL = (
    reverse(f"console:{name}", args=["demo"])
    for name in ("new_form", "edit", "version", "protocol")
)
FILE = reverse("console:new_file")
DEMO = (STUDIES / "demo.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def dataset(module_rows):
    """The dataset that studies are made of; tests only read it."""
    dataset = make_dataset(slug="talks", name="Talks")
    context = make_context(dataset=dataset)
    for _ in range(3):
        make_completion(context=context, system=make_system())
    return dataset


@pytest.fixture(scope="module")
def shown(dataset):
    """What the form of a new study says before anybody changes it."""
    client = Client()
    client.force_login(make_member())
    return MappingProxyType(as_shown(client, FORM))


def as_shown(client, address, **changes):
    """Return what a browser would send of the form as it was shown, with some changes."""
    form = client.get(address).context["form"]
    shown = {bound.html_name: bound.value() or "" for bound in form}
    return {**shown, "dataset": "talks", **changes}


@pytest.fixture
def draft(admin_client, shown):
    """The draft of the form as it is shown."""
    admin_client.post(FORM, dict(shown))
    return Study.objects.get()


class TestStart:
    def test_offers_every_study_that_ships(self, admin_client):
        start = reverse("console:new")
        page = admin_client.get(start).content.decode()

        assert f'href="{start}"' in admin_client.get("/console/").content.decode()
        assert all(reverse("console:new_form", args=[name]) in page for name in shipped_studies())
        assert admin_client.get(reverse("console:new_form", args=["none"])).status_code == 404


class TestForm:
    @pytest.mark.parametrize("name", shipped_studies())
    def test_sent_as_it_is_shown_stores_the_template(self, admin_client, dataset, name):
        address = reverse("console:new_form", args=[name])

        answer = admin_client.post(address, as_shown(admin_client, address))

        study = Study.objects.get()
        template = shipped_study(name).model_copy(update={"seed": study.seed})
        assert answer["Location"] == reverse("console:plan", args=[study.slug])
        assert (study.state, len(study.seed)) == (StudyState.DRAFT, 32)
        assert study.content == template.content(
            study.content["rubric"], normaliser=study.content["normaliser"]
        )

    def test_stores_what_was_typed_and_logs_who_made_it(self, admin_client, admin_user, shown):
        typed = {"slug": "ours", "seed": SEED, "systems": "ash, human"}

        admin_client.post(FORM, {**shown, **typed})

        study = Study.objects.get()
        assert shown["seed"] == "", "the form proposes none"
        assert (study.slug, study.seed) == ("ours", SEED)
        assert study.content["systems"] == ["ash", "human"]
        edited = admin_client.get(reverse("console:edit", args=["ours"])).content.decode()
        assert 'name="systems" type="text" value="ash human"' in edited
        entry = LogEntry.objects.get(action="study.created")
        assert (entry.subject, entry.by) == ("study ours", admin_user)

    @pytest.mark.parametrize(
        ("changes", "field", "said"),
        [
            ({"slug": "other", "seed": SEED}, "seed", "another study has this one"),
            ({"title": "Another"}, "slug", "already"),
        ],
        ids=["its seed", "its address"],
    )
    def test_takes_nothing_of_another_draft(self, admin_client, shown, changes, field, said):
        admin_client.post(FORM, {**shown, "seed": SEED})

        answer = admin_client.post(FORM, {**shown, **changes})

        assert said in " ".join(answer.context["form"].errors[field])
        assert Study.objects.get().title == shown["title"]

    @pytest.mark.parametrize(
        ("field", "value", "said"),
        [
            ("slug", "new", "is an address of the console"),
            ("systems", "Our_Model human", "use small letters, digits and single hyphens"),
            ("seed", "heart-preference-1", "leave it out, so that it is drawn"),
            ("checks__rate", "0.9", "give a number of 0.5 or less"),
            ("title", "x" * 121, "use up to 120 characters"),
            ("judgments_per_pair", "ten", "give a whole number"),
            ("consent", "[consent]\nversion = ?", "at line 2"),
            ("consent", "consent = " + "[" * 1_000, "nested too deep"),
            ("consent", 'title = "another"', "Only [consent] stands here."),
            ("consent", '[consent]\nversion = "1"', "facts: Field required"),
            ("analysis", '[analysis]\nconfirmatory = ["weights"]\nweights = {Z = 1}', "dimension"),
            ("dataset", "", "Choose the dataset"),
        ],
    )
    def test_says_beside_the_field_what_is_wrong(self, admin_client, shown, field, value, said):
        answer = admin_client.post(FORM, {**shown, field: value})

        assert answer.status_code == 422
        assert said in " ".join(answer.context["form"].errors[field])
        assert f'id="id_{field}-about" class="error-text"' in answer.content.decode()
        assert not Study.objects.exists()

    @pytest.mark.parametrize(
        "changes",
        [{"protocol": "likert", "plan": "adaptive"}, {"question": "Which shows more Resonance?"}],
        ids=["fields that do not go together", "words of the rubric"],
    )
    def test_says_above_it_what_is_wrong_with_the_whole(self, admin_client, shown, changes):
        answer = admin_client.post(FORM, {**shown, **changes})

        assert answer.status_code == 422
        assert answer.context["form"].non_field_errors()
        assert not Study.objects.exists()

    def test_opens_its_first_step_or_the_one_with_the_fault(self, admin_client, shown):
        page = admin_client.get(FORM).content.decode()
        at_fault = admin_client.post(FORM, dict(shown, exclusion__misfit="0")).content.decode()

        steps = re.findall(r'<details class="card step" name="step"( open)?>', page)
        assert steps == [" open", "", "", "", "", ""]
        assert all(f'id="{one}"' in page for one in re.findall(r'href="#(step-\w+)"', page))
        opened = re.findall(r'class="card step" open><summary>.*?</span> ([^<]*)', at_fault)
        assert opened == ["When raters are left out"]

    def test_says_what_a_file_with_the_same_fault_is_told(self, admin_client, shown):
        by_form = admin_client.post(FORM, dict(shown, judgments_per_pair="0"))
        faulty = DEMO.replace("judgments_per_pair = 3", "judgments_per_pair = 0")
        by_file = admin_client.post(FILE, {"dataset": "talks", "text": faulty})

        (reason,) = by_form.context["form"].errors["judgments_per_pair"]
        (line,) = by_file.context["form"].non_field_errors()
        assert line == f"the text: judgments_per_pair: {reason}"


class TestBesideTheForm:
    """What the study would come to, and what its raters would see; nothing of it is stored."""

    ADDRESS = reverse("raters:beside_template", args=["demo"])

    def beside(self, client, shown, **changes):
        answer = client.post(self.ADDRESS, {**shown, **changes})
        assert answer.status_code == 200
        assert not Study.objects.exists()
        return answer

    def test_counts_pairs_judgments_raters_hours_and_pay(self, admin_client, shown):
        numbers = {"judgments_per_pair": "40", "pairs_per_context": "2", "session_length": "10"}
        plain = {"checks__rate": "0", "checks__repeat_rate": "0"}

        answer = self.beside(admin_client, shown, **numbers, **plain, pay="12")

        figures = answer.context["figures"]
        assert (figures["n_contexts"], figures["n_systems"]) == (1, 3)
        assert (figures["n_judged"], figures["n_judgments"], figures["n_raters"]) == (2, 80, 40)
        assert figures["hours"] == pytest.approx(80 / 60)
        assert answer.context["cost"] == pytest.approx(16)
        assert "16.00" in text(answer)
        assert "60 s a judgment is assumed" in text(answer)

    def test_takes_the_time_that_people_took_in_studies_of_that_protocol(self, admin_client, shown):
        simulated = make_study(is_simulated=True, title="Simulated")
        for study, seconds in (
            *((make_study(), 20.0), (make_study(), 40.0)),
            *((simulated, 900.0), (make_study(protocol="LIKERT"), 900.0)),
        ):
            make_measurement(study=study, median_seconds=seconds)

        answer = admin_client.post(self.ADDRESS, dict(shown))

        assert answer.context["figures"]["seconds"] == 30.0
        assert "30 s a judgment, as in earlier studies" in text(answer)

    def test_says_which_difference_is_found(self, admin_client, shown):
        few = self.beside(admin_client, shown, judgments_per_pair="10").context["figures"]
        many = self.beside(admin_client, shown, judgments_per_pair="1000").context["figures"]

        assert many["difference"] < few["difference"]
        counts = {"n_systems": 3, "n_pairs": 3, "per_pair": 10}
        for share, n_contexts in ((1.05, 1), (0.95, 2)):  # there is one
            wish = Wish(difference=share * few["difference"] / ELO_PER_LOG_UNIT)
            found = first_plan(wish, Rates(), correlation=0.2, **counts)
            assert found.n_contexts == n_contexts

    def test_counts_messages_and_ranks_nothing_where_each_is_rated_alone(
        self, admin_client, dataset
    ):
        address = reverse("console:new_form", args=["heart-likert"])
        form = as_shown(admin_client, address, judgments_per_pair="2")

        answer = admin_client.post(reverse("raters:beside_template", args=["heart-likert"]), form)

        figures = answer.context["figures"]
        assert (figures["n_judged"], figures["n_judgments"], figures["difference"]) == (3, 6, None)
        assert "Replies" in text(answer)

    def test_shows_the_question_and_the_practice_pair_that_nobody_can_press(
        self, admin_client, shown
    ):
        answer = self.beside(admin_client, shown, question="Which one helps more?")

        assert "Which one helps more?" in text(answer)
        _, _, after = answer.content.decode().partition(" inert>")
        assert "Reply A" in after

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"dataset": ""}, "Choose a dataset"),
            ({"dataset": "bare"}, "Nothing to compare yet"),
            ({"judgments_per_pair": "many"}, "How many, Judgments per pair:"),
        ],
        ids=["no dataset", "a dataset without texts", "what does not fit yet"],
    )
    def test_says_what_is_missing(self, admin_client, shown, changes, said):
        make_dataset(slug="bare", name="Bare")

        assert said in text(self.beside(admin_client, shown, **changes))

    def test_stands_beside_a_draft_and_a_new_version(self, admin_client, draft):
        address = reverse("raters:beside_study", args=["demo"])
        form = as_shown(admin_client, EDIT)
        assert admin_client.post(address, form).context["figures"]["n_systems"] == 3

        states.lock_study(study=draft, now=NOW)
        form = as_shown(admin_client, VERSION)
        del form["dataset"]  # a browser sends no field that cannot be changed
        assert admin_client.post(address, form).context["figures"]["n_systems"] == 3

    def test_says_what_a_lock_freezes_and_how_mechanical_turk_works(self, admin_client, draft):
        form = text(admin_client.get(FORM))
        stored = text(admin_client.get(reverse("console:study", args=["demo"])))

        assert "Mechanical Turk works by link only: this site opens in no frame" in form
        assert "A lock fixes for good" in form
        assert "A lock fixes for good" in stored


class TestFile:
    @pytest.mark.parametrize("way", ["file", "text"])
    def test_sent_or_pasted_is_stored_as_a_draft(self, admin_client, dataset, way):
        body = DEMO.replace("session_length = 12", "session_length = 9")
        sent = body if way == "text" else SimpleUploadedFile("demo.toml", body.encode())

        answer = admin_client.post(FILE, {"dataset": "talks", way: sent}, follow=True)

        assert "The draft is stored." in text(answer)
        assert Study.objects.values_list("slug", "session_length").get() == ("demo", 9)

    @pytest.mark.parametrize(
        ("sent", "said"),
        [
            ({}, "Choose a file, or paste its text."),
            ({"text": "slug = ?"}, "at line 1"),
            ({"text": DEMO, "dataset": ""}, "Choose the dataset"),
            ({"file": SimpleUploadedFile("x.toml", b"\xff\xfe")}, "not text in UTF-8"),
            ({"file": SimpleUploadedFile("x.toml", b"#" * 200_001)}, "as large"),
        ],
        ids=["nothing", "no TOML", "no dataset", "no text", "too large"],
    )
    def test_says_what_is_wrong(self, admin_client, dataset, sent, said):
        answer = admin_client.post(FILE, {"dataset": "talks"} | sent)

        assert answer.status_code == 422
        assert said in text(answer)
        assert not Study.objects.exists()


class TestChanging:
    def edit(self, client, **changes):
        return client.post(EDIT, as_shown(client, EDIT, **changes), follow=True)

    def test_as_it_is_shown_changes_nothing_and_tells_no_seed(self, admin_client, draft):
        self.edit(admin_client)

        assert not LogEntry.objects.filter(action="study.edited").exists()
        assert as_shown(admin_client, EDIT)["seed"] == ""

    def test_stores_what_was_typed_and_says_what_of_the_plan_is_void(
        self, admin_client, admin_user, draft
    ):
        make_comparison(study=draft)

        page = text(self.edit(admin_client, title="Another title", judgments_per_pair="7"))

        assert "The draft is changed. 1 comparison of its plan is void" in page
        assert LogEntry.objects.get(action="study.edited").by == admin_user
        edited = Study.objects.values_list("title", "judgments_per_pair", "seed").get()
        assert edited == ("Another title", 7, draft.seed)

    def test_can_take_no_other_studys_address(self, admin_client, draft):
        make_study(slug="taken")

        answer = self.edit(admin_client, slug="taken")

        assert "already" in " ".join(answer.context["form"].errors["slug"])

    def test_can_give_it_another_address(self, admin_client, draft):
        answer = self.edit(admin_client, slug="renamed")

        assert answer.redirect_chain[-1][0] == reverse("console:protocol", args=["renamed"])
        assert Study.objects.get().name == "renamed"

    def test_is_offered_and_taken_until_the_study_is_locked(self, admin_client, draft):
        sent = as_shown(admin_client, EDIT, title="Another")
        before = admin_client.get(PROTOCOL).content.decode()
        states.lock_study(study=draft, now=NOW)

        after = admin_client.get(PROTOCOL).content.decode()
        refused = text(admin_client.post(EDIT, sent, follow=True))

        assert f'href="{EDIT}"' in before
        assert f'href="{EDIT}"' not in after
        assert "can no longer change" in refused
        assert Study.objects.get().title != "Another"


class TestANewVersion:
    @pytest.fixture
    def locked(self, draft):
        return states.lock_study(study=draft, now=NOW)

    def test_is_offered_and_becomes_a_draft_on_the_same_dataset(self, admin_client, locked):
        offer = admin_client.get(PROTOCOL).content.decode()
        sent = as_shown(admin_client, VERSION, title="Better asked", slug="mine", dataset="")

        answer = admin_client.post(VERSION, sent)

        made = Study.objects.get(version=2)
        assert f'href="{VERSION}"' in offer
        assert answer["Location"] == reverse("console:plan", args=["demo-v2"])
        assert (made.slug, made.name, made.title) == ("demo-v2", "demo", "Better asked")
        assert (made.dataset, made.locked_at) == (locked.dataset, None)

    def test_is_made_of_a_locked_study_alone(self, admin_client, draft):
        assert admin_client.get(VERSION)["Location"] == PROTOCOL

    def test_needs_something_that_is_different(self, admin_client, locked):
        answer = admin_client.post(VERSION, as_shown(admin_client, VERSION))

        assert answer.status_code == 422
        assert "nothing to make a version of" in text(answer)
        assert Study.objects.count() == 1

    def test_leads_to_the_draft_that_is_there(self, admin_client, locked):
        sent = as_shown(admin_client, VERSION, title="Better asked")
        admin_client.post(VERSION, sent)

        answer = admin_client.post(VERSION, sent | {"title": "Best asked"})

        assert answer["Location"] == reverse("console:protocol", args=["demo-v2"])
        assert Study.objects.get(version=2).title == "Better asked"
