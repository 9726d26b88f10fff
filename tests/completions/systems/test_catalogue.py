"""Catalogues of systems: the shipped one is whole, and a faulty one says what is wrong where.

Every system of the shipped one is asked once, through LiteLLM, and the server says what came.
"""

import csv
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from completions import llm, offline
from completions.llm import prompts
from completions.models import System
from completions.offline import Behaviour
from completions.runs import pulling
from completions.runs.services import calling
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
from tests.helpers.providers import ASKS_LITELLM

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
        rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
        facts = {
            one.name: {name: str(fact.value) for name, fact in one.facts.items()}
            for one in everything()
        }

        columns = {"intelligence_index": "aa_index", "median_ttft_ms": "median_ttft_ms"}
        assert facts == {
            row["system"]: {name: row[column] for name, column in columns.items() if row[column]}
            for row in rows
        }

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
            ('model_id = "huggingface/https://evil.example"', "system 1 (ours): model_id: an a"),
            ('api_base = "ours.example"', "system 1 (ours): api_base: "),
            ('api_base = "https://me:key@ours.example"', "system 1 (ours): api_base: "),
            ("colour = 1", "system 1 (ours): colour: "),
            ("parameters.max_tokens = 0", "system 1 (ours): parameters.max_tokens: "),
            ('parameters.max_tokens = "9"', "system 1 (ours): parameters.max_tokens: "),
            ("parameters.timeout_s = 301.0", "system 1 (ours): parameters.timeout_s: "),
            ("parameters.temperature = 3.0", "system 1 (ours): parameters.temperature: "),
            ("parameters.seed = 1", "system 1 (ours): parameters.seed: "),
            ('parameters.leave_out = ["seed"]', "system 1 (ours): parameters.leave_out.0: "),
            ("parameters.price = {input = inf, output = 1}", "system 1 (ours): parameters.price"),
            ("facts.index = { value = nan, source = 'x' }", "system 1 (ours): facts.index.value"),
            ('api_base = "https://ours.example:99999"', "system 1 (ours): api_base: Port out of"),
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

    @pytest.mark.parametrize("name", ["HEART_SECRET_KEY", "DATABASE_URL"])
    def test_a_variable_of_the_site_holds_no_key_of_a_provider(self, name):
        assert "one of the site's own" in fault_of(SYSTEM + f'parameters.api_key_env = "{name}"')

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

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (None, "cannot be read: No such file or directory$"),
            (b"\xff", "cannot be read: 'utf-8' codec "),
            (b"", "is empty$"),
            (b"# nothing yet\nsystem = []\n", "is empty$"),
        ],
    )
    def test_a_file_that_cannot_be_used_is_named(self, tmp_path: Path, content, said):
        path = tmp_path / "ours.toml"
        if content is not None:
            path.write_bytes(content)

        with pytest.raises(CatalogueError, match=rf"ours\.toml: {said}"):
            load_catalogues([path])


MODELS = {one.slug: one for one in load_catalogues(shipped()).system if one.kind == "model"}
TURNS = [
    {"role": "supporter", "text": "Hello, what brings you here?"},
    {"role": "seeker", "text": "I lost my job 🙂 שלום"},
]
PROMPT = prompts.load_prompt(prompts.SUPPORTER)
OPENING = "(The supporter opens the conversation.)"
REASONING = {"gpt-5", "gpt-o3"}
BY_ADDRESS = "polaris-4-0"


@dataclasses.dataclass(frozen=True)
class Exchange:
    """What was asked, what the server received, and what came back."""

    entry: SystemEntry
    path: str
    model: str
    body: Mapping[str, Any]
    reply: llm.Reply

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.body.get("generationConfig", self.body)

    @property
    def chat(self) -> list[tuple[str, str]]:
        """The messages under the names of roles that the API has, instructions first."""
        body = self.body
        system = body.get("system") or body.get("system_instruction", {}).get("parts")
        said = body.get("messages") or body["contents"]
        chat = [("system", system)] if system else []
        chat += [(one["role"], one.get("content") or one["parts"]) for one in said]
        return [(role, plain(content)) for role, content in chat]


def plain(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.fixture(scope="module")
def exchanges() -> dict[str, Exchange]:
    with (
        pytest.MonkeyPatch.context() as patch,
        offline.running(behaviour=Behaviour(stand_ins=True)) as provider,
    ):
        patch.setenv("POLARIS_API_BASE", address_of(provider, MODELS[BY_ADDRESS]))
        return {slug: exchange(provider, entry, patch) for slug, entry in MODELS.items()}


def exchange(
    provider: offline.OfflineServer, entry: SystemEntry, patch: pytest.MonkeyPatch
) -> Exchange:
    """Ask a system as a run does: from its row, with the stored prompt, as a stream."""
    patch.setenv(str(entry.parameters.api_key_env), "a-key")
    row = row_of(entry)
    if entry.parameters.api_base_env is None:
        row.api_base = address_of(provider, entry)
    request = calling.request_to(
        row, messages=prompts.supporter_messages(TURNS, PROMPT), max_tokens=300, stream=True
    )
    provider.calls.clear()
    reply = pulling.run_on_loop(lambda _executor: llm.complete(request))
    (call,) = provider.calls
    return Exchange(entry, call.path, call.model, call.request, reply)


def row_of(entry: SystemEntry) -> System:
    return System(model_id=str(entry.model_id), parameters=entry.parameters.as_stored())


def address_of(provider: offline.OfflineServer, entry: SystemEntry) -> str:
    """Return what to put in place of the provider's own address, which has no version for some."""
    has_version = not str(entry.model_id).startswith(("anthropic/", "gemini/"))
    return provider.base_url if has_version else provider.base_url.removesuffix("/v1")


@pytest.fixture(params=sorted(MODELS))
def asked(exchanges, request) -> Exchange:
    return exchanges[request.param]


@ASKS_LITELLM
class TestAsking:
    def test_the_model_of_the_row_is_asked_in_its_providers_own_way_without_tools(self, asked):
        provider, model = str(asked.entry.model_id).split("/", 1)
        paths = {
            "anthropic": "/v1/messages",
            "gemini": f"/models/{asked.model}:streamGenerateContent?alt=sse",
        }

        assert asked.model == model
        assert asked.path == paths.get(provider, "/v1/chat/completions")
        assert asked.body.get("stream", True) is True
        assert {"tools", "tool_choice", "functions"}.isdisjoint(asked.body)

    def test_temperature_is_0_and_top_p_1_or_their_drop_is_on_record(self, asked):
        for name, wanted in (("temperature", 0), ("top_p", 1)):
            if name in asked.entry.parameters.leave_out:
                assert name not in asked.settings
                assert name in asked.reply.dropped
            else:
                assert asked.settings[name] == wanted
                assert asked.reply.honoured[name] == wanted
                assert name not in asked.reply.dropped

    def test_only_who_refuses_a_parameter_goes_without(self, asked):
        refused: set[str] = {"top_p"} if asked.entry.family == "anthropic" else set()
        if asked.entry.slug in REASONING:
            refused = {"temperature", "top_p"}

        assert set(asked.reply.dropped) == refused

    def test_the_limit_leaves_room_for_thoughts(self, asked):
        names = ("max_tokens", "max_completion_tokens", "max_output_tokens")

        (limit,) = [asked.settings[name] for name in names if name in asked.settings]
        thinks = asked.entry.slug in REASONING or asked.entry.family == "google"
        assert limit == (4000 if thinks else 300)

    def test_roles_and_texts_arrive_as_they_are_and_what_differs_is_on_record(self, asked):
        needs_user_first = asked.entry.family in {"anthropic", "google"}
        differs = {"opening": OPENING} if needs_user_first else {}
        differs |= {"system_role": "developer"} if asked.entry.slug == "gpt-o3" else {}

        assert asked.chat == [
            (differs.get("system_role", "system"), PROMPT.text),
            *([("user", OPENING)] if needs_user_first else []),
            ("model" if asked.entry.family == "google" else "assistant", TURNS[0]["text"]),
            ("user", TURNS[1]["text"]),
        ]
        told = {"opening", "system_role"} & asked.reply.honoured.keys()
        assert {name: asked.reply.honoured[name] for name in told} == differs

    def test_the_reply_has_its_record(self, asked):
        reply = asked.reply

        assert reply.text
        assert reply.finish_reason in {"stop", "end_turn", "STOP"}  # as each provider calls it
        assert reply.provider_id.startswith("offline-")
        assert reply.ttft_ms is not None
        assert reply.ttft_ms <= reply.latency_ms
        assert reply.n_prompt_tokens
        assert reply.n_completion_tokens
        assert reply.cost_usd is None  # not asked at its provider's address

    def test_the_one_without_public_endpoint_is_not_asked_before_it_has_an_address(
        self, monkeypatch
    ):
        entry = MODELS[BY_ADDRESS]
        monkeypatch.setenv(str(entry.parameters.api_key_env), "a-key")
        monkeypatch.delenv("POLARIS_API_BASE", raising=False)
        row = row_of(entry)
        request = calling.request_to(row, messages=prompts.supporter_messages(TURNS, PROMPT))

        with pytest.raises(llm.PermanentError, match="POLARIS_API_BASE") as raised:
            pulling.run_on_loop(lambda _executor: llm.complete(request))

        assert raised.value.kind == "configuration"
