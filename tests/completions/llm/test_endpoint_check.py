"""Before a model of one's own is asked, the numbers behind its host are looked at."""

import asyncio
import socket

import pytest

from completions import llm
from completions.runs.services import speaking
from tests.helpers.processes import settings_with

PUBLIC, INNER, METADATA = "93.184.216.34", "10.0.0.7", "169.254.169.254"


def check(address):
    request = llm.Request(model="hosted_vllm/ours", messages=(), api_base=address)
    asyncio.run(speaking.check_address(request))


@pytest.fixture(autouse=True)
def deployed(settings):
    settings.HEART_LLM_HOSTS = ["vllm.lab"]
    settings.HEART_OFFLINE_LLM_URL = "http://offline-llm:8899/v1"


@pytest.fixture
def names(monkeypatch):
    """Have names stand for numbers without a network."""
    known: dict[str, list[str]] = {}

    def lookup(host, port, **_how):
        if host not in known:
            raise socket.gaierror
        return [(2, 1, 6, "", (number, port)) for number in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return known


@pytest.mark.parametrize("numbers", [[INNER], [METADATA], ["127.0.0.1"], [PUBLIC, INNER], ["::1"]])
def test_a_name_that_leads_inside_is_not_asked(names, numbers):
    names["llm.example"] = numbers

    with pytest.raises(llm.PermanentError, match="HEART_LLM_HOSTS") as refusal:
        check("https://llm.example/v1")

    assert refusal.value.kind == "configuration"


@pytest.mark.parametrize(
    ("address", "numbers"),
    [
        ("https://llm.example/v1", [PUBLIC]),
        ("http://vllm.lab:8000/v1", [INNER]),
        ("http://offline-llm:8899/v1", [INNER]),
        ("https://unknown.example/v1", []),
        ("", []),
    ],
)
def test_public_and_named_ones_are(names, address, numbers):
    if numbers:
        names[address.split("/")[2].partition(":")[0]] = numbers

    check(address)


def test_the_embedded_default_asks_this_machine_and_a_deployment_does_not():
    deployed = settings_with(HEART_BROKER_URL="redis://redis:6379/0")

    assert {"127.0.0.1", "localhost"} <= set(settings_with()["HEART_LLM_HOSTS"])
    assert deployed["HEART_LLM_HOSTS"] == []
