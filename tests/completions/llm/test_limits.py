"""Limits of providers as the operator gives them, and the provider of a question."""

import pytest

from completions.llm.limiting import (
    NONE,
    LimitsError,
    ProviderLimits,
    limits_of,
    provider_of,
    read_limits,
)


def read(text):
    return read_limits(text, source="HEART_LLM_LIMITS")


@pytest.mark.parametrize("text", ["", "  ", "{}"])
def test_nothing_given_is_no_limits(text):
    assert read(text) == {}


def test_limits_are_read_by_provider_and_may_be_partial():
    found = read(
        '{"openai": {"requests_per_minute": 500, "tokens_per_minute": 200000, "concurrency": 32},'
        ' "127.0.0.1:8000": {"concurrency": 4}}'
    )

    assert found == {
        "openai": ProviderLimits(
            requests_per_minute=500, tokens_per_minute=200_000, concurrency=32
        ),
        "127.0.0.1:8000": ProviderLimits(concurrency=4),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("500", "the whole: Input should be a valid dictionary"),
        ("{openai: 5}", "not JSON .*; for example: {"),
        ('{"openai": 500}', "openai: Input should be a valid dictionary"),
        ('{"openai": {"rpm": 500}}', "openai / rpm: unknown; known are requests_per_minute, "),
        ('{"openai": {"concurrency": 0}}', "openai / concurrency: Input should be greater than 0"),
        ('{"*": {"concurrency": "4"}}', r"\* / concurrency: Input should be a valid integer"),
        ('{"*": {"concurrency": true}}', r"\* / concurrency: Input should be a valid integer"),
    ],
)
def test_a_fault_is_named_with_the_setting_and_its_place(text, said):
    with pytest.raises(LimitsError, match=f"^HEART_LLM_LIMITS: {said}"):
        read(text)


def test_every_fault_is_named():
    with pytest.raises(LimitsError, match=r"a / concurrency: .*; b / concurrency: "):
        read('{"a": {"concurrency": -1}, "b": {"concurrency": -1}}')


def test_a_provider_has_its_own_limits_or_those_of_all_others_or_none():
    given = {"openai": ProviderLimits(concurrency=1), "*": ProviderLimits(concurrency=2)}

    assert limits_of("openai", given).concurrency == 1
    assert limits_of("anthropic", given).concurrency == 2
    assert limits_of("anthropic", {}) == NONE


def test_own_limits_without_a_number_are_not_those_of_others():
    assert (
        limits_of("openai", {"openai": ProviderLimits(), "*": ProviderLimits(concurrency=2)})
        == NONE
    )


def test_a_part_of_the_limits_is_never_nothing():
    part = ProviderLimits(requests_per_minute=500, concurrency=2).part(4)

    assert part == ProviderLimits(requests_per_minute=125, concurrency=1)


@pytest.mark.parametrize(
    ("model", "address", "provider"),
    [
        ("openai/gpt-5", "", "openai"),
        ("fireworks_ai/accounts/fireworks/models/kimi-k2", "", "fireworks_ai"),
        ("hosted_vllm/ours", "http://127.0.0.1:8899/v1", "127.0.0.1:8899"),
        ("openai/ours", "https://LLM.example.org/v1", "llm.example.org"),
        ("openai/ours", "https://user:secret@llm.example.org:444/v1", "llm.example.org:444"),
        ("openai/ours", "llm.example.org:444/v1", "llm.example.org:444"),
        ("gpt-5", "", "gpt-5"),
    ],
)
def test_the_provider_is_who_serves_the_model(model, address, provider):
    assert provider_of(model, address) == provider
