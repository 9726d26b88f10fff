"""What a bad file is refused for, and where the message says it is."""

import pytest

from ranking.files.judgments import JudgmentFileError, ReadOptions, read_judgments
from tests.ranking.files.files import row, write

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


def refusal(path, wanted=None):
    with pytest.raises(JudgmentFileError) as caught:
        read_judgments(path, wanted or ReadOptions())
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

        assert message.startswith("1 row is not")
        assert f"line 3: {says}" in message

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

        assert read_judgments(path, ReadOptions()).n_judgments == 2

    def test_another_encoding_is_named_with_its_lines(self, tmp_path):
        text = (HEAD + GOOD).encode() + "c1,adä,bo,a,3,human,\n".encode("latin-1")

        assert "line 3: not UTF-8" in refusal(csv_file(tmp_path, text))

    def test_a_value_is_quoted_on_one_line_and_short(self, tmp_path):
        winner = "long\n" * 30

        message = refusal(csv_file(tmp_path, f'{HEAD}c1,ada,bo,"{winner}",3,human,\n'))

        assert len(message.splitlines()) == 2
        assert len(message) < 200


class TestBadLinesOfJson:
    @pytest.mark.parametrize(
        ("line", "says"),
        [
            (b'{"context_id": "c1", ', "not JSON: "),
            (b'["c1", "ada", "bo", "a"]', "not a JSON object"),
            (b"[" * 50_000, "nested too deep"),
            (b'{"context_id": "c\xe4"}', "not UTF-8"),
            (b'{"context_id": ["c1"]}', "context_id is neither text nor a number"),
            (b'{"winner": "a", "winner": "b"}', "says a name twice"),
            (b'{"context_id": "c1", "system_a": "x", "system_b": "y"}', None),
            (b'{"system_a": "x", "system_b": "y", "winner": "a"}', "context_id is empty"),
            (b'{"context_id": "c", "system_a": "x", "system_b": "y", "winner": "c"}', "winner"),
            (b'{"context_id":1,"system_a":1,"system_b":"1","winner":"a"}', "with itself"),
        ],
        ids=str,
    )
    def test_the_line_is_named_with_what_is_wrong(self, tmp_path, line, says):
        path = write(tmp_path / "x.jsonl", [row(), row()])
        path.write_bytes(path.read_bytes() + b"\n" + line + b"\n")

        if says is None:
            assert read_judgments(path, ReadOptions()).n_without_verdict == 1
        else:
            assert f"line 4: {says}" in refusal(path) or f"{says}" in refusal(path)
            assert "line 4" in refusal(path)


class TestBadRowsOfParquet:
    def test_rows_are_counted_from_one(self, tmp_path):
        path = write(tmp_path / "x.parquet", [row(), row(winner="c")])

        assert 'row 2: winner "c"' in refusal(path)

    def test_a_column_of_lists_is_refused(self, tmp_path):
        path = write(tmp_path / "x.parquet", [row(context=["c1"])])

        assert refusal(path) == "Column context_id holds neither text nor numbers."


class TestWholeFiles:
    @pytest.mark.parametrize("suffix", ["csv", "jsonl"])
    def test_an_empty_file_is_refused(self, tmp_path, suffix):
        (tmp_path / f"x.{suffix}").touch()

        assert refusal(tmp_path / f"x.{suffix}") == "The file is empty."

    @pytest.mark.parametrize(
        ("name", "content"), [("x.csv", HEAD), ("x.jsonl", "\n\n")], ids=["csv", "jsonl"]
    )
    def test_a_file_without_rows_is_refused(self, tmp_path, name, content):
        (tmp_path / name).write_text(content)

        assert refusal(tmp_path / name) == "The file has no judgments."

    @pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
    def test_missing_columns_are_named(self, tmp_path, suffix):
        path = write(tmp_path / f"x.{suffix}", [{"context_id": "c1", "system_a": "x"}])

        assert refusal(path).startswith("The file has no columns system_b, winner. Say which")
        assert "no columns system_b, winner, dialogue" in refusal(
            path, ReadOptions(unit="dialogue")
        )

    def test_a_column_named_twice_is_refused(self, tmp_path):
        path = csv_file(tmp_path, "context_id,winner,winner\nc,a,b\n")

        assert refusal(path) == "The header names a column twice: winner."

    def test_a_file_in_which_nobody_won_is_refused(self, tmp_path):
        assert refusal(write(tmp_path / "x.csv", [row(winner="")])) == "No row has a winner."

    def test_what_is_not_there_or_is_a_folder_is_refused(self, tmp_path):
        assert refusal(tmp_path / "none.csv") == "There is no such file."
        assert refusal(tmp_path) == "That is not a file."

    def test_text_that_says_it_is_parquet_is_refused(self, tmp_path):
        (tmp_path / "x.parquet").write_text(HEAD + GOOD)

        assert refusal(tmp_path / "x.parquet").startswith("The file cannot be read as Parquet: ")
