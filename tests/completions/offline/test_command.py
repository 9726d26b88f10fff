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


@pytest.mark.full
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_it_serves_until_a_signal_also_in_the_background_of_a_shell(ending):
    # A shell without job control has its background jobs ignore Ctrl-C.
    serve = f"{sys.executable} manage.py offline_llm --port 0 --latency 0.01"
    command = ["sh", "-c", f"trap '' INT; exec {serve}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            base_url = process.stdout.readline().split()[3]
            proxyless = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with proxyless.open(f"{base_url}/models") as response:
                models = json.load(response)
            process.send_signal(ending)
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
        "--fault=429=0.1", "--fault=cut=0.2", "--retry-after=3", "--seed=5", "--any-model",
        stdout=out,
    )  # fmt: skip

    behaviour = started[0].behaviour
    assert (behaviour.latency_s, behaviour.tokens_per_s, behaviour.seed) == (0.5, 20, 5)
    assert dict(behaviour.rates) == {"429": 0.1, "cut": 0.2}
    assert behaviour.retry_after_s == 3
    assert behaviour.stand_ins
    assert started[0].base_url in out.getvalue()


def test_calls_are_appended_to_the_log(monkeypatch, tmp_path):
    (log := tmp_path / "calls.jsonl").write_text("{}\n")

    def call(server: OfflineServer) -> None:
        server.admit({"model": "m"}, path="/v1/messages", model="m")

    monkeypatch.setattr(OfflineServer, "serve_until_interrupted", call)

    call_command("offline_llm", "--port=0", f"--log={log}", stdout=io.StringIO())

    before, line = map(json.loads, log.read_text().splitlines())
    assert before == {}
    assert line.pop("at") > 0
    assert line == {"request": {"model": "m"}, "fault": None, "path": "/v1/messages", "model": "m"}


def test_a_log_that_cannot_be_written_is_told_with_exit_code_2(tmp_path):
    with pytest.raises(CommandError) as raised:
        call_command("offline_llm", "--port=0", f"--log={tmp_path}")

    assert raised.value.returncode == 2


def test_the_handlers_of_signals_are_given_back(monkeypatch):
    monkeypatch.setattr(OfflineServer, "serve_until_interrupted", lambda _server: None)
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]

    call_command("offline_llm", "--port=0", stdout=io.StringIO())

    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before


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
