"""Catalogues of systems: the shipped one is whole, and a faulty one says what is wrong where."""

import csv
from pathlib import Path

import pytest

from completions.runs.services.calling import SETTABLE
from completions.systems.catalogue import (
    Catalogue,
    CatalogueError,
    Computed,
    Parameters,
    SystemEntry,
    load_catalogues,
    parse_file,
    shipped,
)
from tests.helpers.datasets import shared_file

SYSTEM = """
[[system]]
slug = "ours"
name = "Ours"
kind = "model"
family = "our-lab"
model_id = "hosted_vllm/ours"
"""


def read(text: str) -> Catalogue:
    return parse_file(text, Catalogue, source="ours.toml")


def fault_of(text: str) -> str:
    with pytest.raises(CatalogueError) as raised:
        read(text)
    return str(raised.value)


def everything() -> list[SystemEntry | Computed]:
    catalogue = load_catalogues(shipped())
    return [*catalogue.system, *catalogue.computed]


class TestShipped:
    def test_every_row_of_the_published_leaderboard_is_there_with_sources_and_keys(self):
        names = [one.name for one in everything()]
        systems = load_catalogues(shipped()).system
        models = [one for one in systems if one.kind == "model"]
        facts = [fact for one in systems for fact in one.facts.values()]

        assert len(names) == len(set(names)) == 18
        assert len(models) == 16
        assert all(one.parameters.api_key_env for one in models)
        assert facts
        assert all("2601.19922" in fact.source for fact in facts)

    def test_names_and_facts_are_those_that_were_published(self):
        path = shared_file("heart-published-leaderboard.csv")
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        known = {one.name: one for one in everything()}

        assert {row["system"] for row in rows} == set(known)
        for row in rows:
            facts = {name: str(fact.value) for name, fact in known[row["system"]].facts.items()}
            published = {
                "intelligence_index": row["aa_index"],
                "median_ttft_ms": row["median_ttft_ms"],
            }
            assert facts == {name: value for name, value in published.items() if value}

    def test_a_family_is_a_maker_and_not_the_host_that_serves_the_weights(self):
        families = {one.slug: one.family for one in load_catalogues(shipped()).system}

        assert families["llama-3-1-70b"] == families["llama-4-maverick"] == "meta"
        assert families["kimi-k2"] == "moonshot"
        assert families["original-dataset"] is None


class TestParse:
    def test_a_source_may_be_spelled_out_once(self):
        text = f"""
            [sources]
            paper = "The paper, table 1"
            {SYSTEM}
            [system.facts]
            index = {{ value = 3.5, source = "paper" }}
            other = {{ value = 1, source = "Another paper" }}
        """

        facts = read(text).system[0].facts

        assert facts["index"].source == "The paper, table 1"
        assert facts["other"].source == "Another paper"

    def test_parameters_are_those_that_calls_read_and_only_what_is_set_is_stored(self):
        text = SYSTEM + 'parameters = { leave_out = ["top_p"], max_tokens = 500 }'

        (entry,) = read(text).system

        assert entry.parameters.as_stored() == {"leave_out": ["top_p"], "max_tokens": 500}
        assert set(Parameters.model_fields) == SETTABLE

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ('slug = "Ours!"', "system 1 (Ours!): slug: "),
            ("slug = 1", "system 1: slug: "),
            ('name = ""', "system 1 (ours): name: "),
            ('name = "Simulated ours"', "system 1 (ours): name: the word is kept"),
            ('kind = "HUMAN"', "system 1 (ours): kind: "),
            ('family = "Our Lab"', "system 1 (ours): family: "),
            ('model_id = "no-provider"', "system 1 (ours): model_id: "),
            ('api_base = "ours.example"', "system 1 (ours): api_base: "),
            ('api_base = "https://me:key@ours.example"', "system 1 (ours): api_base: "),
            ("colour = 1", "system 1 (ours): colour: "),
            ("parameters.max_tokens = 0", "system 1 (ours): parameters.max_tokens: "),
            ('parameters.max_tokens = "9"', "system 1 (ours): parameters.max_tokens: "),
            ("parameters.timeout_s = 301.0", "system 1 (ours): parameters.timeout_s: "),
            ("parameters.seed = 1", "system 1 (ours): parameters.seed: "),
            ('parameters.leave_out = ["seed"]', "system 1 (ours): parameters.leave_out.0: "),
            ("facts.index = { value = 1 }", "system 1 (ours): facts.index.source: "),
            ('facts.index = { value = "1", source = "x" }', "system 1 (ours): facts.index.value"),
        ],
    )
    def test_a_fault_is_told_with_file_row_and_field(self, change, fault):
        field = change.split(" ", 1)[0]
        kept = [line for line in SYSTEM.splitlines() if not line.startswith(f"{field} ")]

        assert fault_of("\n".join([*kept, change])).startswith(f"ours.toml: {fault}")

    def test_every_fault_is_told_at_once(self):
        text = SYSTEM + "colour = 1\n" + SYSTEM.replace("our-lab", "Our Lab")

        assert [line.split(":")[1] for line in fault_of(text).splitlines()] == [
            " system 1 (ours)",
            " system 2 (ours)",
        ]

    @pytest.mark.parametrize("field", ["family", "model_id"])
    def test_a_model_without_maker_or_id_is_refused(self, field):
        kept = [line for line in SYSTEM.splitlines() if not line.startswith(field)]

        assert fault_of("\n".join(kept)) == f"ours.toml: system 1 (ours): a model needs {field}"

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            (
                SYSTEM.replace('"model"', '"original"') + "parameters.max_tokens = 3",
                "only a model has family and model_id and parameters",
            ),
            (
                SYSTEM + 'api_base = "http://a.example"\nparameters.api_base_env = "OURS"',
                "both name an address",
            ),
        ],
        ids=["no model", "two addresses"],
    )
    def test_what_does_not_go_together_is_refused(self, text, fault):
        assert fault_of(text).endswith(fault)

    @pytest.mark.parametrize(
        "field",
        [
            *("api_key", "token", "parameters.api_key", "parameters.token"),
            "parameters.api_key_env",  # in place of its variable
        ],
    )
    def test_a_key_is_refused_and_not_repeated(self, field):
        fault = fault_of(SYSTEM + f'{field} = "sk-s3cret"')

        assert fault.startswith("ours.toml: system 1 (ours): ")
        assert "api_key_env" in fault
        assert "s3cret" not in fault

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("[[system", "ours.toml: not valid TOML"),
            (f"x = {'[' * 1_000}", "ours.toml: not valid TOML: nested too deep"),
            ("systems = 1", "ours.toml: systems: "),
            ("system = 1", "ours.toml: system: "),
            ("system = [1]", "ours.toml: system 1: "),
            ("sources = 1", "ours.toml: sources: "),
        ],
    )
    def test_what_is_no_catalogue_is_refused(self, text, fault):
        assert fault_of(text).startswith(fault)


class TestLoad:
    @pytest.mark.parametrize(
        ("old", "new", "taken"),
        [('"Ours"', '"Other"', 'slug: "ours"'), ('"ours"', '"other"', 'name: "Ours"')],
    )
    def test_several_files_are_one_catalogue_with_each_slug_and_name_once(
        self, tmp_path, old, new, taken
    ):
        (one := tmp_path / "a.toml").write_text(SYSTEM)
        (two := tmp_path / "b.toml").write_text(SYSTEM.replace(old, new))
        (three := tmp_path / "c.toml").write_text(SYSTEM.replace("ours", "s").replace("Ours", "S"))

        assert [entry.slug for entry in load_catalogues([one, three]).system] == ["ours", "s"]
        with pytest.raises(CatalogueError, match=rf"b\.toml: {taken} is taken .* a\.toml"):
            load_catalogues([one, two])

    @pytest.mark.parametrize("content", [None, b"\xff"])
    def test_a_file_that_cannot_be_read_is_named(self, tmp_path: Path, content):
        path = tmp_path / "ours.toml"
        if content is not None:
            path.write_bytes(content)

        with pytest.raises(CatalogueError, match=r"ours\.toml: cannot be read"):
            load_catalogues([path])
