"""The table becomes what the catalogue says, and a named model has its row, each once."""

import io
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from access.models import LogEntry
from completions.choices import SystemKind
from completions.models import Assistant, System
from completions.systems.catalogue import SystemEntry
from completions.systems.services.registering import (
    SIMULATED,
    ModelIdError,
    SystemTakenError,
    add_system,
    assistant_for,
)
from tests.helpers.factories import NOW, make_completion, make_generation_call, make_system
from tests.helpers.threads import while_uncommitted

pytestmark = pytest.mark.django_db

OURS = """
[[system]]
slug = "ours"
name = "Ours"
kind = "model"
family = "our-lab"
model_id = "hosted_vllm/ours"
parameters = { api_key_env = "OURS_KEY", api_base_env = "OURS_BASE" }
facts.index = { value = 3, source = "us" }
"""


def systems(*arguments) -> list[str]:
    out = io.StringIO()
    call_command("systems", *arguments, stdout=out)
    return out.getvalue().splitlines()


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours.toml"
    path.write_text(OURS)
    return path


def make_ours(**fields) -> System:
    return make_system(
        slug="ours", name="Ours", family="our-lab", model_id="hosted_vllm/ours", **fields
    )


def stored() -> list[tuple]:
    return list(System.objects.order_by("slug").values_list())


class TestSync:
    def test_the_shipped_catalogue_fills_the_table_once_and_changes_nothing_else(self):
        original = make_system(slug="original-dataset", name="Old", kind=SystemKind.ORIGINAL)
        make_system(slug="other", is_simulated=True, name="Simulated other")
        other = System.objects.filter(slug="other").values()
        before = other.get()

        told = systems("sync")

        assert told[-2:] == [
            "16 added, 1 changed, 0 unchanged, 0 refused",
            "computed  best-human: made of human, has no row",
        ]
        gpt = System.objects.get(slug="gpt-o3")
        assert (gpt.name, gpt.kind, gpt.family) == ("GPT-o3", SystemKind.MODEL, "openai")
        assert gpt.model_id == "openai/o3"
        assert gpt.parameters["leave_out"] == ["temperature", "top_p"]
        assert gpt.facts["median_ttft_ms"]["value"] == 13800
        assert not gpt.is_simulated
        assert System.objects.get(kind=SystemKind.ORIGINAL) == original
        assert other.get() == before
        filled, n_logged = stored(), LogEntry.objects.count()
        assert systems("sync")[0] == "0 added, 0 changed, 17 unchanged, 0 refused"
        assert (stored(), LogEntry.objects.count()) == (filled, n_logged)

    def test_a_change_is_told_and_logged_with_what_was_before(self, ours):
        make_ours(parameters={"max_tokens": 9})

        told = systems("sync", str(ours))

        assert "max_tokens" in told[0]
        assert "OURS_KEY" in told[0]
        assert "facts: {}" in told[0]
        assert told[1] == "0 added, 1 changed, 0 unchanged, 0 refused"
        entry = LogEntry.objects.get()
        assert (entry.action, entry.subject) == ("system.changed", "system ours")
        assert entry.before["parameters"] == {"max_tokens": 9}
        assert entry.after["parameters"]["api_key_env"] == "OURS_KEY"
        assert System.objects.get().facts == {"index": {"value": 3, "source": "us"}}

    def test_an_address_stays_as_it_was_set_until_the_catalogue_gives_one(self, ours):
        systems("sync", str(ours))
        System.objects.update(api_base="https://ours.example/v1")

        assert systems("sync", str(ours))[0] == "0 added, 0 changed, 1 unchanged, 0 refused"
        assert System.objects.get().api_base == "https://ours.example/v1"
        ours.write_text(OURS.replace("parameters", 'api_base = "https://new.example" #'))
        systems("sync", str(ours))
        assert System.objects.get().api_base == "https://new.example"

    def test_a_dry_run_reports_and_writes_nothing(self, ours):
        told = systems("sync", str(ours), "--dry-run")

        assert told[0] == "added     ours"
        assert told[-1] == "Nothing was written."
        assert not System.objects.exists()
        assert not LogEntry.objects.exists()


class TestRefusals:
    def refused(self, path: Path) -> str:
        out = io.StringIO()
        with pytest.raises(CommandError, match="1 refused") as raised:
            call_command("systems", "sync", str(path), stdout=out)
        assert raised.value.returncode == 1
        return out.getvalue()

    def test_a_name_of_another_system_is_refused_and_the_others_go_on(self, ours):
        make_system(slug="theirs", name="Ours")
        ours.write_text(OURS + OURS.replace("ours", "more").replace("Ours", "More"))

        told = self.refused(ours)

        assert 'refused   ours: the name "Ours" belongs to the system theirs' in told
        assert System.objects.filter(slug="more").exists()

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"name": "Simulated ours", "is_simulated": True}, "belongs to a simulated system"),
            ({"name": "People", "kind": SystemKind.HUMAN}, "another kind (human)"),
        ],
        ids=["simulated", "people"],
    )
    def test_what_is_no_real_model_never_becomes_one(self, ours, fields, said):
        make_system(slug="ours", **fields)
        before = stored()

        assert said in self.refused(ours)
        assert stored() == before

    @pytest.mark.parametrize("make", [make_completion, make_generation_call])
    @pytest.mark.parametrize("field", ["family", "model_id"])
    def test_what_completions_say_they_are_from_can_be_put_right_until_there_is_one(
        self, ours, make, field
    ):
        right = getattr(make_ours(), field)
        System.objects.update(**{field: "openai/another"})
        systems("sync", str(ours))
        assert getattr(System.objects.get(), field) == right
        System.objects.update(**{field: "openai/another"})
        make(system=System.objects.get())

        assert f"its {field} cannot change" in self.refused(ours)
        assert getattr(System.objects.get(slug="ours"), field) == "openai/another"

    def test_a_faulty_file_is_told_with_exit_code_2_and_nothing_is_written(self, ours):
        ours.write_text(OURS + OURS)

        with pytest.raises(CommandError, match="taken by another system") as raised:
            systems("sync", str(ours))

        assert raised.value.returncode == 2
        assert not System.objects.exists()


class TestList:
    def test_each_is_told_with_its_maker_and_what_its_calls_need(self, ours, monkeypatch):
        assert "systems sync" in systems("list")[0]
        monkeypatch.setenv("OURS_KEY", "s3cret")
        monkeypatch.delenv("OURS_BASE", raising=False)
        systems("sync", str(ours))
        make_system(
            slug="s", name="Simulated s", is_simulated=True, parameters={"api_key_env": "K"}
        )

        told = systems("list")

        assert told[:3] == [
            "ours: Ours (language model), 0 completions",
            "  hosted_vllm/ours of our-lab, OURS_KEY set, OURS_BASE MISSING",
            "s: Simulated s (language model, simulated), 0 completions",
        ]
        assert "K " not in told[3]
        System.objects.filter(slug="ours").update(api_base="https://ours.example")
        line = systems("list")[1]
        assert "at https://ours.example" in line
        assert "OURS_BASE" not in line

    def test_any_number_of_systems_takes_one_query(self, django_assert_num_queries):
        for _ in range(3):
            make_completion(system=make_system())

        with django_assert_num_queries(1):
            told = systems("list")

        assert sum(line.endswith(" 1 completion") for line in told) == 3


class TestAssistantFor:
    @pytest.mark.parametrize("task", SIMULATED)
    def test_offline_is_the_simulated_one_of_the_task(self, task):
        assistant = assistant_for(task, "offline")

        assert assistant.is_simulated
        assert assistant.name.startswith("Simulated")
        assert assistant.model_id == f"hosted_vllm/offline-{task}"
        assert assistant_for(task, "offline") == assistant
        assert Assistant.objects.count() == 1

    def test_a_model_is_a_real_one_under_its_own_name(self):
        assistant = assistant_for("rewriter", "openai/some-model")

        assert (assistant.name, assistant.model_id) == ("openai/some-model",) * 2
        assert not assistant.is_simulated
        assert assistant_for("rewriter", "openai/some-model") == assistant
        assert Assistant.objects.count() == 1

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            pytest.param("openai/model-4.1", "openai/model-41", id="a dot"),
            pytest.param("openai/model", "openai-model", id="a slash"),
            pytest.param(f"router/{'m' * 60}-large", f"router/{'m' * 60}-small", id="a long name"),
            pytest.param("offline", "simulated/rewriter", id="a simulated one"),
        ],
    )
    def test_is_never_another_model(self, one, other):
        """A run that asks for one model and gets another would say so nowhere."""
        assert assistant_for("rewriter", one).model_id != assistant_for("rewriter", other).model_id

    @pytest.mark.parametrize(
        "model",
        ["", " ", "two words", "openai/model ", "m" * 121, "huggingface/https://evil.example"],
    )
    def test_refuses_what_is_no_model(self, model):
        with pytest.raises(ModelIdError, match="is no id of a model"):
            assistant_for("rewriter", model)


def add(slug, name):
    entry = SystemEntry(slug=slug, name=name, kind="model", family="ours", model_id="openai/ours")
    return add_system(entry=entry, by=User.objects.get(username="ada"), now=NOW)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("field", "slug", "name"), [("slug", "ours", "B"), ("name", "b", "A")])
def test_of_two_who_add_one_system_at_once_the_second_is_told(shared_database, field, slug, name):
    User.objects.create(username="ada")

    def second():
        with suppress(SystemTakenError):
            add(slug, name)
            return None
        return field

    taken = while_uncommitted(partial(add, "ours", "A"), second, has_to_wait=True)

    assert taken == field
    assert System.objects.values_list("slug", "name").get() == ("ours", "A")
    assert LogEntry.objects.count() == 1
