"""The offline provider as a server: its HTTP, its pace, its faults, its log."""

import http.client
import io
import json
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from completions import offline
from completions.offline import Behaviour, Fault

CHAT = {
    "model": "offline-alder",
    "messages": [{"role": "user", "content": "I am so tired of my job."}],
}


@pytest.fixture
def server() -> Iterator[offline.OfflineServer]:
    with offline.running() as server:
        yield server


@pytest.fixture
def connection(server: offline.OfflineServer) -> Iterator[http.client.HTTPConnection]:
    host, port = server.server_address[:2]
    connection = http.client.HTTPConnection(str(host), int(port), timeout=20)
    yield connection
    connection.close()


def post(connection, body, path="/v1/chat/completions") -> http.client.HTTPResponse:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", path, data, {"Content-Type": "application/json"})
    return connection.getresponse()


def events(response: http.client.HTTPResponse) -> list[str]:
    lines = response.read().decode().split("\n\n")
    return [line.removeprefix("data: ") for line in lines if line]


def until(is_met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not is_met():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class TestChat:
    def test_answers_in_the_shape_of_the_api(self, connection):
        response = post(connection, CHAT)
        body = json.loads(response.read())

        assert response.status == 200
        assert body["object"] == "chat.completion"
        assert body["model"] == "offline-alder"
        assert body["choices"][0]["message"]["role"] == "assistant"
        assert body["choices"][0]["finish_reason"] == "stop"
        assert body["usage"]["total_tokens"] == (
            body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]
        )

    def test_the_same_question_gets_the_same_answer(self, connection):
        assert post(connection, CHAT).read() == post(connection, CHAT).read()

    def test_one_connection_serves_many_calls(self, connection):
        for _ in range(3):
            response = post(connection, CHAT)
            assert response.version == 11
            response.read()

        assert connection.sock is not None

    def test_a_stream_adds_up_to_the_whole_answer_and_ends_with_the_usage(self, connection):
        whole = json.loads(post(connection, CHAT).read())
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

        n_words = len(
            json.loads(post(connection, CHAT).read())["choices"][0]["message"]["content"].split()
        )
        assert len(parts) == n_words + 2  # the end and [DONE]

    def test_models_are_listed(self, connection):
        connection.request("GET", "/v1/models")
        rows = json.loads(connection.getresponse().read())["data"]

        assert {row["id"] for row in rows} == {
            "offline-alder",
            "offline-birch",
            "offline-cedar",
            "offline-judge-alder",
            "offline-judge-birch",
            "offline-rewriter",
            "offline-hostility-rater",
            "offline-screener",
            "offline-strategist",
            "offline-coder",
        }

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
        assert json.loads(response.read())["error"]["message"]

    def test_only_models_can_be_fetched(self, connection):
        connection.request("GET", "/")

        assert connection.getresponse().status == 404

    def test_other_paths_are_not_found(self, connection):
        assert post(connection, CHAT, path="/v1/embeddings").status == 404

    def test_a_body_without_a_length_is_refused(self, connection):
        connection.request("POST", "/v1/chat/completions")

        assert connection.getresponse().status == 411


class TestFaults:
    def test_a_rate_limit_names_the_wait(self, server, connection):
        server.behaviour = Behaviour(retry_after_s=2.5)
        server.script.append(Fault.RATE_LIMITED)

        response = post(connection, CHAT)

        assert response.status == 429
        assert response.headers["Retry-After"] == "2.5"

    @pytest.mark.parametrize(
        ("fault", "status"), [(Fault.SERVER_ERROR, 500), (Fault.UNAUTHORIZED, 401)]
    )
    def test_refusals_have_their_status(self, server, connection, fault, status):
        server.script.append(fault)

        assert post(connection, CHAT).status == status

    def test_a_broken_body_is_no_json(self, server, connection):
        server.script.append(Fault.BROKEN_BODY)
        response = post(connection, CHAT)

        assert response.status == 200
        with pytest.raises(json.JSONDecodeError):
            json.loads(response.read())

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    def test_a_cut_answer_ends_in_the_middle(self, server, connection, stream):
        server.script.append(Fault.CUT)
        response = post(connection, CHAT | {"stream": stream})

        with pytest.raises(http.client.IncompleteRead):
            response.read()

    @pytest.mark.parametrize(
        ("fault", "reason"),
        [
            (Fault.EMPTY, "stop"),
            (Fault.FILTERED, "content_filter"),
            (Fault.TRUNCATED, "length"),
            (Fault.BROKEN_ANSWER, "stop"),
        ],
    )
    def test_a_spoiled_answer_says_how_it_finished(self, server, connection, fault, reason):
        whole = json.loads(post(connection, CHAT).read())["choices"][0]
        server.script.append(fault)

        spoiled = json.loads(post(connection, CHAT).read())["choices"][0]

        assert spoiled["finish_reason"] == reason
        assert len(spoiled["message"]["content"]) < len(whole["message"]["content"])

    def test_a_script_is_used_up_in_order(self, server, connection):
        server.script.extend([Fault.SERVER_ERROR, None])
        statuses = []
        for _ in range(3):
            response = post(connection, CHAT)
            statuses.append(response.status)
            response.read()

        assert statuses == [500, 200, 200]
        assert [call.fault for call in server.calls] == [Fault.SERVER_ERROR, None, None]

    def test_the_log_keeps_what_was_asked(self, server, connection):
        post(connection, CHAT).read()

        assert server.calls[0].model == "offline-alder"
        assert server.calls[0].path == "/v1/chat/completions"
        assert server.calls[0].request == CHAT

    def test_the_log_may_go_to_a_file_as_well(self, server, connection):
        server.log = io.StringIO()
        server.script.append(Fault.SERVER_ERROR)
        for _ in range(2):
            post(connection, CHAT).read()

        written = [json.loads(line) for line in server.log.getvalue().splitlines()]
        assert [line["fault"] for line in written] == ["500", None]
        assert all(line["request"] == CHAT for line in written)

    def test_a_polite_refusal_looks_like_any_other_answer(self, server, connection):
        server.script.append(Fault.REFUSAL)

        choice = json.loads(post(connection, CHAT).read())["choices"][0]

        assert choice["finish_reason"] == "stop"
        assert choice["message"]["content"] == "I'm sorry, but I can't help with that."

    def test_json_of_another_schema_parses(self, server, connection):
        server.script.append(Fault.OTHER_SCHEMA)

        choice = json.loads(post(connection, CHAT).read())["choices"][0]

        assert set(json.loads(choice["message"]["content"])) == {"verdict"}

    def test_a_call_that_hangs_gets_no_answer_and_ends_with_its_caller(self, server, connection):
        server.script.append(Fault.HANG)
        connection.request("POST", "/v1/chat/completions", json.dumps(CHAT))
        until(lambda: bool(server.calls))
        connection.sock.settimeout(0.05)
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()

        until(lambda: not server._connections)


class TestOtherApis:
    """Anthropic's and Google's way lead to the same voices."""

    MESSAGES = ("/v1/messages", {**CHAT, "system": [{"type": "text", "text": "Be kind."}]})
    GEMINI = (
        "/v1beta/models/offline-alder:generateContent",
        {
            "contents": [{"role": "user", "parts": [{"text": "I am so tired of my job."}]}],
            "system_instruction": {"parts": [{"text": "Be kind."}]},
        },
    )
    OPENAI = (
        "/v1/chat/completions",
        CHAT | {"messages": [{"role": "system", "content": "Be kind."}, *CHAT["messages"]]},
    )

    def said(self, connection) -> str:
        path, body = self.OPENAI
        found = json.loads(post(connection, body, path).read())
        return str(found["choices"][0]["message"]["content"])

    def test_messages_answer_in_their_own_shape(self, connection):
        path, body = self.MESSAGES
        found = json.loads(post(connection, body, path).read())

        assert found["type"] == "message"
        assert [part["text"] for part in found["content"]] == [self.said(connection)]
        assert found["stop_reason"] == "end_turn"
        assert found["usage"]["output_tokens"] > 0

    def test_messages_stream_named_events(self, connection):
        path, body = self.MESSAGES
        sent = events(post(connection, body | {"stream": True}, path))

        names = [one.split("\n")[0] for one in sent]
        data = [json.loads(one.split("data: ")[1]) for one in sent]
        texts = [one["delta"].get("text", "") for one in data if "delta" in one]
        assert names[:2] == ["event: message_start", "event: content_block_start"]
        assert names[-2:] == ["event: message_delta", "event: message_stop"]
        assert "".join(texts) == self.said(connection)

    def test_gemini_answers_in_its_own_shape(self, server, connection):
        path, body = self.GEMINI
        found = json.loads(post(connection, body, path).read())

        (candidate,) = found["candidates"]
        assert candidate["content"]["parts"] == [{"text": self.said(connection)}]
        assert candidate["finishReason"] == "STOP"
        assert found["usageMetadata"]["candidatesTokenCount"] > 0
        assert server.calls[0].model == "offline-alder"

    def test_gemini_streams_parts(self, connection):
        path, body = self.GEMINI
        streamed = path.replace(":generate", ":streamGenerate") + "?alt=sse"
        data = [json.loads(one) for one in events(post(connection, body, streamed))]

        parts = [part for one in data for part in one["candidates"][0]["content"]["parts"]]
        assert "".join(part["text"] for part in parts) == self.said(connection)
        assert data[-1]["candidates"][0]["finishReason"] == "STOP"

    @pytest.mark.parametrize("way", ["MESSAGES", "GEMINI"])
    @pytest.mark.parametrize(
        ("fault", "status"), [(Fault.RATE_LIMITED, 429), (Fault.UNAUTHORIZED, 401)]
    )
    def test_errors_have_the_status_and_a_message(self, server, connection, way, fault, status):
        path, body = getattr(self, way)
        server.script.append(fault)

        response = post(connection, body, path)

        assert response.status == status
        assert json.loads(response.read())["error"]["message"]

    @pytest.mark.parametrize("way", ["MESSAGES", "GEMINI"])
    @pytest.mark.parametrize("broken", [[], "hello", [{"role": "user"}], None])
    def test_what_has_no_messages_is_refused(self, connection, way, broken):
        path, body = getattr(self, way)
        field = "messages" if way == "MESSAGES" else "contents"

        assert post(connection, body | {field: broken}, path).status == 400


class TestStandIns:
    def test_a_model_of_any_name_is_answered_by_the_same_voice_each_time(self, server, connection):
        server.behaviour = Behaviour(stand_ins=True)
        body = CHAT | {"model": "gpt-5"}

        one, two = (json.loads(post(connection, body).read()) for _ in range(2))

        assert one["model"] == "gpt-5"
        assert one["choices"] == two["choices"]
        assert one["choices"][0]["message"]["content"]

    def test_a_judging_prompt_is_answered_by_a_judge(self, server, connection):
        server.behaviour = Behaviour(stand_ins=True)
        schema = {"properties": {"notes": {"required": ["H"]}}}
        sections = {
            "dialogue": [{"role": "seeker", "text": "I am sad."}],
            "candidate_a": "Oh.",
            "candidate_b": "That is hard.",
            "answer_schema": schema,
        }
        prompt = "".join(f"<{name}>{json.dumps(one)}</{name}>" for name, one in sections.items())
        body = {"model": "gpt-5", "messages": [{"role": "user", "content": prompt}]}

        answer = json.loads(post(connection, body).read())["choices"][0]["message"]["content"]

        assert json.loads(answer)["winner"] in {"A", "B"}

    def test_without_stand_ins_there_are_none(self, connection):
        assert post(connection, CHAT | {"model": "gpt-5"}).status == 404


class TestBehaviour:
    def test_faults_come_at_their_rates_and_always_the_same(self):
        behaviour = Behaviour(rates={Fault.RATE_LIMITED: 0.2, Fault.SERVER_ERROR: 0.1}, seed=3)

        drawn = [behaviour.draw_fault(str(n)) for n in range(5000)]

        assert drawn == [behaviour.draw_fault(str(n)) for n in range(5000)]
        assert drawn.count(Fault.RATE_LIMITED) == pytest.approx(1000, abs=100)
        assert drawn.count(Fault.SERVER_ERROR) == pytest.approx(500, abs=80)

    def test_a_repeated_question_can_fare_better(self, server):
        server.behaviour = Behaviour(rates={Fault.SERVER_ERROR: 0.5})

        faults = {server.admit(CHAT, path="/v1", model="m") for _ in range(40)}

        assert faults == {None, Fault.SERVER_ERROR}

    def test_another_seed_draws_other_faults(self):
        rates = {Fault.CUT: 0.5}
        one, other = (
            [Behaviour(rates=rates, seed=seed).draw_fault(str(n)) for n in range(50)]
            for seed in (1, 2)
        )

        assert one != other

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
    def test_serving_gives_the_address_for_api_base(self):
        with offline.serving() as base_url:
            assert base_url.startswith("http://127.0.0.1:")
            assert base_url.endswith("/v1")

    def test_ending_interrupts_a_slow_answer_and_frees_the_port(self):
        with offline.running(behaviour=Behaviour(latency_s=600)) as server:
            port = int(server.server_address[1])
            waiting = socket.create_connection(("127.0.0.1", port))
            body = json.dumps(CHAT).encode()
            head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
            waiting.sendall(head % len(body) + body)
            while not server.calls:
                pass

        with waiting:
            waiting.settimeout(20)
            waiting.recv(1)  # answered or closed, but not left waiting
        with offline.running(port=port) as again:
            assert again.base_url.endswith(f":{port}/v1")
