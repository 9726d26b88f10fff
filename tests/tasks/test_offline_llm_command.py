"""`manage.py offline_llm`: serves until it is interrupted, and says what it cannot do."""

import io
import json
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from django.core.management import CommandError, call_command

from completions.offline import OfflineServer


def test_it_serves_until_it_is_interrupted():
    command = [sys.executable, "manage.py", "offline_llm", "--port", "0", "--latency", "0.01"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            base_url = process.stdout.readline().split()[3]
            proxyless = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with proxyless.open(f"{base_url}/models") as response:
                models = json.load(response)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        finally:
            process.kill()

    assert models["data"]
    assert process.returncode == 0


def test_the_pace_and_the_faults_reach_the_server(monkeypatch):
    started: list[OfflineServer] = []

    def note(server: OfflineServer) -> None:
        started.append(server)

    monkeypatch.setattr(OfflineServer, "serve_until_interrupted", note)
    out = io.StringIO()

    call_command(
        "offline_llm", "--port=0", "--latency=0.5", "--tokens-per-second=20",
        "--fault=429=0.1", "--fault=cut=0.2", "--retry-after=3", "--seed=5", stdout=out,
    )  # fmt: skip

    behaviour = started[0].behaviour
    assert (behaviour.latency_s, behaviour.tokens_per_s, behaviour.seed) == (0.5, 20, 5)
    assert dict(behaviour.rates) == {"429": 0.1, "cut": 0.2}
    assert behaviour.retry_after_s == 3
    assert started[0].base_url in out.getvalue()


def test_a_taken_port_is_told_with_exit_code_2():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(CommandError) as raised:
        call_command("offline_llm", f"--port={taken.getsockname()[1]}")

    assert raised.value.returncode == 2


@pytest.mark.parametrize(
    ("option", "named"),
    [("--fault=429", "429"), ("--fault=sleepy=0.1", "sleepy"), ("--fault=cut=much", "cut=much")],
)
def test_an_unknown_fault_is_told_with_those_that_exist(option, named):
    with pytest.raises(CommandError, match=f"{named}.*broken-body"):
        call_command("offline_llm", option)


def test_shares_that_exceed_the_whole_are_refused():
    with pytest.raises(CommandError, match="sum to 1"):
        call_command("offline_llm", "--port=0", "--fault=cut=0.7", "--fault=429=0.7")
