"""The console's page of systems: the catalogue, systems of one's own, and what they still need."""

import html

import pytest
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from completions import llm
from completions.models import System
from completions.systems import catalogue
from tests.helpers.factories import make_completion, make_system
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import own_addresses, text
from tests.helpers.visits import read_forms

pytestmark = pytest.mark.django_db

SYSTEMS, SYNC, ADD = (reverse(f"models:{name}") for name in ("systems", "sync", "add"))
OURS = {
    "name": "Ours 7B",
    "slug": "ours-7b",
    "family": "our-lab",
    "model_id": "hosted_vllm/ours-7b",
    "api_base": "https://llm.our-lab.example/v1",
    "api_key_env": "OUR_LAB_KEY",
}
IMPORTED = {"name": "Ours", "slug": "ours-7b", "family": "our-lab"}
LISTED = {"input": 1.25, "output": 10.0}


@pytest.fixture(autouse=True)
def _price_list(monkeypatch):
    """Stand in for LiteLLM's price list, which takes seconds to load."""
    monkeypatch.setattr(llm, "listed_price", lambda _: LISTED)


def as_posted(form):
    """Return what a browser sends of a form that nobody changed."""
    fields = {one.html_name: one.value() for one in form if one.value() not in (None, False)}
    boxes = [box.data["value"] for box in form["leave_out"] if box.data["selected"]]
    return fields | {"leave_out": boxes}


class TestTheList:
    def test_says_that_a_key_is_there_and_never_what_it_is(self, staff, monkeypatch):
        monkeypatch.setenv("OUR_LAB_KEY", "a-very-secret-key")
        monkeypatch.delenv("THEIR_LAB_KEY", raising=False)
        make_system(slug="ours", parameters={"api_key_env": "OUR_LAB_KEY"})
        make_system(slug="theirs", parameters={"api_key_env": "THEIR_LAB_KEY"})

        answer = staff.get(SYSTEMS)

        assert "set OUR_LAB_KEY" in text(answer)
        assert "missing THEIR_LAB_KEY" in text(answer)
        assert "a-very-secret-key" not in answer.content.decode()

    def test_says_where_each_is_from_and_what_it_costs(self, staff):
        """It has a price of its own, or the listed one, or none at an address of its own."""
        assert "No language model is registered yet" in text(staff.get(SYSTEMS))
        make_system(slug="priced", parameters={"price": {"input": 2.5, "output": 10}})
        make_system(slug="gpt-5")
        make_system(slug="elsewhere", api_base="https://llm.example/v1")
        make_system(slug="pretence", name="Pretence (simulated)", is_simulated=True)

        answer = staff.get(SYSTEMS)

        found = {one.row.slug: one for one in answer.context["page"]}
        assert {slug for slug, one in found.items() if one.is_listed} == {"gpt-5"}
        assert {slug for slug, one in found.items() if one.row.is_simulated} == {"pretence"}
        assert found["priced"].price == {"input": 2.5, "output": 10.0}
        assert found["gpt-5"].price == LISTED
        assert found["elsewhere"].price is None
        assert text(answer).count("not known") == 1


class TestSyncing:
    def test_brings_the_catalogue_in_once_and_says_and_logs_so(self, staff):
        answer, again = staff.post(SYNC), staff.post(SYNC)

        listed = catalogue.load_catalogues(catalogue.shipped()).system
        assert System.objects.count() == len(listed) == len(answer.context["report"].added)
        assert "What the catalogue changed" in text(answer)
        report = again.context["report"]
        assert (report.added, report.changed, report.refused) == ([], {}, {})
        logged = set(LogEntry.objects.values_list("action", "by__username"))
        assert logged == {("system.added", "ada")}

    def test_leads_on_from_what_it_changed_to_the_list_as_it_is_asked_for(self, staff):
        assert own_addresses(staff.post(SYNC)) == []

    def test_tells_what_was_refused_and_goes_on(self, staff):
        make_system(slug="gpt-5", name="GPT-5 (simulated)", is_simulated=True)

        answer = staff.post(SYNC)

        assert "gpt-5 : the slug belongs to a simulated system" in text(answer)
        assert System.objects.filter(slug="gpt-o3").exists()


class TestAddingOne:
    def test_registers_what_a_file_could_say_and_logs_who_did(self, staff):
        needed = {"max_tokens": "4000", "leave_out": ["temperature", "top_p"], "opening": "Hello."}
        needed |= {"reasoning_effort": "low", "system_role": "developer"}

        answer = staff.post(ADD, OURS | needed | {"price_input": "2.5", "price_output": "10"})

        system = System.objects.get()
        assert answer["Location"] == SYSTEMS
        assert (system.slug, system.family, system.is_simulated) == ("ours-7b", "our-lab", False)
        assert system.parameters == needed | {
            "api_key_env": "OUR_LAB_KEY",
            "max_tokens": 4000,
            "price": {"input": 2.5, "output": 10.0},
        }
        assert LogEntry.objects.get(by__username="ada").action == "system.added"

    def test_refuses_what_is_wrong_or_leads_inside(self, staff, subtests):
        for field, value, said in (
            ("slug", "Ours 7B", "Use small letters, digits and single hyphens"),
            ("family", "Our Lab", "Name the maker in small letters"),
            ("model_id", "ours", "Write the provider, a slash and the model"),
            ("price_input", "1", "Field required"),
            ("max_tokens", "0", "greater than 0"),
            ("api_key_env", "HEART_SECRET_KEY", "one of the site's own"),
            ("api_base_env", "OUR_ADDRESS", "both name an address"),
            ("api_base", "llm.our-lab.example", "Give an address that begins with http"),
            # Nobody within the network is asked.
            ("api_base", "http://10.0.0.7:8000/v1", "begins with https"),
            ("api_base", "https://10.0.0.7/v1", "not a public one"),
            ("api_base", "https://[ours/v1", "not an address"),
            ("api_base", "https://ours.example:99999/v1", "not an address"),
            ("max_tokens", str(10**30), "less than or equal"),
            ("price_input", "1e12", "less than or equal"),
        ):
            with subtests.test(value):
                answer = staff.post(ADD, OURS | {field: value})

                assert answer.status_code == 422
                assert said in html.unescape(text(answer))
                assert "Nothing was registered" in text(answer)
                assert not System.objects.exists()

    def test_asks_for_the_model_of_a_simulated_system_beside_its_field(self, staff):
        name = {"name": "Simulated ours", "is_simulated": "on"}
        answer = staff.post(ADD, IMPORTED | name)

        faults = {"model_id": ["Write the provider, a slash and the model, such as openai/gpt-5."]}
        assert answer.context["form"].errors == faults

    def test_asks_inner_hosts_that_a_setting_names(self, staff, settings):
        settings.HEART_LLM_HOSTS = ["10.0.0.7"]

        staff.post(ADD, OURS | {"api_base": "http://10.0.0.7:8000/v1"})

        assert System.objects.get().api_base == "http://10.0.0.7:8000/v1"

    @pytest.mark.parametrize("field", ["api_base", "api_base_env", "api_key_env"])
    def test_a_manager_says_not_where_dialogues_and_keys_go(self, client, field):
        client.force_login(make_member("max", role=Role.MANAGER))
        plain = OURS | {"api_base": "", "api_key_env": ""}

        refused = client.post(ADD, plain | {field: OURS.get(field, "OUR_LAB_ADDRESS")})

        assert refused.status_code == 422
        assert "Only an owner" in text(refused)
        assert not System.objects.exists()
        assert client.post(ADD, plain).status_code == 302

    @pytest.mark.parametrize(
        ("field", "value"),
        [("api_key_env", "sk-live-0123"), ("api_base", "https://ada:sk-live-0123@llm.example")],
    )
    def test_a_key_that_was_pasted_is_refused_and_not_shown_again(self, staff, field, value):
        answer = staff.post(ADD, OURS | {field: value})

        assert answer.status_code == 422
        assert "sk-live-0123" not in answer.content.decode()
        assert not System.objects.exists()

    def test_a_simulated_one_says_so_in_its_name_and_has_no_key(self, staff):
        simulated = OURS | {"is_simulated": "on", "name": "Ours (simulated)"}
        keyless = {"api_base": "", "api_key_env": ""}

        with_key = staff.post(ADD, simulated)
        nameless = staff.post(ADD, simulated | keyless | {"name": OURS["name"]})
        staff.post(ADD, simulated | keyless)

        assert "it has no address and no key" in text(with_key)
        assert "the name of a simulated system holds the word" in text(nameless).lower()
        assert System.objects.get().is_simulated

    @pytest.mark.parametrize("taken", [{"slug": "ours-7b"}, {"name": "ours 7b"}])
    def test_takes_no_slug_and_no_name_of_another_system(self, staff, taken):
        make_system(**{"slug": "other", "name": "Other"} | taken)

        answer = staff.post(ADD, OURS)

        assert answer.status_code == 422
        assert "choose another one" in text(answer)
        assert System.objects.count() == 1


class TestOneSystem:
    def page(self, slug="ours-7b", name="system"):
        return reverse(f"models:{name}", args=[slug])

    @pytest.mark.parametrize("extra", [{"api_base": OURS["api_base"]}, {"max_tokens": "9"}])
    def test_one_whose_texts_are_imported_names_no_model_address_or_setting(self, staff, extra):
        refused = staff.post(ADD, IMPORTED | extra)
        answer = staff.post(ADD, IMPORTED)

        assert (refused.status_code, answer.status_code) == (422, 302)
        assert "without a model to ask" in text(refused).lower()
        assert System.objects.get(slug="ours-7b").model_id == ""
        assert "its texts are imported" in text(staff.get(self.page()))

    def test_is_changed_by_the_rules_of_a_new_one(self, staff):
        staff.post(ADD, OURS | {"max_tokens": "200"})
        shown = staff.get(self.page()).content.decode()
        assert OURS["api_base"] in shown

        staff.post(self.page(), OURS | {"name": "Ours 8B", "max_tokens": "400", "slug": "other"})
        refused = staff.post(self.page(), OURS | {"name": "Ours simulated"})

        system = System.objects.get()
        assert (system.slug, system.name) == ("ours-7b", "Ours 8B")
        assert system.parameters["max_tokens"] == 400
        assert refused.status_code == 422

    @pytest.mark.parametrize(
        "parameters",
        [
            {"token_limit": "max_completion_tokens", "schema_mode": "prompt"},
            {"stream_options": False, "logprobs": True, "max_tokens": 200},
            {"leave_out": ["top_p", "max_tokens"], "temperature": 0.5},
            {"system_role": "user", "reasoning_effort": "none"},
        ],
    )
    def test_keeps_what_was_not_changed_on_the_page(self, staff, parameters):
        """One that is asked no more keeps its facts alone."""
        facts = {"index": {"value": 41, "source": "A list"}}
        system = make_system(slug="ours-7b", parameters=parameters, facts=facts)
        form = staff.get(self.page()).context["form"]

        answer = staff.post(self.page(), as_posted(form) | {"name": "Ours 8B"})

        system.refresh_from_db()
        assert (answer.status_code, system.name) == (302, "Ours 8B")
        assert (system.parameters, system.facts) == (parameters, facts)
        staff.post(self.page(), IMPORTED)
        system.refresh_from_db()
        assert (system.model_id, system.parameters, system.facts) == ("", {}, facts)

    def test_that_wrote_something_stays_the_same_model(self, staff):
        staff.post(ADD, OURS)
        make_completion(system=System.objects.get())

        answer = staff.post(self.page(), OURS | {"model_id": "hosted_vllm/ours-8b"})

        assert answer.status_code == 422
        assert System.objects.get().model_id == OURS["model_id"]

    def test_of_the_catalogue_is_as_the_catalogue_says(self, staff):
        staff.post(SYNC)
        before = System.objects.get(slug="gpt-5").name

        page = text(staff.get(self.page("gpt-5")))
        staff.post(self.page("gpt-5"), OURS | {"name": "Other"})

        assert "It is in the shipped catalogue" in page
        assert System.objects.get(slug="gpt-5").name == before

    @pytest.mark.parametrize(
        ("stored", "is_taken"),
        [
            ({"api_key_env": "OUR_LAB_KEY"}, False),
            ({"api_base": OURS["api_base"]}, False),
            ({"api_base_env": "OUR_LAB_ADDRESS"}, False),
            ({}, True),
        ],
    )
    def test_a_manager_names_no_other_model_for_an_owners_key(
        self, staff, client, stored, is_taken
    ):
        own = {**OURS, "api_base": "", "api_key_env": "", "model_id": "openai/ours", **stored}
        other = own | {"model_id": "deepseek/deepseek-chat"}
        staff.post(ADD, own)
        client.force_login(make_member(role=Role.MANAGER))

        answer = client.post(self.page(), other)

        assert (System.objects.get().model_id == other["model_id"]) == is_taken
        assert answer.status_code == (302 if is_taken else 422)
        assert ("Only an owner" in text(answer)) != is_taken
        client.force_login(make_member(role=Role.OWNER))
        assert client.post(self.page(), other).status_code == 302

    def test_a_manager_keeps_the_address_that_an_owner_set(self, staff, client):
        staff.post(ADD, OURS)
        client.force_login(make_member(role=Role.MANAGER))

        kept = client.post(self.page(), OURS | {"name": "Ours 8B"})
        moved = client.post(self.page(), OURS | {"api_base": "https://elsewhere.example/v1"})

        assert (kept.status_code, moved.status_code) == (302, 422)
        assert System.objects.get().api_base == OURS["api_base"]

    def test_a_retired_one_is_asked_for_nothing_new_and_can_come_back(self, staff):
        staff.post(ADD, OURS)
        choose = reverse("models:choose")

        act = self.page(name="retire")

        def press_twice():
            """Post the page's form, and again as a second tab has it still."""
            forms = read_forms(staff.get(self.page()))
            (fields,) = (form.fields for form in forms if form.action == act)
            for _press in range(2):
                staff.post(act, fields)

        press_twice()
        assert "retired" in text(staff.get(self.page()))
        assert "Ours 7B" not in text(staff.get(choose))

        press_twice()
        assert "Ours 7B" in text(staff.get(choose))
        actions = list(LogEntry.objects.order_by("pk").values_list("action", flat=True))
        assert actions[-2:] == ["system.retired", "system.back"]

    @pytest.mark.parametrize("name", ["system", "retire"])
    def test_people_are_no_model(self, staff, name):
        make_system(slug="people", kind="HUMAN", family="", model_id="")

        assert staff.post(self.page("people", name)).status_code == 404
