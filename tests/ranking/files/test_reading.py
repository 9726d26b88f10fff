"""What comes out of a good file."""

import csv

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from ranking.files.judgments import JudgmentFileError, ReadOptions, read_judgments
from tests.ranking.files.files import row, write

WITH_RATERS = ReadOptions(required=("rater_id",), optional=("strength", "judge_kind", "pair_id"))
ROWS = [
    row("c2", "bo", "ada", "a", strength="3", judge_kind="human", rater_id="r1", note="x, \n y"),
    row("c1", "ada", "bo", "b", strength="", judge_kind="llm", rater_id="r2", note='"'),
    row("c1", "cy", "bo", "tie", strength="5", judge_kind="human", rater_id="r1", note=""),
]


def read(path, wanted=None):
    return read_judgments(path, wanted or ReadOptions())


FORMATS = ["csv", "jsonl", "parquet"]


@pytest.mark.parametrize("suffix", FORMATS)
class TestFormats:
    def test_pairs_come_out_in_canonical_order_and_know_how_they_were_shown(self, tmp_path, suffix):
        judgments = read(write(tmp_path / f"x.{suffix}", ROWS), WITH_RATERS)

        assert judgments.systems == ("ada", "bo", "cy")
        assert judgments.first.tolist() == [0, 0, 1]
        assert judgments.second.tolist() == [1, 1, 2]
        assert judgments.verdict.tolist() == [-1, -1, 0]
        assert judgments.shown.tolist() == [-1, 1, -1]

    def test_the_other_columns_keep_the_order_of_the_file(self, tmp_path, suffix):
        judgments = read(write(tmp_path / f"x.{suffix}", ROWS), WITH_RATERS)

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

        judgments = read(write(tmp_path / f"x.{suffix}", rows), ReadOptions())

        assert judgments.n_judgments == 2
        assert judgments.n_without_verdict == 1
        assert judgments.unit.values == ("c1", "c3")

    def test_what_is_optional_may_be_missing_or_empty_throughout(self, tmp_path, suffix):
        rows = [row(judge_kind="", strength=""), row(judge_kind="", strength="")]

        judgments = read(write(tmp_path / f"x.{suffix}", rows), ReadOptions())

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

        judgments = read(tmp_path / "x.parquet", ReadOptions())

        assert judgments.context.values == ("1", "2")
        assert judgments.size.tolist() == [2, 0]

    @pytest.mark.parametrize("values", [(1, 2), ("1", 2), (1.0, "2")], ids=str)
    def test_numbers_may_be_numbers_in_json_even_here_and_there(self, tmp_path, values):
        rows = [
            row(one, strength=strength) for one, strength in zip(values, (None, 4), strict=True)
        ]

        judgments = read(write(tmp_path / "x.jsonl", rows), ReadOptions())

        assert judgments.context.values == ("1", "2")
        assert judgments.size.tolist() == [0, 4]

    def test_a_byte_order_mark_and_blank_lines_do_no_harm(self, tmp_path):
        text = "\ufeffcontext_id,system_a,system_b,winner\r\n\r\nc,x,y,a\r\n\r\nc,y,x,b\r\n"
        (tmp_path / "x.csv").write_bytes(text.encode())

        judgments = read(tmp_path / "x.csv", ReadOptions())

        assert judgments.verdict.tolist() == [1, 1]

    def test_many_blocks_give_one_list_of_names(self, tmp_path):
        rows = [row(f"c{n}", note="word " * 3_000) for n in range(1_000)]

        judgments = read(write(tmp_path / "x.csv", rows), ReadOptions())

        assert [judgments.unit.values[code] for code in judgments.unit.codes] == [
            one["context_id"] for one in rows
        ]


@given(st.permutations(range(12)))
def test_the_order_of_rows_changes_no_name_and_no_verdict(tmp_path_factory, order):
    folder = tmp_path_factory.mktemp("rows")
    rows = [row(f"c{n % 4}", "ab"[n % 2], "ba"[n % 2], "a", note=str(n)) for n in range(12)]

    one = read(write(folder / "one.csv", rows))
    other = read(write(folder / "other.csv", [rows[n] for n in order]), ReadOptions())

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
