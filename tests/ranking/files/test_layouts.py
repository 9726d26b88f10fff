"""Judgments as other tools write them: each layout, encoding and spelling gives the same."""

import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.core.management import CommandError, call_command
from pyarrow import parquet

from annotation.tool_files.reading import JudgmentFileError, read_tool_file
from ranking.files.reading import ReadOptions, read_judgments

OURS = """context_id,system_a,system_b,winner,rater_id
q1,ada,bob,a,r1
q2,ada,bob,b,r1
q3,bob,ada,tie,r2
"""
RESULTS = [("ada", "bob", 1), ("ada", "bob", -1), ("ada", "bob", 0)]
"""The pair in canonical order, and who won, as ``OURS`` says it."""


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def table(header: str, *rows: str) -> str:
    return "\n".join([header, *rows, ""])


def battle(question: str, one: str, two: str, winner: str, **more: Any) -> dict[str, Any]:
    asked = {"question_id": question, "model_a": one, "model_b": two}
    return asked | {"winner": winner, "judge": "r1"} | more


def two_games(question: int, first: str, second: str, **more: Any) -> dict[str, Any]:
    asked = {"question_id": question, "model_1": "ada", "model_2": "bob", "turn": 1}
    judged = {"g1_winner": first, "g2_winner": second, "judge": ["gpt-4", "pair-v2"]}
    return asked | judged | more


def annotated(number: int, one: str, two: str, preference: float | None) -> dict[str, Any]:
    first, second = {"output_1": "x", "generator_1": one}, {"output_2": "y", "generator_2": two}
    judged = {"annotator": "weighted", "preference": preference}
    return {"instruction": f"Say {number}."} | first | second | judged


def task(number: int, *selected: str) -> dict[str, Any]:
    return {
        "id": number,
        "data": {"prompt": f"Say {number}.", "model_a": "ada", "model_b": "bob"},
        "annotations": [
            {
                "completed_by": {"id": at, "email": f"r{at}@lab.example"},
                "result": [{"type": "pairwise", "value": {"selected": one}}],
            }
            for at, one in enumerate(selected, start=1)
        ],
    }


def record(number: int, *values: str) -> dict[str, Any]:
    return {
        "id": f"rec-{number}",
        "fields": {"prompt": "Hi", "response-1": "x", "response-2": "y"},
        "metadata": {"model_a": "ada", "model_b": "bob"},
        "responses": {
            "preference": [{"value": value, "user_id": f"u{at}"} for at, value in enumerate(values)]
        },
    }


LAYOUTS: dict[str, tuple[str, str, str]] = {
    # name: the file, its name, what is said of it
    "battles": (
        lines(
            battle("q1", "ada", "bob", "model_a", tstamp=1.5, conversation_a=[{"role": "user"}]),
            battle("q2", "ada", "bob", "MODEL_B "),
            battle("q3", "bob", "ada", "tie (bothbad)"),
        ),
        "battles.jsonl",
        "battles of LMArena or FastChat",
    ),
    "battles in a table": (
        table(
            "question_id,Model A,Model B,Winner,judge,turn",
            "q1,ada,bob,model_a,author_1,1",
            "q2,ada,bob,model_b,author_1,1",
            "q2,bob,ada,tie,author_2,2",
        ),
        "human.csv",
        "battles of LMArena or FastChat",
    ),
    "winners by name": (
        lines(
            battle("q1", "ada", "bob", "ada"),
            battle("q2", "ada", "bob", "bob"),
            battle("q3", "bob", "ada", "both_bad"),
        ),
        "named.jsonl",
        "battles of LMArena or FastChat",
    ),
    "MT-Bench": (  # the second game of a row exchanges the answers
        lines(two_games(81, "model_1", "model_2", tstamp=1.5), two_games(82, "tie", "error")),
        "gpt-4_pair.jsonl",
        "pairs of MT-Bench",
    ),
    "AlpacaEval": (
        json.dumps(
            [
                annotated(1, "ada", "bob", 1.0),
                annotated(2, "ada", "bob", 1.87),
                annotated(3, "bob", "ada", 1.5),
                annotated(4, "bob", "ada", None),
            ],
            indent=2,
        ),
        "annotations.json",
        "annotations of AlpacaEval",
    ),
    "Label Studio": (
        json.dumps([task(1, "left", "right"), task(2, "tie")]),
        "export.json",
        "tasks of Label Studio",
    ),
    "Argilla": (
        lines(record(1, "response-1", "response-2"), record(2, "tie"))
        + lines(record(3, "tie")).replace('"user_id"', '"status": "draft", "user_id"')
        + lines(record(4, "tie")).replace('"user_id"', '"status": "discarded", "user_id"'),
        "records.jsonl",
        "records of Argilla",
    ),
    "Label Studio, with what was skipped": (
        lines(task(1, "left", "right", "tie"))
        + lines(task(2, "left")).replace('"result"', '"was_cancelled": true, "result"'),
        "export.jsonl",
        "tasks of Label Studio",
    ),
    "winners by name in our columns": (
        OURS.replace(",a,r", ",ada,r").replace(",b,r", ",bob,r"),
        "named.csv",
        "our own columns",
    ),
    "Potato": (
        table(
            "user\tinstance_id\tmodel_a\tmodel_b\tpreference:::A\tpreference:::B\tpreference:::tie",
            "r1\tq1\tada\tbob\t1\t\t",
            "r1\tq2\tada\tbob\t\t1\t",
            "r2\tq3\tada\tbob\t\t\t1",
        ),
        "annotated_instances.tsv",
        "annotations of Potato",
    ),
    "a column a rater": (
        table("item,model_a,model_b,r1,r2,r3", "q1,ada,bob,A,B,Tie"),
        "wide.csv",
        "a column a rater",
    ),
}


def results(judgments: Any) -> list[tuple[str, str, int]]:
    rows = zip(judgments.first, judgments.second, judgments.verdict, strict=True)
    names = judgments.systems
    return [(names[one], names[two], int(verdict)) for one, two, verdict in rows]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(("content", "name", "called"), LAYOUTS.values(), ids=LAYOUTS)
def test_each_tools_layout_is_recognised_and_said(tmp_path, content, name, called):
    path, wanted = written(tmp_path, name, content), ReadOptions().all
    judgments = read_judgments(path, ReadOptions())
    rows = read_tool_file(path, {}, wanted=wanted).rows

    assert sorted(results(judgments)) == sorted(RESULTS)
    assert judgments.told[0].startswith(f"Read as {called}: ")
    assert rows
    assert {name for row in rows for name in row} <= {*wanted}


def judged(number: int, **chosen: str) -> dict[str, Any]:
    """Return a task of Label Studio with an answer to each question."""
    results = [
        {"from_name": name, "type": "choices", "value": {"choices": [one]}}
        for name, one in chosen.items()
    ]
    return task(number) | {"annotations": [{"completed_by": 7, "result": results}]}


def answered(number: int, **values: Any) -> dict[str, Any]:
    """Return a record of Argilla with an answer to each question."""
    said = {name: [{"value": value, "user_id": "u"}] for name, value in values.items()}
    return record(number) | {"responses": said}


@pytest.mark.parametrize(
    "rows",
    [
        [judged(1, overall="left", warmth="right"), judged(2, warmth="left")],
        [judged(1, overall="left", safe="yes"), judged(2, safe="no")],
        [answered(1, overall="response-1", warmth="response-2"), answered(2, warmth="response-1")],
        [answered(1, overall="response-1", stars=4), answered(2, comment="Fine.")],
    ],
)
@pytest.mark.parametrize("question", [None, "overall", "other"])
def test_of_several_questions_the_one_that_is_named_is_read(tmp_path, rows, question):
    path = written(tmp_path, "f.json", json.dumps(rows))
    columns = {} if question is None else {"winner": question}

    if question == "overall":
        assert results(read_judgments(path, ReadOptions(), columns)) == [("ada", "bob", 1)]
        return
    with pytest.raises(JudgmentFileError, match=r"^The file answers .*overall.*: say which"):
        read_judgments(path, ReadOptions(), columns)


@pytest.mark.parametrize("more", [{}, {"turn": 1}, {"turn": 2}])
def test_judgments_that_name_no_context_have_one_each(tmp_path, more):
    rows = [{"model_a": "ada", "model_b": "bob", "winner": "model_a", **more}] * 3

    judgments = read_judgments(written(tmp_path, "f.json", json.dumps(rows)), ReadOptions())

    assert len(judgments.context.values) == len(rows)
    assert judgments.told[-1] == "A context of its own for each that names none: 3 judgments."


@pytest.mark.parametrize("names", [("ada", "bob"), ("a", "b"), ("left", "right")])
def test_chosen_and_rejected_models_are_wins(tmp_path, names):
    first, second = names
    pairs = [(first, second), (second, first)]
    rows = [
        {"prompt": n, "chosen": "x", "rejected": "y", "chosen_model": one, "rejected_model": two}
        for n, (one, two) in enumerate(pairs)
    ]
    judgments = read_judgments(written(tmp_path, "pairs.jsonl", lines(*rows)), ReadOptions())

    assert results(judgments) == [(first, second, 1), (first, second, -1)]


COLUMNS = "context_id,system_a,system_b"
SHAPES: dict[str, bytes] = {
    "plain": OURS.encode(),
    "a byte order mark": b"\xef\xbb\xbf" + OURS.encode(),
    "UTF-16": OURS.encode("utf-16"),
    "UTF-16 without a mark": OURS.encode("utf-16-le"),
    "blank lines": OURS.replace("\n", "\r\n\r\n").encode(),
    "gzip": gzip.compress(OURS.encode()),
    "gzip under another name": gzip.compress(OURS.encode()),
    "semicolons": OURS.replace(",", ";").encode(),
    "tabs": OURS.replace(",", "\t").encode(),
    "Excel's first line": ("sep=;\n" + OURS.replace(",", ";")).encode(),
    "line ends of Windows": OURS.replace("\n", "\r\n").encode(),
    "line ends of old Macs": OURS.replace("\n", "\r").encode(),
    "empty columns at the end": OURS.replace("\n", ",,\n").encode(),
    "a header in words": OURS.replace(COLUMNS, "Context ID,System A, System-B").encode(),
    "winners in capitals": OURS.replace(",a,r", ",A,r").replace(",tie", ", Tie ").encode(),
    "names with spaces": OURS.replace("ada", "ada ", 2).encode(),
}
NAMED = {"gzip": "f.csv.gz", "tabs": "f.tsv"}
"""The shapes that a file's name tells; the others are found in whatever ends in .csv."""


@pytest.mark.parametrize("shape", SHAPES)
def test_a_table_of_ours_is_read_in_any_spelling(tmp_path, shape):
    file = written(tmp_path, NAMED.get(shape, "f.csv"), SHAPES[shape])

    judgments = read_judgments(file, ReadOptions())

    assert judgments.systems == ("ada", "bob")
    assert results(judgments) == RESULTS


def rows_of_ours() -> list[dict[str, str]]:
    header, *rows = (line.split(",") for line in OURS.splitlines())
    return [dict(zip(header, row, strict=True)) for row in rows]


JSONS: dict[str, str] = {
    "lines": lines(*rows_of_ours()),
    "a list": json.dumps(rows_of_ours()),
    "a list over lines": json.dumps(rows_of_ours(), indent=2),
    "under data": json.dumps({"data": rows_of_ours()}),
    "by ids": json.dumps({f"j{n}": row for n, row in enumerate(rows_of_ours())}),
}


@pytest.mark.parametrize("content", JSONS.values(), ids=JSONS)
@pytest.mark.parametrize("name", ["f.json", "f.jsonl", "f.csv"])
def test_json_of_ours_is_read_in_any_layout(tmp_path, name, content):
    assert results(read_judgments(written(tmp_path, name, content), ReadOptions())) == RESULTS


def test_accents_in_two_spellings_are_one_system(tmp_path):
    content = OURS.replace("ada", "ad\u00e9", 1).replace("ada", "ade\u0301")

    judgments = read_judgments(written(tmp_path, "f.csv", content), ReadOptions())

    assert judgments.systems == ("ad\u00e9", "bob")


def test_names_that_look_alike_stay_apart_and_are_told(tmp_path):
    file = written(tmp_path, "f.csv", OURS.replace("ada", "Ada", 1).replace("r2", "R1"))

    judgments = read_judgments(file, ReadOptions(optional=("rater_id",)))

    assert judgments.systems == ("Ada", "ada", "bob")
    assert [line.rpartition(": ")[2] for line in judgments.told] == ["Ada, ada.", "R1, r1."]


def rank(path: Path, *words: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("rank", str(path), "--reps", "20", *words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


UNKNOWN = table("talk,one,two,better,who", "q1,ada,bob,1st,r1", "q2,ada,bob,2nd,r1")
MAPPED = "context_id=talk,system_a=one,system_b=two,winner=better"


def test_columns_that_nobody_knows_are_named_by_the_caller(tmp_path):
    content = UNKNOWN.replace("1st", "ada").replace("2nd", "bob")

    out, err = rank(written(tmp_path, "f.csv", content), "--columns", MAPPED, "--json")

    assert "Read as our own columns" in err
    assert json.loads(out)["method"]["read_as"] == err.splitlines()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--columns context_id=NAME; its columns are talk, one, two, better, who"),
        (("--columns", "context_id=chat"), "no column chat; its columns are talk, one"),
        (("--columns", MAPPED), 'line 2: winner "1st" is not a, b or tie'),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_do(tmp_path, words: Sequence[str], said):
    with pytest.raises(CommandError, match=said):
        rank(written(tmp_path, "f.csv", UNKNOWN), *words)


GOOD_GAME = battle("q1", "ada", "bob", "model_a")
TWICE = json.dumps(GOOD_GAME)[:-1] + ', "winner": "model_b"}'
AMBIGUOUS = {
    "a name twice in a list": (
        "x.json",
        f"[{json.dumps(GOOD_GAME)},\n{TWICE}]",
        "at line 2, column 1: in the record, a name stands twice in an object",
    ),
    "a name twice in a line": (
        "x.jsonl",
        f"{lines(GOOD_GAME)}{TWICE}",
        "line 2: not valid JSON: in the record, a name stands twice in an object",
    ),
    "a name twice in a value": (
        "x.jsonl",
        f'{lines(GOOD_GAME)}{{"note": {TWICE}}}',
        "line 2: not valid JSON: in the record, a name stands twice in an object",
    ),
    "a name in two spellings": (
        "x.jsonl",
        lines(GOOD_GAME, GOOD_GAME | {"Model A": "cy"}),
        "line 2: two of its names differ in spelling alone",
    ),
    "a list for a system": (
        "x.json",
        json.dumps([GOOD_GAME, GOOD_GAME | {"model_a": ["ada"]}]),
        "row 2: system_a is neither text nor a number",
    ),
    "a map for a system": (
        "x.jsonl",
        lines(GOOD_GAME, GOOD_GAME | {"model_b": {"name": "bob"}}),
        "line 2: system_b is neither text nor a number",
    ),
    "a list of lists for a rater": (
        "x.jsonl",
        lines(GOOD_GAME, GOOD_GAME | {"judge": [["r1"]]}),
        "line 2: rater_id is neither text nor a number",
    ),
    "a list for a context with turns": (
        "x.jsonl",
        lines(GOOD_GAME, GOOD_GAME | {"question_id": ["q1"], "turn": 1}),
        "line 2: context_id is neither text nor a number",
    ),
    "two choices in one answer": (
        "x.json",
        json.dumps([task(1, "left")]).replace('"selected": "left"', '"choices": ["left", "tie"]'),
        "row 1: winner is neither text nor a number",
    ),
    "a flag for a system": (
        "x.jsonl",
        lines(GOOD_GAME, GOOD_GAME | {"model_a": True}),
        "line 2: system_a is neither text nor a number",
    ),
}


@pytest.mark.parametrize(("name", "content", "said"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_what_has_two_meanings_is_refused_with_its_place(tmp_path, name, content, said):
    with pytest.raises(JudgmentFileError) as caught:
        read_judgments(written(tmp_path, name, content), ReadOptions(optional=("rater_id",)))

    assert said in str(caught.value)


@pytest.mark.parametrize("preference", [7, -1, 0.99, 2.01, float("1e400")], ids=str)
def test_a_preference_of_alpaca_eval_outside_its_scale_is_refused(tmp_path, preference):
    rows = table("generator_1,generator_2,preference", "ada,bob,2", f"ada,bob,{preference}")

    with pytest.raises(JudgmentFileError, match="line 3: not as annotations of AlpacaEval are"):
        read_judgments(written(tmp_path, "x.csv", rows), ReadOptions())


@pytest.mark.parametrize("layout", ["ours", "battles"])
def test_a_column_that_parquet_names_twice_is_refused(tmp_path, layout):
    names = [*(OURS.partition("\n")[0].split(",") if layout == "ours" else GOOD_GAME), "winner"]
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table([pa.array(["a"])] * len(names), names=names), path)

    with pytest.raises(JudgmentFileError, match="names a column twice: winner"):
        read_judgments(path, ReadOptions())


def test_groups_may_be_told_by_flags(tmp_path):
    rows = [GOOD_GAME | {"is_code": n % 2 == 0} for n in range(4)]
    path = written(tmp_path, "x.jsonl", lines(*rows))

    group = read_judgments(path, ReadOptions(by="is_code")).group

    assert group is not None
    assert group.values == ("False", "True")


def test_a_workbook_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(JudgmentFileError, match="is a workbook or an archive; save it as UTF-8"):
        read_judgments(written(tmp_path, "f.xlsx", b"PK\x03\x04rest"), ReadOptions())


def test_a_table_with_a_column_a_rater_gives_agreement(tmp_path):
    out, err = io.StringIO(), io.StringIO()
    rows = [f"q{n},{'A' if n % 2 else 'B'},{'a' if n % 3 else 'b'},tie" for n in range(12)]
    path = written(tmp_path, "wide.csv", table("item,r1,r2,r3", *rows))

    call_command("agreement", str(path), "--reps", "20", "--json", stdout=out, stderr=err)

    assert "Read as a column a rater" in err.getvalue()
    assert json.loads(out.getvalue())["read_as"]
