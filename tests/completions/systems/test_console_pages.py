"""The console's page of systems: the catalogue, systems of one's own, and what they still need."""

import html

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from completions import llm
from completions.models import System
from completions.systems import catalogue
from tests.helpers.factories import make_completion, make_system
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import assert_turned_away, text

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
LISTED = {"input": 1.25, "output": 10.0}


@pytest.fixture(autouse=True)
def _price_list(monkeypatch):
    """Stand in for LiteLLM's price list, which takes seconds to load."""
    monkeypatch.setattr(llm, "listed_price", lambda _: LISTED)


@pytest.fixture
def staff(client):
    client.force_login(make_member("ada"))
    return client


def as_posted(form):
    """Return what a browser sends of a form that nobody changed."""
    fields = {one.html_name: one.value() for one in form if one.value() not in (None, False)}
    boxes = [box.data["value"] for box in form["leave_out"] if box.data["selected"]]
    return fields | {"leave_out": boxes}


@pytest.mark.parametrize("address", [SYSTEMS, ADD])
def test_others_are_turned_away(client, address):
    client.force_login(User.objects.create_user("bob"))

    answer = client.get(address)

    assert_turned_away(answer)


class TestTheList:
    def test_says_where_each_system_is_from(self, staff):
        make_system(slug="gpt-5")
        make_system(slug="ours")
        make_system(slug="pretence", name="Pretence (simulated)", is_simulated=True)

        found = {one.row.slug: one for one in staff.get(SYSTEMS).context["page"]}

        assert found["gpt-5"].is_listed
        assert not found["ours"].is_listed
        assert found["pretence"].row.is_simulated

    def test_says_that_a_key_is_there_and_never_what_it_is(self, staff, monkeypatch):
        monkeypatch.setenv("OUR_LAB_KEY", "a-very-secret-key")
        monkeypatch.delenv("THEIR_LAB_KEY", raising=False)
        make_system(slug="ours", parameters={"api_key_env": "OUR_LAB_KEY"})
        make_system(slug="theirs", parameters={"api_key_env": "THEIR_LAB_KEY"})

        answer = staff.get(SYSTEMS)

        assert "set OUR_LAB_KEY" in text(answer)
        assert "missing THEIR_LAB_KEY" in text(answer)
        assert "a-very-secret-key" not in answer.content.decode()

    def test_knows_a_price_of_its_own_and_none_at_an_address_of_its_own(self, staff):
        make_system(slug="priced", parameters={"price": {"input": 2.5, "output": 10}})
        make_system(slug="listed")
        make_system(slug="elsewhere", api_base="https://llm.example/v1")

        answer = staff.get(SYSTEMS)

        prices = {one.row.slug: one.price for one in answer.context["page"]}
        own = {"input": 2.5, "output": 10.0}
        assert prices == {"priced": own, "listed": LISTED, "elsewhere": None}
        assert text(answer).count("not known") == 2  # in its row, and where that is explained

    def test_asks_as_often_for_many_as_for_one(self, staff, django_assert_max_num_queries):
        for number in range(5):
            system = make_system(
                slug=f"system-{number}", parameters={"price": {"input": 1, "output": 1}}
            )
            make_completion(system=system)

        with django_assert_max_num_queries(6):
            page = staff.get(SYSTEMS)

        assert len(page.context["page"]) == 5

    def test_says_what_to_do_where_there_is_none(self, staff):
        assert "No language model is registered yet" in text(staff.get(SYSTEMS))


class TestSyncing:
    def test_brings_the_catalogue_in_and_says_so(self, staff):
        answer = staff.post(SYNC)

        listed = catalogue.load_catalogues(catalogue.shipped()).system
        assert System.objects.count() == len(listed) == len(answer.context["report"].added)
        assert "What the catalogue changed" in text(answer)

    def test_is_logged_under_who_did_it(self, staff):
        staff.post(SYNC)

        assert set(LogEntry.objects.values_list("action", "by__username")) == {
            ("system.added", "ada")
        }

    def test_changes_nothing_the_second_time(self, staff):
        staff.post(SYNC)

        report = staff.post(SYNC).context["report"]

        assert (report.added, report.changed, report.refused) == ([], {}, {})

    def test_tells_what_was_refused_and_goes_on(self, staff):
        make_system(slug="gpt-5", name="GPT-5 (simulated)", is_simulated=True)

        answer = staff.post(SYNC)

        assert "gpt-5 : the slug belongs to a simulated system" in text(answer)
        assert System.objects.filter(slug="gpt-o3").exists()


class TestAddingOne:
    def test_registers_what_a_file_could_say_and_logs_who_did(self, staff):
        answer = staff.post(ADD, OURS | {"price_input": "2.5", "price_output": "10"})

        system = System.objects.get()
        assert answer["Location"] == SYSTEMS
        assert (system.slug, system.family, system.is_simulated) == ("ours-7b", "our-lab", False)
        assert system.parameters == {
            "api_key_env": "OUR_LAB_KEY",
            "price": {"input": 2.5, "output": 10.0},
        }
        assert LogEntry.objects.get(by__username="ada").action == "system.added"

    def test_keeps_what_the_model_needs_set(self, staff):
        staff.post(
            ADD,
            OURS
            | {"max_tokens": "4000", "leave_out": ["temperature", "top_p"], "opening": "Hello."}
            | {"reasoning_effort": "low", "system_role": "developer"},
        )

        assert System.objects.get().parameters == {
            "api_key_env": "OUR_LAB_KEY",
            "leave_out": ["temperature", "top_p"],
            "max_tokens": 4000,
            "opening": "Hello.",
            "reasoning_effort": "low",
            "system_role": "developer",
        }

    @pytest.mark.parametrize(
        ("field", "value", "said"),
        [
            ("name", "Ours (simulated)", "The word is kept for what the offline provider"),
            ("slug", "Ours 7B", "Use small letters, digits and single hyphens"),
            ("family", "Our Lab", "Name the maker in small letters"),
            ("model_id", "ours", "Write the provider, a slash and the model"),
            ("api_base", "llm.our-lab.example", "Give an address that begins with http"),
            ("price_input", "1", "Field required"),
            ("max_tokens", "0", "greater than 0"),
            ("temperature", "3", "less than or equal to 2"),
            ("timeout_s", "301", "less than or equal to 300"),
            ("api_base_env", "OUR_ADDRESS", "both name an address"),
        ],
    )
    def test_refuses_what_a_file_may_not_say(self, staff, field, value, said):
        answer = staff.post(ADD, OURS | {field: value})

        assert answer.status_code == 422
        assert said in text(answer)
        assert "Nothing was registered" in text(answer)
        assert not System.objects.exists()

    @pytest.mark.parametrize(
        ("address", "said"),
        [
            ("http://10.0.0.7:8000/v1", "begins with https"),
            ("https://10.0.0.7/v1", "not a public one"),
            ("https://169.254.169.254/latest", "not a public one"),
            ("https://[::ffff:10.0.0.7]/v1", "not a public one"),
            ("https://2130706433/v1", "not written in full"),
            ("https://db.localhost/v1", "not a public one"),
        ],
    )
    def test_asks_nobody_within_the_network(self, staff, address, said):
        answer = staff.post(ADD, OURS | {"api_base": address})

        assert answer.status_code == 422
        assert said in text(answer)
        assert not System.objects.exists()

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
        ("field", "value", "said"),
        [
            ("api_key_env", "HEART_SECRET_KEY", "one of the site's own"),
            ("api_key_env", "DATABASE_URL", "one of the site's own"),
            ("model_id", "huggingface/https://evil.example", "no part of a model's id"),
        ],
    )
    def test_no_secret_of_the_site_is_a_key_and_no_id_an_address(self, staff, field, value, said):
        answer = staff.post(ADD, OURS | {field: value})

        assert answer.status_code == 422
        assert said in html.unescape(text(answer))

    @pytest.mark.parametrize(
        ("field", "value"),
        [("api_key_env", "sk-live-0123"), ("api_base", "https://ada:sk-live-0123@llm.example")],
    )
    def test_a_key_that_was_pasted_is_refused_and_not_shown_again(self, staff, field, value):
        answer = staff.post(ADD, OURS | {field: value})

        assert answer.status_code == 422
        assert "sk-live-0123" not in answer.content.decode()
        assert not System.objects.exists()

    def test_a_simulated_one_says_so_in_its_name(self, staff):
        own = OURS | {"is_simulated": "on", "api_base": "", "api_key_env": ""}

        refused = staff.post(ADD, own)
        staff.post(ADD, own | {"name": "Ours (simulated)"})

        assert "the name of a simulated system holds the word" in text(refused).lower()
        assert System.objects.get().is_simulated

    def test_a_simulated_one_has_no_key(self, staff):
        answer = staff.post(ADD, OURS | {"is_simulated": "on", "name": "Ours (simulated)"})

        assert "it has no address and no key" in text(answer)

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

    def test_one_whose_texts_are_imported_names_no_model(self, staff):
        answer = staff.post(ADD, {"name": "Ours", "slug": "ours-7b", "family": "our-lab"})

        assert answer.status_code == 302
        assert System.objects.get(slug="ours-7b").model_id == ""
        assert "its texts are imported" in text(staff.get(self.page()))

    @pytest.mark.parametrize("extra", [{"api_base": OURS["api_base"]}, {"max_tokens": "9"}])
    def test_one_that_is_never_asked_has_no_address_and_no_setting(self, staff, extra):
        told = {"name": "Ours", "slug": "ours-7b", "family": "our-lab"}

        answer = staff.post(ADD, told | extra)

        assert answer.status_code == 422
        assert "without a model to ask" in text(answer).lower()

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
        facts = {"index": {"value": 41, "source": "A list"}}
        told = {"parameters": parameters, "facts": facts}
        system = make_system(slug="ours-7b", **told)
        form = staff.get(self.page()).context["form"]

        answer = staff.post(self.page(), as_posted(form) | {"name": "Ours 8B"})

        system.refresh_from_db()
        assert (answer.status_code, system.name) == (302, "Ours 8B")
        assert {"parameters": system.parameters, "facts": system.facts} == told

    def test_that_is_asked_no_more_keeps_its_facts_alone(self, staff):
        facts = {"index": {"value": 41, "source": "A list"}}
        make_system(slug="ours-7b", parameters={"token_limit": "max_tokens"}, facts=facts)

        staff.post(self.page(), {"name": "Ours", "slug": "ours-7b", "family": "our-lab"})

        system = System.objects.get()
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

        staff.post(self.page(name="retire"))
        assert "retired" in text(staff.get(self.page()))
        assert "Ours 7B" not in text(staff.get(choose))

        staff.post(self.page(name="retire"))
        assert "Ours 7B" in text(staff.get(choose))
        actions = LogEntry.objects.values_list("action", flat=True)
        assert {"system.retired", "system.back"} <= set(actions)

    @pytest.mark.parametrize("name", ["system", "retire"])
    def test_people_are_no_model(self, staff, name):
        make_system(slug="people", kind="HUMAN", family="", model_id="")

        assert staff.post(self.page("people", name)).status_code == 404
