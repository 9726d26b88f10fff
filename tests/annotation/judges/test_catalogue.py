"""The catalogue of judges: what is read of a file, stored by `manage.py judges`, and asked."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from annotation.judges.judge_catalogue import load_judges, shipped
from annotation.judges.prompts import (
    PAIR,
    answer_schema,
    probability_of_a,
    read_judge_answer,
)
from annotation.judges.queries import UnknownJudgeError, judges_named
from annotation.models import Judge
from annotation.studies.rubric import load_rubric
from completions import llm
from completions.offline import Behaviour
from completions.runs import pulling
from completions.runs.services import calling
from completions.systems import catalogue
from completions.systems.catalogue import CatalogueError
from tests.helpers.factories import make_judge, make_judge_call
from tests.helpers.providers import ASKS_LITELLM

JUDGE = """
[[judge]]
slug = "ours"
name = "Ours"
family = "our-lab"
model_id = "hosted_vllm/ours"
"""


OURS = JUDGE + 'parameters = { api_key_env = "OURS_KEY", api_base_env = "OURS_BASE" }\n'


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours.toml"
    path.write_text(OURS)
    return path


def fault_of(path: Path, text: str) -> str:
    """Write the text into a catalogue, and say what is wrong with it."""
    path.write_text(text)
    with pytest.raises(CatalogueError) as raised:
        load_judges([path])
    return str(raised.value)


TURNS = [{"role": "seeker", "text": "I lost my job."}]
RUBRIC = load_rubric("heart-1")


def test_the_shipped_one_has_a_judge_of_each_family_as_the_catalogue_of_systems_asks_its_models():
    judges = load_judges(shipped())
    systems = {one.model_id: one for one in catalogue.load_catalogues(catalogue.shipped()).system}

    assert [judge.family for judge in judges] == ["openai", "anthropic", "google"]
    for judge in judges:
        same = systems[judge.model_id]
        assert judge.family == same.family
        assert judge.parameters.leave_out == same.parameters.leave_out
        assert judge.parameters.api_key_env
    assert [judge.parameters.max_tokens for judge in judges] == [None, None, 8000]


@ASKS_LITELLM
class TestAsking:
    """Each judge of the shipped catalogue is asked as a run asks, and answers in its own API."""

    @pytest.fixture(params=load_judges(shipped()), ids=lambda judge: judge.family)
    def exchange(self, request, provider, monkeypatch) -> tuple[str, dict[str, Any], llm.Reply]:
        """Return the maker of the model, what it received, and what came back."""
        judge = request.param
        provider.behaviour = Behaviour(stand_ins=True)
        monkeypatch.setenv(judge.parameters.api_key_env, "a-key")
        is_versioned = judge.family == "openai"
        asked = calling.request_to(
            Judge(
                model_id=judge.model_id,
                parameters=judge.parameters.as_stored(),
                api_base=provider.base_url
                if is_versioned
                else provider.base_url.removesuffix("/v1"),
            ),
            messages=PAIR.messages(RUBRIC, TURNS, a="Choose A.", b="That is hard."),
            response_schema=answer_schema(RUBRIC.keys),
            max_tokens=2000,
        )

        reply = pulling.run_on_loop(lambda _executor: llm.complete(asked))

        (call,) = provider.calls
        return judge.family, call.request.get("generationConfig", call.request), reply

    def test_the_provider_gets_the_schema_in_its_order_and_what_it_says_is_read(self, exchange):
        _, body, reply = exchange
        named = body.get("response_format") or body.get("output_format") or {}
        found = named.get("json_schema", named).get("schema") or body.get("response_json_schema")

        assert found == answer_schema(RUBRIC.keys)
        assert list(found["properties"]) == list(answer_schema(RUBRIC.keys)["properties"])
        assert reply.honoured["response_schema"] is True
        assert "response_schema" not in reply.dropped
        assert set(read_judge_answer(reply.text, RUBRIC.keys).marks) == set(RUBRIC.keys)

    def test_who_gives_log_probabilities_is_asked_for_them_and_nobody_else(self, exchange):
        family, body, reply = exchange
        known = probability_of_a(reply.text, reply.tokens)

        assert bool(body.get("logprobs")) == (known is not None) == (family == "openai")
        assert known is None or 0 < known < 1
        assert "logprobs" not in reply.dropped


class TestParse:
    def test_what_a_row_sets_is_stored_and_nothing_else(self, ours):
        ours.write_text(JUDGE + "parameters = { logprobs = true, max_tokens = 500 }")

        (judge,) = load_judges([ours])

        assert judge.parameters.as_stored() == {"logprobs": True, "max_tokens": 500}

    @pytest.mark.parametrize("field", ["family", "model_id"])
    def test_nothing_is_guessed_from_a_name(self, ours, field):
        kept = "\n".join(line for line in JUDGE.splitlines() if not line.startswith(field))

        assert fault_of(ours, kept).startswith(f"ours.toml: judge 1 (ours): {field}: ")

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            (f'{JUDGE}kind = "model"', "judge 1 (ours): kind: "),
            (f"{JUDGE}facts.index = 1", "judge 1 (ours): facts: "),
            (f"{JUDGE}parameters.seed = 1", "judge 1 (ours): parameters.seed: "),
            (f'{JUDGE}parameters.logprobs = "yes"', "judge 1 (ours): parameters.logprobs: "),
            (JUDGE.replace("judge", "system"), "system: "),
            (
                JUDGE + JUDGE.replace('slug = "ours"', 'slug = "more"'),
                'name: "Ours" is taken by another judge of ours.toml',
            ),
        ],
    )
    def test_a_fault_is_told_with_file_row_and_field(self, ours, text, fault):
        assert fault_of(ours, text).startswith(f"ours.toml: {fault}")


def judges(*arguments) -> list[str]:
    out = io.StringIO()
    call_command("judges", *arguments, stdout=out)
    return out.getvalue().splitlines()


def make_ours(**fields) -> Judge:
    given = {"slug": "ours", "name": "Ours", "family": "our-lab", "model_id": "hosted_vllm/ours"}
    return make_judge(**given | fields)


@pytest.mark.django_db
class TestSync:
    def test_the_shipped_catalogue_fills_an_empty_table_once(self):
        assert "judges sync" in judges("list")[0]

        assert judges("sync")[-1] == "3 added, 0 changed, 0 unchanged, 0 refused"
        before, n_logged = list(Judge.objects.order_by("pk").values()), LogEntry.objects.count()
        assert judges("sync") == ["0 added, 0 changed, 3 unchanged, 0 refused"]

        gpt = Judge.objects.get(family="openai")
        assert (gpt.slug, gpt.model_id) == ("judge-gpt-4o", "openai/gpt-4o")
        assert gpt.parameters == {"api_key_env": "OPENAI_API_KEY", "logprobs": True}
        assert not gpt.is_simulated
        assert list(Judge.objects.order_by("pk").values()) == before
        assert LogEntry.objects.count() == n_logged

    def test_a_dry_run_reports_and_writes_nothing(self, ours):
        told = judges("sync", str(ours), "--dry-run")

        assert (told[0], told[-1]) == ("added     ours", "Nothing was written.")
        assert not Judge.objects.exists()


@pytest.mark.django_db
class TestRefusals:
    def refused(self, path: Path) -> str:
        with pytest.raises(CommandError, match="1 refused") as raised:
            judges("sync", str(path))
        assert raised.value.returncode == 1
        return str(raised.value)

    def test_a_simulated_judge_never_becomes_a_real_one(self, ours):
        make_ours(name="Simulated ours", is_simulated=True)

        assert "the slug belongs to a simulated judge" in self.refused(ours)
        assert Judge.objects.get().is_simulated

    @pytest.mark.parametrize("field", ["family", "model_id"])
    def test_who_a_judge_is_stays_once_it_was_asked(self, ours, field):
        judge = make_ours(**{field: "another"})
        make_judge_call(judge=judge)

        assert f"its {field} cannot change" in self.refused(ours)
        assert getattr(Judge.objects.get(), field) == "another"

    def test_before_that_a_wrong_id_can_be_put_right(self, ours):
        make_ours(model_id="openai/another")

        judges("sync", str(ours))

        assert Judge.objects.get().model_id == "hosted_vllm/ours"

    def test_a_faulty_file_is_told_with_exit_code_2_and_nothing_is_written(self, ours):
        ours.write_text(OURS + OURS)

        with pytest.raises(CommandError, match="taken by another judge") as raised:
            judges("sync", str(ours))

        assert raised.value.returncode == 2
        assert not Judge.objects.exists()


@pytest.mark.django_db
class TestList:
    def test_a_judge_is_told_with_its_maker_and_what_its_calls_need(self, ours, monkeypatch):
        monkeypatch.setenv("OURS_KEY", "s3cret")
        monkeypatch.delenv("OURS_BASE", raising=False)
        judges("sync", str(ours))

        assert judges("list") == [
            "ours: Ours, 0 calls",
            "  hosted_vllm/ours of our-lab, OURS_KEY set, OURS_BASE MISSING",
        ]

    def test_who_is_simulated_says_so_and_needs_no_key(self, django_assert_num_queries):
        fields = {"is_simulated": True, "parameters": {"api_key_env": "K"}}
        for slug in ("r", "s"):
            make_judge_call(judge=make_judge(slug=slug, name=f"Simulated {slug}", **fields))

        with django_assert_num_queries(1):
            told = judges("list")

        assert told[::2] == [f"{one}: Simulated {one} (simulated), 1 calls" for one in "rs"]
        assert "K " not in told[1]


@pytest.mark.django_db
def test_judges_are_found_by_their_slugs_and_an_unknown_one_is_refused_with_those_known():
    one, other = (make_judge(slug=slug) for slug in ("b", "a"))

    assert judges_named(["b", "a"]) == [other, one]
    with pytest.raises(UnknownJudgeError, match="unknown judges x; known are a, b"):
        judges_named(["a", "x"])
