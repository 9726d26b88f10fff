"""Files are read a record at a time; what cannot be read is told with its place, never quoted."""

import json
import tracemalloc
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from completions.dialogues.ingest.dialogue import BadRecord, IngestError, ParsedDialogue
from completions.dialogues.ingest.files import read_dialogues, strictly
from completions.files import records
from completions.files import text as input_text
from completions.files.reading import read
from completions.files.refusals import InputFileError
from tests.helpers.datasets import (
    SEEKER,
    SUPPORTER,
    native,
    own,
    parse_record,
    write_array,
    write_lines,
)
from tests.helpers.factories import NOW

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)
WRITE = pytest.mark.parametrize("write", [write_array, write_lines])
BOTH = pytest.mark.parametrize("ascii_only", [True, False])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("values")


@pytest.fixture
def chunk(monkeypatch):
    return lambda size: monkeypatch.setattr(input_text, "CHUNK", size)


def values(path):
    return [entry.value for entry in read(path)]


class TestEntries:
    @BOTH
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        written=st.lists(VALUES, max_size=5),
        size=st.integers(1, 40),
        indent=st.sampled_from([None, 1]),
    )
    def test_of_an_array_are_what_the_whole_file_would_give(
        self, folder, chunk, ascii_only, written, size, indent
    ):
        chunk(size)
        path = folder / "array.json"
        text = json.dumps(written, ensure_ascii=ascii_only, indent=indent)
        path.write_text(text, encoding="utf-8", errors="replace")

        assert values(path) == json.loads(path.read_text(encoding="utf-8"))

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        written=st.lists(st.dictionaries(st.text(max_size=5), VALUES), min_size=2, max_size=5),
        size=st.integers(1, 40),
    )
    def test_of_lines_are_numbered_with_their_lines(self, folder, chunk, written, size):
        chunk(size)
        path = folder / "lines.jsonl"
        path.write_text("\n\n".join(map(json.dumps, written)), encoding="utf-8")

        found = list(read(path))

        assert [entry.value for entry in found] == written
        assert [entry.line for entry in found] == list(range(1, 2 * len(written), 2))

    def test_keep_half_a_surrogate_for_the_check_to_find(self, tmp_path):
        path = tmp_path / "half.json"
        path.write_bytes(b'["\\ud800", "\\ud83d\\ude00"]')

        assert values(path) == ["\ud800", "\U0001f600"]

    @pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 64])
    def test_name_the_place_of_an_error_wherever_the_file_was_cut(self, chunk, tmp_path, size):
        chunk(size)
        path = tmp_path / "broken.json"
        path.write_text('[\n{"é": "ü"},\n{"a": 1,\n "ö" 2}\n]', encoding="utf-8")

        with pytest.raises(InputFileError, match="line 4, column 6: Expecting ':' delimiter"):
            values(path)

    @pytest.mark.parametrize("opening", ['["', '[{"a": "', '{"a": "'])
    def test_refuse_a_quote_that_is_never_closed(self, monkeypatch, tmp_path, opening):
        monkeypatch.setattr(records, "LONGEST", 1_000)
        monkeypatch.setattr(input_text, "CHUNK", 100)
        path = tmp_path / "open.json"
        path.write_text(opening + "x" * 100_000, encoding="utf-8")

        with pytest.raises(InputFileError, match="the record that begins here has over 1,000 char"):
            values(path)


class TestStreaming:
    @WRITE
    def test_gives_the_first_dialogue_before_the_rest_is_read(self, write, chunk, tmp_path):
        chunk(1_000)
        path = write(tmp_path / "long", [native()] * 20)
        with path.open("ab") as file:
            file.write(b"\xff")

        found = read_dialogues(path)

        assert isinstance(next(found), ParsedDialogue)
        with pytest.raises(IngestError, match="not UTF-8"):
            list(found)

    @WRITE
    def test_never_holds_the_file(self, write, chunk, tmp_path):
        chunk(4_000)
        path = write(tmp_path / "long", [own(situation="x" * 4_000)] * 150)
        tracemalloc.start()

        n_dialogues = sum(1 for _ in read_dialogues(path))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        assert n_dialogues == 150
        assert peak < path.stat().st_size / 5


@pytest.fixture
def write(tmp_path):
    def _write(content):
        path = tmp_path / "dialogues.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    return _write


def dialogues_of(path):
    return list(read_dialogues(path))


def bad_records(path):
    return [one for one in read_dialogues(path) if isinstance(one, BadRecord)]


BAD_FILES = {
    "broken": (b'[{"dialog": [}]', "line 1, column 14"),
    "broken later": (b'[\n {"dialog": []},\n oops]', "line 3, column 2"),
    "cut off": (b'[{"dialog": []}', "line 1, column 16"),
    "no comma": (b'[{"dialog": []} {}]', "column 17: expected a comma"),
    "two values": (b'[{"dialog": []}] {}', "column 18: something follows"),
    "comma at the end": (b'[{"dialog": []},]', "line 1, column 17"),
    "BOM": (b"\xef\xbb\xbf[\xff]", "byte 0xff at line 1, column 2"),
    "half a character": (b'["\xc3', "byte 0xc3 at line 1, column 3"),
    "NaN": (b"[NaN]", "NaN is not a JSON number"),
    "nested too deep": (b"[" * 100_000, "not valid JSON"),
    "too long a number": (b"[" + b"1" * 5_000 + b"]", "4300 digits"),
    "no dialogues": (b"[]", "holds no dialogues"),
    "an object": (b"{}", "unknown format"),
    "numbers": (b"[1]", "unknown format"),
    "another format": (b'[{"messages": []}]', "unknown format"),
    "lines of another format": (b'{"messages": []}\n', "unknown format"),
    "an object on lines": (b'{\n "dialog": []\n}', "no dialogue that"),
    "CSV": (b"text,role\nHi,seeker\n", "unknown format"),
    "bad": (b'[{"dialog": []}]', "no dialogue that can be used; dialogue 1:"),
}


class TestBadFile:
    @pytest.mark.parametrize(("content", "reason"), BAD_FILES.values(), ids=BAD_FILES)
    def test_is_refused_with_the_position(self, write, content, reason):
        path = write(content)

        with pytest.raises(IngestError) as caught:
            dialogues_of(path)

        assert str(caught.value).startswith(f"{path}: ")
        assert reason in str(caught.value)

    def test_names_the_formats_that_are_known(self, write):
        with pytest.raises(IngestError, match=r'ESConv.*"dialogue_history".*"turns"'):
            dialogues_of(write(b'[{"messages": []}]'))


NO_NAME = "not valid JSON at column 2: Expecting property name enclosed in double quotes"
HELLO = (SUPPORTER, "Hello.")
BAD_DIALOGUES = {
    "not an object": ("words", ": expected an object"),
    "no dialogue": ({"title": "x"}, ": dialog: is missing"),
    "not a list": ({"dialog": "x"}, ": dialog: expected a list"),
    "empty": ({"dialog": []}, ": both a seeker and a supporter must speak"),
    "one speaker": (
        native((SEEKER, "Hi."), (SEEKER, "Anyone?")),
        ": both a seeker and a supporter must speak",
    ),
    "unknown speaker": (
        {"dialog": [*native()["dialog"], {"speaker": "listener", "content": "Hello."}]},
        ", utterance 5: speaker: expected 'seeker' or 'supporter', found 'listener'",
    ),
    "no content": (
        {"dialog": [*native()["dialog"], {"speaker": "supporter"}]},
        ", utterance 5: content: is missing",
    ),
    "only spaces": (native((SEEKER, " \n "), HELLO), ", utterance 1: content: is empty"),
    "only invisible characters": (
        native((SEEKER, "\u200b\ufeff \u3164\u2800"), HELLO),
        ", utterance 1: content: is empty",
    ),
    "NUL": (
        native((SEEKER, "a\x00b"), HELLO),
        (
            ", utterance 1: content: "
            "contains a character that cannot be stored: NUL, or half of a surrogate pair"
        ),
    ),
    "label too long": (
        native(emotion_type="x" * 61),
        ": emotion_type: String should have at most 60 characters",
    ),
}


class TestBadDialogue:
    @pytest.mark.parametrize(("bad", "message"), BAD_DIALOGUES.values(), ids=BAD_DIALOGUES)
    def test_is_told_with_its_place_and_skipped(self, write, bad, message):
        first, found, last = dialogues_of(write([native(), bad, native()]))

        assert str(found) == f"dialogue 2{message}"
        assert first == last

    @pytest.mark.parametrize(
        "bad",
        [
            pytest.param(native((SEEKER, "\ud800"), (SUPPORTER, "b")), id="surrogate"),
            pytest.param(
                native(survey_score={"seeker": {"empathy": float("inf")}}), id="infinite score"
            ),
            pytest.param(native(survey_score={"seeker": {"empathy": "\x00"}}), id="NUL in a score"),
            pytest.param(native(emotion_type="\ud800"), id="surrogate in a label"),
            pytest.param(native(emotion_type="\u00df" * 31), id="label that grows"),
            pytest.param(native(survey_score={"at": NOW}), id="time of Parquet"),
            pytest.param(native(survey_score={"of": [Decimal(1)]}), id="exact number of Parquet"),
            pytest.param(own(metadata={"of": {"deep": b"x"}}), id="bytes of Parquet"),
            pytest.param(own(*[(SEEKER, "a"), (SUPPORTER, "b")] * 2**14), id="too many turns"),
        ],
    )
    def test_that_no_database_can_store_is_refused(self, bad):
        with pytest.raises(IngestError, match="dialogue 1"):
            parse_record(bad, 1)

    @pytest.mark.parametrize(
        "bad",
        [
            {"dialog": [{"speaker": "my secret is this", "content": "Hi."}]},
            {"dialog": [{"speaker": ["my secret"], "content": "Hi."}]},
            {"dialog": [{"speaker": "seeker", "content": {"my secret": 1}}]},
            native((SEEKER, "my secret\x00"), (SUPPORTER, "Hello.")),
            native(emotion_type=["my secret"]),
            ["my secret"],
        ],
    )
    def test_is_not_quoted_either_where_a_name_is_expected(self, write, bad):
        (found,) = bad_records(write([native(), bad]))

        assert "secret" not in str(found)

    def test_of_a_line_is_told_with_the_line(self, tmp_path):
        path = tmp_path / "talks.jsonl"
        lines = ["{oops", json.dumps(native()), "", "{oops}", '{"dialog": []}', '{"a": NaN}']
        path.write_text("\n".join(lines), encoding="utf-8")

        assert [str(one) for one in bad_records(path)] == [
            f"dialogue 1 (line 1): {NO_NAME}",
            f"dialogue 3 (line 4): {NO_NAME}",
            "dialogue 4 (line 5): both a seeker and a supporter must speak",
            "dialogue 5 (line 6): not valid JSON: in the record, NaN is not a JSON number",
        ]


def test_strictly_read_good_records_come_and_the_first_bad_one_is_refused(write):
    records = strictly(read_dialogues(write([native(), "words", native()])))

    assert isinstance(next(records), ParsedDialogue)
    with pytest.raises(IngestError, match=r"^dialogue 2: expected an object$"):
        next(records)
    assert len(list(strictly(read_dialogues(write([native()]))))) == 1
