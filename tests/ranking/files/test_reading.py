"""What comes out of a good file, what a bad one is refused for, and where the fault is."""

import csv
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from annotation.tool_files.reading import JudgmentFileError
from benchmarks import prompt
from ranking.files.reading import ReadOptions, read_judgments
from tests.ranking.files.files import row, write

WITH_RATERS = ReadOptions(required=("rater_id",), optional=("strength", "judge_kind", "pair_id"))
ROWS = [
    row("c2", "bo", "ada", "a", strength="3", judge_kind="human", rater_id="r1", note="x, \n y"),
    row("c1", "ada", "bo", "b", strength="", judge_kind="llm", rater_id="r2", note='"'),
    row("c1", "cy", "bo", "tie", strength="5", judge_kind="human", rater_id="r1", note=""),
]


HEAD = "context_id,system_a,system_b,winner,strength,judge_kind,note\n"
GOOD = "c1,ada,bo,a,3,human,\n"
BAD_LINES = {
    "winner of another name": ("c1,ada,bo,cy,3,human,", 'winner "cy" is not a, b or tie'),
    "winner in words": ("c1,ada,bo,A is best,3,human,", 'winner "A is best" is not'),
    "strength above five": ("c1,ada,bo,a,6,human,", 'strength "6" is not a whole number from 1'),
    "strength of nought": ("c1,ada,bo,a,0,human,", 'strength "0" is not'),
    "strength between": ("c1,ada,bo,a,2.5,human,", 'strength "2.5" is not'),
    "strength in words": ("c1,ada,bo,a,strong,human,", 'strength "strong" is not'),
    "against itself": ("c1,bo,bo,a,3,human,", '"bo" is compared with itself'),
    "no context": (",ada,bo,a,3,human,", "context_id is empty"),
    "no system": ("c1,,bo,a,3,human,", "system_a is empty"),
    "unknown kind": ("c1,ada,bo,a,3,robot,", 'judge_kind "robot" is not human or llm'),
    "kind left out": ("c1,ada,bo,a,3,,", 'judge_kind "" is not human or llm'),
    "a field too few": ("c1,ada,bo,a,3,human", "6 fields, but the header has 7"),
    "a field too many": ("c1,ada,bo,a,3,human,,", "8 fields, but the header has 7"),
    "two faults": (",ada,bo,cy,3,human,", 'context_id is empty; winner "cy"'),
}


def read(path, wanted=None):
    return read_judgments(path, wanted or ReadOptions())


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
class TestFormats:
    def test_pairs_come_in_canonical_order_and_other_columns_in_that_of_the_file(
        self, tmp_path, suffix
    ):
        judgments = read(write(tmp_path / f"x.{suffix}", ROWS), WITH_RATERS)

        assert judgments.systems == ("ada", "bo", "cy")
        assert judgments.first.tolist() == [0, 0, 1]
        assert judgments.second.tolist() == [1, 1, 2]
        assert judgments.verdict.tolist() == [-1, -1, 0]
        assert judgments.shown.tolist() == [-1, 1, -1]
        assert judgments.size.tolist() == [3, 0, 5]
        assert judgments.is_judge.tolist() == [False, True, False]
        assert judgments.unit.values == ("c1", "c2")
        assert judgments.unit.codes.tolist() == [1, 0, 0]
        assert judgments.rater.values == ("r1", "r2")
        assert judgments.pair is None

    def test_units_and_groups_may_be_other_columns(self, tmp_path, suffix):
        rows = [row(dialogue="d1", stratum="s"), row(dialogue="d1", stratum="t")]

        wanted = ReadOptions(unit="dialogue", by="stratum")
        judgments = read(write(tmp_path / f"x.{suffix}", rows), wanted)

        assert judgments.unit.values == ("d1",)
        assert judgments.context.values == ("c1",)
        assert judgments.group.values == ("s", "t")

    def test_rows_without_an_answer_are_left_out_and_counted(self, tmp_path, suffix):
        rows = [row("c1"), row("c2", "cy", "dee", ""), row("c3", winner="tie")]

        judgments = read(write(tmp_path / f"x.{suffix}", rows))

        assert judgments.n_judgments == 2
        assert judgments.n_without_verdict == 1
        assert judgments.unit.values == ("c1", "c3")

    def test_what_is_optional_may_be_missing_or_empty_throughout(self, tmp_path, suffix):
        rows = [row(judge_kind="", strength=""), row(judge_kind="", strength="")]

        judgments = read(write(tmp_path / f"x.{suffix}", rows))

        assert judgments.is_judge is None
        assert not judgments.size.any()


class TestKindsOfValues:
    def test_numbers_may_be_numbers_in_parquet(self, tmp_path):
        table = pa.table(
            {
                "context_id": [1, 2],
                "system_a": pa.array(["x", "y"]).dictionary_encode(),
                "system_b": ["y", "z"],
                "winner": ["a", "b"],
                "strength": [2.0, None],
            }
        )
        parquet.write_table(table, tmp_path / "x.parquet")

        judgments = read(tmp_path / "x.parquet")

        assert judgments.context.values == ("1", "2")
        assert judgments.size.tolist() == [2, 0]

    @pytest.mark.parametrize("values", [(1, 2), ("1", 2), (1.0, "2")], ids=str)
    def test_numbers_may_be_numbers_in_json_even_here_and_there(self, tmp_path, values):
        one, other = values
        rows = [row(one, strength=None), row(other, strength=4)]

        judgments = read(write(tmp_path / "x.jsonl", rows))

        assert judgments.context.values == ("1", "2")
        assert judgments.size.tolist() == [0, 4]

    @pytest.mark.parametrize("first", [1.5, 1, "1"], ids=str)
    def test_a_long_whole_number_in_json_keeps_its_last_digit(self, tmp_path, first):
        long = [2**53, 2**53 + 1]

        judgments = read(write(tmp_path / "x.jsonl", [row(first), *map(row, long)]))

        assert set(judgments.context.values) == {str(first), *map(str, long)}

    @pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=str)
    def test_what_is_no_number_names_no_context(self, tmp_path, suffix, value):
        path = write(tmp_path / f"x{suffix}", [row(1.5), row(value)])

        assert "context_id" in refusal(path)

    def test_many_blocks_give_one_list_of_names(self, tmp_path):
        rows = [row(f"c{n}", note="word " * 3_000) for n in range(1_000)]

        judgments = read(write(tmp_path / "x.csv", rows))

        names = [judgments.unit.values[code] for code in judgments.unit.codes]
        assert names == [one["context_id"] for one in rows]


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_winner_is_a_side_though_systems_are_called_so(tmp_path, separator):
    text = "context_id,system_a,system_b,winner\nc1,b,a,a\nc2,a,b,b\n"

    judgments = read(csv_file(tmp_path, text.replace(",", separator)))

    assert judgments.verdict.tolist() == [-1, -1]


@given(st.permutations(range(12)))
def test_the_order_of_rows_changes_no_name_and_no_verdict(tmp_path_factory, order):
    folder = tmp_path_factory.mktemp("rows")
    rows = [row(f"c{n % 4}", "ab"[n % 2], "ba"[n % 2], "a", note=str(n)) for n in range(12)]

    one = read(write(folder / "one.csv", rows))
    other = read(write(folder / "other.csv", [rows[n] for n in order]))

    assert one.unit.values == other.unit.values
    np.testing.assert_array_equal(one.unit.codes[order], other.unit.codes)
    np.testing.assert_array_equal(one.verdict[order], other.verdict)


def test_leaves_the_longest_field_of_the_process_as_it_was(tmp_path):
    """The limit guards other readers, and is one for all of them."""
    usual = csv.field_size_limit()
    file = tmp_path / "judgments.csv"
    file.write_text(f'context_id,system_a,system_b,winner\n"{"x" * 200_000}",a,b,nobody\n')

    with pytest.raises(JudgmentFileError):
        read(file)

    assert csv.field_size_limit() == usual


def test_the_benchmark_of_the_prompt_writes_judgments_with_strengths_and_ties(tmp_path):
    path = tmp_path / "judgments.csv"

    prompt.write_judgments(path, 500, np.random.default_rng(1))

    judgments = read(path, ReadOptions(required=("rater_id",)))
    assert judgments.n_judgments == 500
    assert set(judgments.verdict) == {-1, 0, 1}
    assert ((judgments.size > 0) == (judgments.verdict != 0)).all()


def refusal(path, wanted=None):
    with pytest.raises(JudgmentFileError) as caught:
        read(path, wanted)
    return str(caught.value)


def csv_file(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


class TestBadRowsOfCsv:
    @pytest.mark.parametrize(("line", "says"), BAD_LINES.values(), ids=BAD_LINES)
    def test_the_line_is_named_with_what_is_wrong(self, tmp_path, line, says):
        path = csv_file(tmp_path, HEAD + GOOD + line + "\n" + GOOD)

        message = refusal(path)

        assert message.startswith("1 row is not a judgment, ")
        assert f"line 3: {says}" in message

    def test_a_fault_is_said_once_of_a_row(self, tmp_path):
        path = write(tmp_path / "x.csv", [row(rater_id="r1"), row(rater_id="")])

        assert refusal(path, WITH_RATERS).endswith("line 3: rater_id is empty")

    def test_lines_are_those_of_an_editor_though_texts_break_over_lines(self, tmp_path):
        text = HEAD + 'c1,ada,bo,a,3,human,"one\ntwo\nthree"\n\n' + "c1,ada,bo,x,3,human,\n"

        assert "line 6: winner" in refusal(csv_file(tmp_path, text))

    def test_only_the_first_ten_are_listed_with_the_number_of_all(self, tmp_path):
        bad = ["c1,ada,bo,x,3,human,\n", "c1,ada\n"] * 600

        message = refusal(csv_file(tmp_path, HEAD + GOOD + "".join(bad)))

        listed = [line for line in message.splitlines() if line.startswith("  line")]
        assert message.startswith("1200 rows are not")
        assert [line.split()[1] for line in listed] == [f"{n}:" for n in range(3, 13)]
        assert message.endswith("and 1190 more")

    @pytest.mark.parametrize("field", [0, 6], ids=["first field", "last field"])
    def test_an_open_quote_that_would_swallow_the_rest_is_found(self, tmp_path, field):
        fields = ["c1", "ada", "bo", "a", "3", "human", "x"]
        fields[field] = '"open'
        text = HEAD + GOOD + ",".join(fields) + "\n" + GOOD * 3

        assert "line 3: a quote is opened and never closed" in refusal(csv_file(tmp_path, text))

    def test_quotes_inside_a_text_are_text(self, tmp_path):
        path = csv_file(tmp_path, HEAD + 'c1,ada,bo,a,3,human,5" tall\n' + GOOD)

        assert read(path).n_judgments == 2

    def test_another_encoding_is_named_with_its_lines(self, tmp_path):
        text = (HEAD + GOOD).encode() + "c1,adä,bo,a,3,human,\n".encode("latin-1")

        assert "line 3: not UTF-8" in refusal(csv_file(tmp_path, text))

    def test_a_value_is_quoted_on_one_line_and_short(self, tmp_path):
        winner = "long\n" * 30

        message = refusal(csv_file(tmp_path, f'{HEAD}c1,ada,bo,"{winner}",3,human,\n'))

        assert len(message.splitlines()) == 2
        assert len(message) < 200


BAD_JSON = {
    "not JSON": (b'{"context_id": "c1", ', "not JSON: "),
    "a list": (b'["c1", "ada", "bo", "a"]', "not a JSON object"),
    "nested": (b"[" * 50_000, "nested too deep"),
    "not UTF-8": (b'{"context_id": "c\xe4"}', "not UTF-8"),
    "a value that is a list": (b'{"context_id": ["c1"]}', "context_id is neither text nor a"),
    "nothing": (b"null", "not a JSON object"),
    "half a character": (b'{"context_id": "c\\ud800"}', "contains half of a surrogate pair"),
    "a number without end": (b'{"context_id": ' + b"9" * 5_000 + b"}", "a number in it has too"),
    "a name twice": (b'{"winner": "a", "winner": "b"}', "says a name twice"),
    "no context": (b'{"system_a": "x", "system_b": "y", "winner": "a"}', "context_id is empty"),
    "another winner": (
        b'{"context_id": "c", "system_a": "x", "system_b": "y", "winner": "c"}',
        "winner",
    ),
    "against itself": (
        b'{"context_id":1,"system_a":1,"system_b":"1","winner":"a"}',
        '"1" is compared with itself',
    ),
}


def with_line(path, line):
    """Add a line to a good file; it is the fourth."""
    write(path, [row(), row()])
    path.write_bytes(path.read_bytes() + b"\n" + line + b"\n")
    return path


class TestBadLinesOfJson:
    @pytest.mark.parametrize(("line", "says"), BAD_JSON.values(), ids=BAD_JSON)
    def test_the_line_is_named_with_what_is_wrong(self, tmp_path, line, says):
        assert f"line 4: {says}" in refusal(with_line(tmp_path / "x.jsonl", line))

    def test_a_line_without_a_winner_is_counted(self, tmp_path):
        line = b'{"context_id": "c1", "system_a": "x", "system_b": "y"}'

        assert read(with_line(tmp_path / "x.jsonl", line)).n_without_verdict == 1

    @pytest.mark.parametrize("beginning", [b"null\n", b"  null ", b"3\n"], ids=str)
    def test_a_file_that_begins_with_another_value_is_refused(self, tmp_path, beginning):
        path = write(tmp_path / "x.jsonl", [row()])
        path.write_bytes(beginning + path.read_bytes())

        assert "line 1: not " in refusal(path)

    def test_a_mark_of_the_encoding_may_precede_lines_that_differ_in_kind(self, tmp_path):
        path = write(tmp_path / "x.jsonl", [row(), row(context=3)])
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

        assert read(path).context.values == ("3", "c1")

    @pytest.mark.parametrize(("old", "new"), [(b"}\n", b"} "), (b", ", b",\n")], ids=str)
    def test_records_that_are_no_lines_are_counted_as_rows(self, tmp_path, old, new):
        path = write(tmp_path / "x.jsonl", [row(), row(winner="c")])
        path.write_bytes(path.read_bytes().replace(old, new))

        assert 'row 2: winner "c"' in refusal(path)


class TestBadRowsOfParquet:
    def test_rows_are_counted_from_one(self, tmp_path):
        path = write(tmp_path / "x.parquet", [row(), row(winner="c")])

        assert 'row 2: winner "c"' in refusal(path)

    def test_a_column_of_lists_is_refused(self, tmp_path):
        path = write(tmp_path / "x.parquet", [row(context=["c1"])])

        assert refusal(path) == "Column context_id holds neither text nor numbers."


WHOLE_FILES = {
    "an empty table": ("x.csv", "", "The file is empty."),
    "empty lines": ("x.jsonl", "", "The file is empty."),
    "a table without rows": ("x.csv", HEAD, "The file has no judgments."),
    "a header without its line end": ("x.csv", HEAD.strip(), "The file has no judgments."),
    "lines without rows": ("x.jsonl", "\n\n", "The file has no judgments."),
    "a column named twice": (
        "x.csv",
        "context_id,winner,winner\nc,a,b\n",
        "The header names a column twice: winner.",
    ),
    "nobody won": ("x.csv", HEAD + "c1,ada,bo,,,human,\n", "No row has a winner."),
    "two lists": ("x.json", "[]\n[]", "The file is not valid JSON at line 2, column 1: "),
    "text": ("x.parquet", HEAD + GOOD, "The file cannot be read as Parquet: "),
}


class TestWholeFiles:
    def test_a_file_without_any_column_is_said_to_name_none(self, tmp_path):
        (tmp_path / "x.json").write_text("{}")

        assert "=NAME; its first row names no column. " in refusal(tmp_path / "x.json")

    @pytest.mark.parametrize(("name", "content", "says"), WHOLE_FILES.values(), ids=WHOLE_FILES)
    def test_a_file_that_cannot_be_used_is_refused(self, tmp_path, name, content, says):
        (tmp_path / name).write_text(content)

        assert refusal(tmp_path / name).startswith(says)

    @pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
    def test_missing_columns_are_named(self, tmp_path, suffix):
        path = write(tmp_path / f"x.{suffix}", [{"context_id": "c1", "system_a": "x"}])

        assert refusal(path).startswith("The file has no columns system_b, winner. Say which")
        assert "no columns system_b, winner, dialogue" in refusal(
            path, ReadOptions(unit="dialogue")
        )

    @pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
    def test_who_asks_for_another_column_is_told_how_to_name_it(self, tmp_path, suffix):
        path = write(tmp_path / f"x.{suffix}", [row()])

        assert "try --columns dialogue=NAME." in refusal(path, ReadOptions(unit="dialogue"))

    def test_what_is_not_there_or_is_a_folder_is_refused(self, tmp_path):
        assert refusal(tmp_path / "none.csv") == "There is no such file."
        assert refusal(tmp_path) == "That is not a file."
