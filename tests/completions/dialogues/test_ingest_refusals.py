"""What cannot be read is refused with its place, and never quoted."""

import json

import pytest

from completions.dialogues import ingest
from completions.dialogues.ingest import BadRecord, IngestError


def utterance(speaker, content):
    return {"speaker": speaker, "content": content, "annotation": {}}


def record(*utterances, **labels):
    said = utterances or (utterance("seeker", "I am lost."), utterance("supporter", "Tell me."))
    return {"dialog": list(said), **labels}


@pytest.fixture
def write(tmp_path):
    def _write(content):
        path = tmp_path / "dialogues.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    return _write


def read(path):
    return list(ingest.read_dialogues(path))


def bad_records(path):
    return [one for one in ingest.read_dialogues(path) if isinstance(one, BadRecord)]


class TestBadFile:
    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            pytest.param(b"", "is empty", id="empty"),
            pytest.param(b" \n\n", "is empty", id="only space"),
            pytest.param(b'[{"dialog": [}]', "line 1, column 14", id="broken"),
            pytest.param(b'[\n {"dialog": []},\n oops]', "line 3, column 2", id="broken later"),
            pytest.param(b'[{"dialog": []}', "line 1, column 16", id="cut off"),
            pytest.param(b'[{"dialog": []} {}]', "column 17: expected a comma", id="no comma"),
            pytest.param(b'[{"dialog": []}] {}', "column 18: something follows", id="two values"),
            pytest.param(b'[{"dialog": []},]', "line 1, column 17", id="comma at the end"),
            pytest.param(b'["caf\xe9"]', "not UTF-8: byte 0xe9 at line 1, column 6", id="latin-1"),
            pytest.param(b"\xef\xbb\xbf[\xff]", "byte 0xff at line 1, column 2", id="BOM"),
            pytest.param(b'["\xc3', "byte 0xc3 at line 1, column 3", id="half a character"),
            pytest.param("[]".encode("utf-16"), "holds no dialogues", id="utf-16"),
            pytest.param(b"[NaN]", "NaN is not a JSON number", id="NaN"),
            pytest.param(b"[" * 100_000, "not valid JSON", id="nested too deep"),
            pytest.param(b"[" + b"1" * 5_000 + b"]", "4300 digits", id="too long a number"),
            pytest.param(b"[]", "holds no dialogues", id="no dialogues"),
            pytest.param(b"{}", "unknown format", id="an object"),
            pytest.param(b"[1]", "unknown format", id="numbers"),
            pytest.param(b'[{"messages": []}]', "unknown format", id="another format"),
            pytest.param(b'{"messages": []}\n', "unknown format", id="lines of another format"),
            pytest.param(b'{\n "dialog": []\n}', "no dialogue that", id="an object on lines"),
            pytest.param(b"text,role\nHi,seeker\n", "unknown format", id="CSV"),
            pytest.param(
                b'[{"dialog": []}]', "no dialogue that can be used; dialogue 1:", id="bad"
            ),
        ],
    )
    def test_is_refused_with_the_position(self, write, content, reason):
        path = write(content)

        with pytest.raises(IngestError) as caught:
            read(path)

        assert str(caught.value).startswith(f"{path}: ")
        assert reason in str(caught.value)

    def test_names_the_formats_that_are_known(self, write):
        with pytest.raises(IngestError, match=r'ESConv.*"dialogue_history".*"turns"'):
            read(write(b'[{"messages": []}]'))

    def test_may_be_missing(self, tmp_path):
        with pytest.raises(IngestError, match=r"none\.json: cannot be read: No such file"):
            read(tmp_path / "none.json")

    def test_may_be_a_folder(self, tmp_path):
        with pytest.raises(IngestError, match="cannot be read: Is a directory"):
            read(tmp_path)

    def test_with_a_byte_order_mark_is_read(self, write):
        path = write(b"\xef\xbb\xbf" + json.dumps([record()]).encode())

        assert len(read(path)) == 1


class TestBadDialogue:
    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            pytest.param("words", "dialogue 2: expected an object", id="not an object"),
            pytest.param({"title": "x"}, "dialogue 2: dialog: is missing", id="no dialogue"),
            pytest.param({"dialog": "x"}, "dialogue 2: dialog: expected a list", id="not a list"),
            pytest.param(
                {"dialog": []}, "dialogue 2: both a seeker and a supporter must speak", id="empty"
            ),
            pytest.param(
                record(utterance("seeker", "Hi."), utterance("seeker", "Anyone?")),
                "dialogue 2: both a seeker and a supporter must speak",
                id="one speaker",
            ),
            pytest.param(
                record(utterance("seeker", "Hi."), utterance("listener", "Hello.")),
                "dialogue 2, utterance 2: speaker: "
                "expected 'seeker' or 'supporter', found 'listener'",
                id="unknown speaker",
            ),
            pytest.param(
                record(utterance("seeker", "Hi."), {"speaker": "supporter"}),
                "dialogue 2, utterance 2: content: is missing",
                id="no content",
            ),
            pytest.param(
                record(utterance("seeker", " \n "), utterance("supporter", "Hello.")),
                "dialogue 2, utterance 1: content: is empty",
                id="only spaces",
            ),
            pytest.param(
                record(utterance("seeker", "\u200b\ufeff"), utterance("supporter", "Hello.")),
                "dialogue 2, utterance 1: content: is empty",
                id="only invisible characters",
            ),
            pytest.param(
                record(utterance("seeker", "a\x00b"), utterance("supporter", "Hello.")),
                "dialogue 2, utterance 1: content: "
                "contains a character that cannot be stored: NUL, or half of a surrogate pair",
                id="NUL",
            ),
            pytest.param(
                record(emotion_type="x" * 61),
                "dialogue 2: emotion_type: String should have at most 60 characters",
                id="label too long",
            ),
        ],
    )
    def test_is_told_with_its_place_and_skipped(self, write, bad, message):
        first, found, last = read(write([record(), bad, record()]))

        assert str(found) == message
        assert first == last

    @pytest.mark.parametrize(
        "bad",
        [
            pytest.param(
                record(utterance("seeker", "\ud800"), utterance("supporter", "b")), id="surrogate"
            ),
            pytest.param(
                record(survey_score={"seeker": {"empathy": float("inf")}}), id="infinite score"
            ),
            pytest.param(record(survey_score={"seeker": {"empathy": "\x00"}}), id="NUL in a score"),
            pytest.param(record(emotion_type="\ud800"), id="surrogate in a label"),
        ],
    )
    def test_that_no_database_can_store_is_refused(self, bad):
        with pytest.raises(IngestError, match="dialogue 1"):
            ingest.parse_record(bad, 1)

    def test_is_not_quoted_in_the_message(self):
        bad = record(utterance("seeker", "my secret\x00"), utterance("supporter", "Hello."))

        with pytest.raises(IngestError) as caught:
            ingest.parse_record(bad, 1)

        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        "bad",
        [
            record({"speaker": "my secret is this", "content": "Hi."}),
            record({"speaker": ["my secret"], "content": "Hi."}),
            record({"speaker": "seeker", "content": {"my secret": 1}}),
            record(emotion_type=["my secret"]),
            ["my secret"],
        ],
    )
    def test_is_not_quoted_either_where_a_name_is_expected(self, write, bad):
        (found,) = bad_records(write([record(), bad]))

        assert "secret" not in str(found)

    def test_of_a_line_is_told_with_the_line(self, tmp_path):
        path = tmp_path / "talks.jsonl"
        lines = [json.dumps(record()), "", "{oops}", json.dumps({"dialog": []}), '{"a": NaN}']
        path.write_text("\n".join(lines), encoding="utf-8")

        assert [str(one) for one in bad_records(path)] == [
            (
                "dialogue 2 (line 3): not valid JSON at column 2: "
                "Expecting property name enclosed in double quotes"
            ),
            "dialogue 3 (line 4): both a seeker and a supporter must speak",
            "dialogue 4 (line 5): not valid JSON: in the record, NaN is not a JSON number",
        ]

    def test_may_be_the_first_line(self, tmp_path):
        path = tmp_path / "talks.jsonl"
        path.write_text(f"{{oops\n{json.dumps(record())}\n", encoding="utf-8")

        bad, good = read(path)

        assert bad.place == "dialogue 1 (line 1)"
        assert good.n_utterances == 2


class TestStrictly:
    def test_refuses_the_first_bad_record(self, write):
        records = ingest.read_dialogues(write([record(), "words", record()]))

        with pytest.raises(IngestError, match=r"^dialogue 2: expected an object$"):
            list(ingest.strictly(records))

    def test_passes_good_ones_on(self, write):
        assert len(list(ingest.strictly(ingest.read_dialogues(write([record()]))))) == 1
