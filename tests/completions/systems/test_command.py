"""`manage.py systems`: the table becomes what the catalogue says, once and with a report."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from completions.choices import SystemKind
from completions.models import System
from tests.helpers.factories import make_completion, make_generation_call, make_system

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
    def test_the_shipped_catalogue_fills_an_empty_table(self):
        told = systems("sync")

        assert told[-2:] == [
            "17 added, 0 changed, 0 unchanged, 0 refused",
            "computed  best-human: made of human, has no row",
        ]
        gpt = System.objects.get(slug="gpt-o3")
        assert (gpt.name, gpt.kind, gpt.family) == ("GPT-o3", SystemKind.MODEL, "openai")
        assert gpt.model_id == "openai/o3"
        assert gpt.parameters["leave_out"] == ["temperature", "top_p"]
        assert gpt.facts["median_ttft_ms"]["value"] == 13800
        assert not gpt.is_simulated

    def test_doing_it_again_changes_nothing(self):
        systems("sync")
        before, n_logged = stored(), LogEntry.objects.count()

        assert systems("sync")[0] == "0 added, 0 changed, 17 unchanged, 0 refused"
        assert stored() == before
        assert LogEntry.objects.count() == n_logged

    def test_the_original_replies_keep_the_system_they_have(self):
        original = make_system(
            slug="original-dataset", name="Original dataset", kind=SystemKind.ORIGINAL
        )

        systems("sync")

        assert System.objects.get(kind=SystemKind.ORIGINAL) == original

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

    def test_an_address_that_the_catalogue_leaves_open_stays_as_it_was_set(self, ours):
        systems("sync", str(ours))
        System.objects.update(api_base="https://ours.example/v1")

        assert systems("sync", str(ours))[0] == "0 added, 0 changed, 1 unchanged, 0 refused"
        assert System.objects.get().api_base == "https://ours.example/v1"

    def test_an_address_that_the_catalogue_gives_is_the_one(self, ours):
        make_ours(api_base="https://old.example")
        ours.write_text(OURS.replace("parameters", 'api_base = "https://new.example" #'))

        systems("sync", str(ours))

        assert System.objects.get().api_base == "https://new.example"

    def test_systems_that_no_file_names_stay(self, ours):
        other = make_system(is_simulated=True, name="Simulated other")
        before = System.objects.filter(pk=other.pk).values().get()

        systems("sync", str(ours))

        assert System.objects.filter(pk=other.pk).values().get() == before

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

    def test_a_simulated_system_never_becomes_a_real_one(self, ours):
        make_system(slug="ours", name="Simulated ours", is_simulated=True)

        assert "the slug belongs to a simulated system" in self.refused(ours)
        assert System.objects.get().is_simulated

    def test_a_system_of_another_kind_is_refused(self, ours):
        make_system(slug="ours", name="People", kind=SystemKind.HUMAN)

        assert "another kind (human)" in self.refused(ours)

    @pytest.mark.parametrize("make", [make_completion, make_generation_call])
    @pytest.mark.parametrize("field", ["family", "model_id"])
    def test_what_completions_say_they_are_from_is_fixed_once_there_is_one(self, ours, make, field):
        system = make_ours()
        System.objects.update(**{field: "openai/another"})
        make(system=system)

        assert f"its {field} cannot change" in self.refused(ours)
        assert getattr(System.objects.get(slug="ours"), field) == "openai/another"

    def test_before_that_a_wrong_id_can_be_put_right(self, ours):
        make_ours()
        System.objects.update(model_id="openai/another")

        systems("sync", str(ours))

        assert System.objects.get().model_id == "hosted_vllm/ours"

    def test_a_faulty_file_is_told_with_exit_code_2_and_nothing_is_written(self, ours):
        ours.write_text(OURS + OURS)

        with pytest.raises(CommandError, match="taken by another system") as raised:
            systems("sync", str(ours))

        assert raised.value.returncode == 2
        assert not System.objects.exists()


class TestList:
    def test_an_empty_table_says_what_to_do(self):
        assert "systems sync" in systems("list")[0]

    def test_a_model_is_told_with_its_maker_and_what_its_calls_need(self, ours, monkeypatch):
        monkeypatch.setenv("OURS_KEY", "s3cret")
        monkeypatch.delenv("OURS_BASE", raising=False)
        systems("sync", str(ours))

        assert systems("list") == [
            "ours: Ours (language model), 0 completions",
            "  hosted_vllm/ours of our-lab, OURS_KEY set, OURS_BASE MISSING",
        ]

    def test_an_address_in_the_row_needs_no_variable(self, ours):
        systems("sync", str(ours))
        System.objects.update(api_base="https://ours.example")

        line = systems("list")[1]

        assert "at https://ours.example" in line
        assert "OURS_BASE" not in line

    def test_who_is_simulated_says_so_and_needs_no_key(self):
        make_system(
            slug="s", name="Simulated s", is_simulated=True, parameters={"api_key_env": "K"}
        )

        told = systems("list")

        assert told[0] == "s: Simulated s (language model, simulated), 0 completions"
        assert "K " not in told[1]

    def test_any_number_of_systems_takes_one_query(self, django_assert_num_queries):
        for _ in range(3):
            make_completion(system=make_system())

        with django_assert_num_queries(1):
            told = systems("list")

        assert sum(line.endswith("1 completions") for line in told) == 3
