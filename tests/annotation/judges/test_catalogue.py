"""Catalogues of judges: the shipped one is whole, and a faulty one says what is wrong where."""

from pathlib import Path

import pytest

from annotation.judges.judge_catalogue import load_judges, shipped
from completions.systems import catalogue
from completions.systems.catalogue import CatalogueError

JUDGE = """
[[judge]]
slug = "ours"
name = "Ours"
family = "our-lab"
model_id = "hosted_vllm/ours"
"""


@pytest.fixture
def faults(tmp_path: Path):
    """Write a file and say what is wrong with it."""

    def _faults(text: str) -> str:
        path = tmp_path / "ours.toml"
        path.write_text(text)
        with pytest.raises(CatalogueError) as raised:
            load_judges([path])
        return str(raised.value)

    return _faults


class TestShipped:
    def test_there_is_one_judge_of_each_family_that_the_protocol_names(self):
        families = [judge.family for judge in load_judges(shipped())]

        assert families == ["openai", "anthropic", "google"]

    def test_ids_and_makers_are_those_of_the_catalogue_of_systems(self):
        systems = catalogue.load_catalogues(catalogue.shipped()).system
        known = {(one.family, one.model_id) for one in systems}

        assert {(judge.family, judge.model_id) for judge in load_judges(shipped())} <= known

    def test_every_judge_names_the_variable_of_its_key(self):
        assert all(judge.parameters.api_key_env for judge in load_judges(shipped()))


class TestParse:
    def test_what_a_row_sets_is_stored_and_nothing_else(self, tmp_path):
        path = tmp_path / "ours.toml"
        path.write_text(JUDGE + "parameters = { logprobs = true, max_tokens = 500 }")

        (judge,) = load_judges([path])

        assert judge.parameters.as_stored() == {"logprobs": True, "max_tokens": 500}

    @pytest.mark.parametrize("field", ["family", "model_id"])
    def test_nothing_is_guessed_from_a_name(self, faults, field):
        kept = [line for line in JUDGE.splitlines() if not line.startswith(field)]

        assert faults("\n".join(kept)).startswith(f"ours.toml: judge 1 (ours): {field}: ")

    @pytest.mark.parametrize(
        ("line", "fault"),
        [
            ('kind = "model"', "judge 1 (ours): kind: "),
            ("facts.index = 1", "judge 1 (ours): facts: "),
            ("parameters.seed = 1", "judge 1 (ours): parameters.seed: "),
            ('parameters.logprobs = "yes"', "judge 1 (ours): parameters.logprobs: "),
            ('api_base = "ours.example"', "judge 1 (ours): api_base: "),
        ],
    )
    def test_a_fault_is_told_with_file_row_and_field(self, faults, line, fault):
        assert faults(JUDGE + line).startswith(f"ours.toml: {fault}")

    def test_a_system_is_no_judge(self, faults):
        assert faults(JUDGE.replace("judge", "system")).startswith("ours.toml: system: ")

    def test_a_key_is_refused_and_not_repeated(self, faults):
        fault = faults(JUDGE + 'parameters.api_key = "sk-s3cret"')

        assert "api_key_env" in fault
        assert "s3cret" not in fault

    def test_two_judges_of_one_name_are_refused(self, faults):
        fault = faults(JUDGE + JUDGE.replace('slug = "ours"', 'slug = "more"'))

        assert fault == 'ours.toml: name: "Ours" is taken by another judge of ours.toml'

    def test_a_file_that_is_not_there_is_told(self, tmp_path):
        with pytest.raises(CatalogueError, match="cannot be read"):
            load_judges([tmp_path / "none.toml"])
