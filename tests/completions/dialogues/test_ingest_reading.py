"""Files are read a record at a time, whatever their size, with the place of every error."""

import itertools
import json
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from completions.dialogues import ingest
from completions.dialogues.ingest import IngestError
from completions.files import InputFileError, read, records
from completions.files import text as input_text
from tests.helpers.datasets import native, own, write_array, write_lines

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
    def test_gives_the_first_dialogue_before_the_rest_is_read(self, write, tmp_path):
        path = write(tmp_path / "long", itertools.repeat(native(), 1_000))
        with path.open("ab") as file:
            file.write(b"\xff")

        found = ingest.read_dialogues(path)

        assert isinstance(next(found), ingest.ParsedDialogue)
        with pytest.raises(IngestError, match="not UTF-8"):
            list(found)

    @WRITE
    def test_never_holds_the_file(self, write, tmp_path):
        path = write(tmp_path / "long", itertools.repeat(own(situation="x" * 1_000), 1_500))
        tracemalloc.start()

        n_dialogues = sum(1 for _ in ingest.read_dialogues(path))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        assert n_dialogues == 1_500
        assert peak < path.stat().st_size / 5
