"""The offline provider as a server: its HTTP, pace, faults and log, and the command for it.

That clients of each API are answered in its shape is proved in `llm/test_gateway.py`.
"""

import http.client
import io
import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from completions import offline
from completions.offline import Behaviour, Fault, OfflineServer, planted
from tests.helpers.processes import free_port

CHAT = {
    "model": "offline-alder",
    "messages": [{"role": "user", "content": "I am so tired of my job."}],
}


@pytest.fixture(scope="module")
def _server() -> Iterator[OfflineServer]:
    with offline.running() as server:
        yield server


@pytest.fixture
def server(_server: OfflineServer) -> OfflineServer:
    """A server that nobody has asked and told anything."""
    _server.calls.clear()
    _server.script.clear()
    _server.behaviour, _server.log = Behaviour(), None
    return _server


@pytest.fixture
def connection(server: OfflineServer) -> Iterator[http.client.HTTPConnection]:
    host, port = server.server_address[:2]
    connection = http.client.HTTPConnection(str(host), int(port), timeout=20)
    yield connection
    connection.close()


def post(connection, body, path="/v1/chat/completions") -> http.client.HTTPResponse:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", path, data, {"Content-Type": "application/json"})
    return connection.getresponse()


def body_of(response: http.client.HTTPResponse) -> Any:
    return json.loads(response.read())


def choice_of(response: http.client.HTTPResponse) -> Any:
    return body_of(response)["choices"][0]


def events(response: http.client.HTTPResponse) -> list[str]:
    lines = response.read().decode().split("\n\n")
    return [line.removeprefix("data: ") for line in lines if line]


def until(is_met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not is_met():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class TestChat:
    def test_answers_in_the_shape_of_the_api_and_the_same_again(self, connection):
        response = post(connection, CHAT)
        body = body_of(response)

        (choice,), usage = body["choices"], body["usage"]
        assert response.status == 200
        assert (body["object"], body["model"]) == ("chat.completion", "offline-alder")
        assert (choice["message"]["role"], choice["finish_reason"]) == ("assistant", "stop")
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
        assert body_of(post(connection, CHAT)) == body

    def test_one_connection_serves_many_calls(self, connection):
        for _ in range(3):
            response = post(connection, CHAT)
            assert response.version == 11
            response.read()

        assert connection.sock is not None

    def test_a_stream_adds_up_to_the_whole_answer_and_ends_with_the_usage(self, connection):
        whole = body_of(post(connection, CHAT))
        options = {"stream": True, "stream_options": {"include_usage": True}}

        *parts, done = events(post(connection, CHAT | options))

        chunks = [json.loads(part) for part in parts]
        texts = [c["delta"].get("content", "") for chunk in chunks for c in chunk["choices"]]
        assert done == "[DONE]"
        assert "".join(texts) == whole["choices"][0]["message"]["content"]
        assert chunks[-1]["usage"] == whole["usage"]
        assert chunks[-2]["choices"][0]["finish_reason"] == "stop"

    def test_with_a_pace_every_word_is_an_event(self, server, connection):
        server.behaviour = Behaviour(tokens_per_s=10_000)

        parts = events(post(connection, CHAT | {"stream": True}))

        words = choice_of(post(connection, CHAT))["message"]["content"].split()
        assert len(parts) == len(words) + 2  # the end and [DONE]

    def test_models_are_listed_and_nothing_else_is_fetched(self, connection):
        connection.request("GET", "/v1/models")
        rows = body_of(connection.getresponse())["data"]
        connection.request("GET", "/")
        other = connection.getresponse()

        assert {row["id"].removeprefix("offline-") for row in rows} == {
            *("alder", "birch", "cedar", "judge-alder", "judge-birch"),
            *("rewriter", "hostility-rater", "screener", "strategist", "coder"),
        }
        assert other.status == 404

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            (CHAT | {"model": "gpt-5"}, 404),
            (CHAT | {"messages": []}, 400),
            (CHAT | {"messages": "hello"}, 400),
            ({"model": "offline-alder"}, 400),
            (CHAT | {"model": "offline-judge-alder"}, 400),
            (b"not json", 400),
            (b"[]", 400),
        ],
        ids=["model", "no-messages", "text", "missing", "no-judging-prompt", "not-json", "list"],
    )
    def test_what_it_cannot_answer_is_refused(self, connection, body, status):
        response = post(connection, body)

        assert response.status == status
        assert body_of(response)["error"]["message"]

    def test_other_paths_are_not_found(self, connection):
        assert post(connection, CHAT, path="/v1/embeddings").status == 404

    def test_a_body_without_a_length_is_refused(self, connection):
        connection.request("POST", "/v1/chat/completions")

        assert connection.getresponse().status == 411


class TestFaults:
    @pytest.mark.parametrize(
        "fault", [Fault.TRUNCATED, Fault.BROKEN_ANSWER, Fault.REFUSAL, Fault.OTHER_SCHEMA]
    )
    def test_a_spoiled_answer_says_how_it_finished(self, server, connection, fault):
        whole = choice_of(post(connection, CHAT))
        server.script.append(fault)

        spoiled = choice_of(post(connection, CHAT))

        text = spoiled["message"]["content"]
        assert spoiled["finish_reason"] == ("length" if fault == Fault.TRUNCATED else "stop")
        assert len(text) < len(whole["message"]["content"])
        if fault == Fault.REFUSAL:  # it looks like any other answer
            assert text == "I'm sorry, but I can't help with that."
        if fault == Fault.OTHER_SCHEMA:
            assert set(json.loads(text)) == {"verdict"}

    def test_a_script_is_used_up_in_order_and_the_log_keeps_what_was_asked(
        self, server, connection
    ):
        server.log = io.StringIO()
        server.script.extend([Fault.SERVER_ERROR, None])
        statuses = []
        for _ in range(3):
            response = post(connection, CHAT)
            statuses.append(response.status)
            response.read()

        assert statuses == [500, 200, 200]
        assert [call.fault for call in server.calls] == [Fault.SERVER_ERROR, None, None]
        call = server.calls[0]
        asked = (call.model, call.path, call.request)
        assert asked == ("offline-alder", "/v1/chat/completions", CHAT)
        written = [json.loads(line) for line in server.log.getvalue().splitlines()]
        assert [line["fault"] for line in written] == ["500", None, None]
        assert all(line["request"] == CHAT for line in written)

    def test_a_call_that_hangs_gets_no_answer_and_ends_with_its_caller(self, server, connection):
        server.script.append(Fault.HANG)
        connection.request("POST", "/v1/chat/completions", json.dumps(CHAT))
        until(lambda: bool(server.calls))
        connection.sock.settimeout(0.05)
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()

        until(lambda: not server._connections)


def test_a_planted_model_answers_over_http_after_its_time(connection):
    began = time.monotonic()

    choice = choice_of(post(connection, CHAT | {"model": "offline-planted-0-0-0-0-0-80ms"}))
    took = time.monotonic() - began

    assert planted.parts_done_well(choice["message"]["content"]) == frozenset()
    assert took >= 0.08  # it may well take longer


MESSAGES = ("/v1/messages", "messages")
GEMINI = ("/v1beta/models/offline-alder:generateContent", "contents")


@pytest.mark.parametrize(("path", "field"), [MESSAGES, GEMINI], ids=["Anthropic", "Google"])
@pytest.mark.parametrize("broken", [[], "hello", [{"role": "user"}], None])
def test_what_has_no_messages_is_refused_by_other_apis(connection, path, field, broken):
    assert post(connection, CHAT | {field: broken}, path).status == 400


class TestStandIns:
    @pytest.fixture(autouse=True)
    def _any_model(self, server):
        server.behaviour = Behaviour(stand_ins=True)

    def test_a_model_of_any_name_is_answered_by_the_same_voice_each_time(self, connection):
        one, two = (body_of(post(connection, CHAT | {"model": "gpt-5"})) for _ in range(2))

        assert one["model"] == "gpt-5"
        assert one["choices"] == two["choices"]
        assert one["choices"][0]["message"]["content"]

    def test_a_judging_prompt_is_answered_by_a_judge(self, connection):
        sections = {
            "dialogue": [{"role": "seeker", "text": "I am sad."}],
            "candidate_a": "Oh.",
            "candidate_b": "That is hard.",
            "answer_schema": {"properties": {"notes": {"required": ["H"]}}},
        }
        prompt = "".join(f"<{name}>{json.dumps(one)}</{name}>" for name, one in sections.items())
        body = {"model": "gpt-5", "messages": [{"role": "user", "content": prompt}]}

        answer = choice_of(post(connection, body))["message"]["content"]

        assert json.loads(answer)["winner"] in {"A", "B"}


class TestBehaviour:
    def test_faults_come_at_their_rates_and_always_the_same_of_a_seed(self):
        rates = {Fault.RATE_LIMITED: 0.2, Fault.SERVER_ERROR: 0.1}

        def drawn(seed: int) -> list[Fault | None]:
            behaviour = Behaviour(rates=rates, seed=seed)
            return [behaviour.draw_fault(str(n)) for n in range(5000)]

        found = drawn(3)
        assert found == drawn(3) != drawn(4)
        assert found.count(Fault.RATE_LIMITED) == pytest.approx(1000, abs=100)
        assert found.count(Fault.SERVER_ERROR) == pytest.approx(500, abs=80)

    def test_a_repeated_question_can_fare_better(self, server):
        server.behaviour = Behaviour(rates={Fault.SERVER_ERROR: 0.5})

        faults = {server.admit(CHAT, path="/v1", model="m") for _ in range(40)}

        assert faults == {None, Fault.SERVER_ERROR}

    @pytest.mark.parametrize(
        "fields",
        [
            {"latency_s": -1},
            {"retry_after_s": -1},
            {"tokens_per_s": 0},
            {"rates": {Fault.CUT: -0.1}},
            {"rates": {Fault.CUT: 0.6, Fault.EMPTY: 0.6}},
        ],
    )
    def test_what_means_nothing_is_refused(self, fields):
        with pytest.raises(ValueError, match="must be"):
            Behaviour(**fields)


class TestServer:
    def test_ending_interrupts_a_slow_answer_and_frees_the_port(self):
        with offline.serving() as base_url:
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", base_url)
        port = free_port()
        with offline.running(port=port, behaviour=Behaviour(latency_s=600)) as server:
            waiting = socket.create_connection(("127.0.0.1", port))
            body = json.dumps(CHAT).encode()
            head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
            waiting.sendall(head % len(body) + body)
            until(lambda: bool(server.calls))

        with waiting:
            waiting.settimeout(20)
            waiting.recv(1)  # answered or closed, but not left waiting
        with offline.running(port=port) as again:
            assert again.base_url.endswith(f":{port}/v1")


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


def test_the_pace_and_the_faults_reach_the_server_and_signals_get_their_handlers_back(monkeypatch):
    started: list[OfflineServer] = []

    def note(server: OfflineServer) -> None:
        started.append(server)

    monkeypatch.setattr(OfflineServer, "serve_until_interrupted", note)
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    out = io.StringIO()

    call_command(
        "offline_llm", "--port=0", "--latency=0.5", "--tokens-per-second=20",
        "--fault=429=0.1", "--fault=cut=0.2", "--retry-after=3", "--seed=5", "--any-model",
        stdout=out,
    )  # fmt: skip

    assert started[0].behaviour == Behaviour(
        latency_s=0.5, tokens_per_s=20, rates={Fault.RATE_LIMITED: 0.1, Fault.CUT: 0.2},
        retry_after_s=3, seed=5, stand_ins=True,
    )  # fmt: skip
    assert started[0].base_url in out.getvalue()
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before


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


def test_a_taken_port_and_a_log_that_cannot_be_written_are_told_with_exit_code_2(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(CommandError) as port:
        call_command("offline_llm", f"--port={taken.getsockname()[1]}")
    with pytest.raises(CommandError) as log:
        call_command("offline_llm", "--port=0", f"--log={tmp_path}")

    assert port.value.returncode == log.value.returncode == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fault=429"], "429.*broken-body"),
        (["--fault=sleepy=0.1"], "sleepy.*broken-body"),
        (["--fault=cut=much"], "cut=much.*broken-body"),
        (["--port=0", "--fault=cut=0.7", "--fault=429=0.7"], "sum to 1"),
    ],
)
def test_what_is_no_share_of_a_fault_is_told_with_those_that_exist(options, said):
    with pytest.raises(CommandError, match=said):
        call_command("offline_llm", *options)
