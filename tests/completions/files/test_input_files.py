"""One reader is under every import: a row of a table for each shape in which files come."""

import gzip
import io
import json
import re
from collections.abc import Iterable

import pyarrow as pa
import pytest
from pyarrow import parquet

from completions.dialogues.ingest.dialogue import IngestError, ParsedDialogue
from completions.dialogues.ingest.files import read_dialogues
from completions.files import reading
from completions.files import text as input_text
from completions.files.reading import read
from completions.files.refusals import InputFileError, alike
from completions.systems.importing import imported_file
from completions.writers.importing import written_file

WORDS = "Café — that sounds lonely. 😀"
ROW = {"context": "abc", "system": "ash", "author": "Ada", "text": WORDS}
ONE = json.dumps(ROW)
ROWS = [ROW, ROW | {"context": "xyz"}]
HEADER = "context,system,author,text"
LINE = f"abc,ash,Ada,{WORDS}"
TABLE = f"{HEADER}\n{LINE}\nxyz,ash,Ada,{WORDS}\n"
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
LIST = json.dumps(ROWS)


def as_parquet(column=None, **options):
    file = io.BytesIO()
    table = pa.Table.from_pylist(ROWS) if column is None else pa.table({"text": column})
    parquet.write_table(table, file, **options)
    return file.getvalue()


def between(separator):
    return TABLE.replace(",", separator)


SHAPES = {
    "comma": TABLE,
    "semicolon": between(";"),
    "tab": between("\t"),
    "bar": between("|"),
    "Excel's line": "sep=;\n" + between(";"),
    "Excel's line in capitals": "SEP=,\r\n" + TABLE,
    "byte order mark": TABLE.encode("utf-8-sig"),
    "Excel's line after a mark": ("sep=\t\n" + between("\t")).encode("utf-8-sig"),
    "UTF-16 with a mark": TABLE.encode("utf-16"),
    "UTF-16 LE": TABLE.encode("utf-16-le"),
    "UTF-16 BE": TABLE.encode("utf-16-be"),
    "UTF-16 BE with a mark": b"\xfe\xff" + TABLE.encode("utf-16-be"),
    "CR": TABLE.replace("\n", "\r"),
    "CRLF": TABLE.replace("\n", "\r\n"),
    "no end of the last line": TABLE.rstrip(),
    "lines before the header": "\n\n" + TABLE,
    "lines between": TABLE.replace("\n", "\n\n"),
    "empty rows at the end": TABLE + ",,,\n,,,\n",
    "empty columns at the end": TABLE.replace("\n", ",,\n"),
    "header in capitals": TABLE.replace(HEADER, HEADER.upper()),
    "header with spaces": TABLE.replace(HEADER, " Context , system,  Author,Text "),
    "quoted cells": TABLE.replace(",", '","').replace("\n", '"\n"')[:-1].join(['"', ""]),
    "gzip of a table": gzip.compress(TABLE.encode()),
    "gzip of UTF-16": gzip.compress(TABLE.encode("utf-16")),
    "JSON list": LIST,
    "JSON list on lines": json.dumps(ROWS, indent=2),
    "JSON list with a mark": LIST.encode("utf-8-sig"),
    "JSON list in UTF-16": LIST.encode("utf-16"),
    "JSON lines": LINES,
    "JSON lines with CRLF": LINES.replace("\n", "\r\n"),
    "JSON lines with CR": LINES.replace("\n", "\r"),
    "JSON lines with empty ones": "\n" + LINES.replace("\n", "\n\n"),
    "gzip of JSON lines": gzip.compress(LINES.encode()),
    "under data": json.dumps({"data": ROWS}),
    "under data, on a line": json.dumps({"data": ROWS}) + "\n",
    "under data, before empty lines": json.dumps({"data": ROWS}) + "\n" * 70_000,
    "under data, on lines": json.dumps({"version": 1, "data": ROWS}, indent=1),
    "under rows, as a hub serves them": json.dumps(
        {"features": [], "rows": [{"row_idx": n, "row": row} for n, row in enumerate(ROWS)]}
    ),
    "keyed by id": json.dumps({"one": ROWS[0], "two": ROWS[1]}),
    "keyed by id, on lines": json.dumps({"one": ROWS[0], "two": ROWS[1]}, indent=4),
    "Parquet": as_parquet(),
}
REFUSED = {
    "nothing": ("", "is empty"),
    "a mark alone": (b"\xef\xbb\xbf", "is empty"),
    "only space": (" \r\n\t", "is empty"),
    "Windows-1252": (
        f"{HEADER}\nabc,ash,Ada,caf\xe9".encode("cp1252"),
        "is not UTF-8: byte 0xe9 at line 2, column 16; save it as UTF-8",
    ),
    "half of UTF-16": (TABLE.encode("utf-16")[:-1], "is not UTF-16: byte 0x"),
    "a workbook": (b"PK\x03\x04 whatever", "is a workbook or an archive; save it as UTF-8"),
    "an old workbook": (b"\xd0\xcf\x11\xe0 whatever", "is an old workbook; save it as UTF-8"),
    "a PDF": (b"%PDF-1.7", "is a PDF"),
    "a zero byte": (TABLE.replace("xyz", "xy\0z"), "has a zero byte (NUL) at line 3, column 3"),
    "zeros": (b"\0" * 20, "is no text"),
    "gzip cut off": (gzip.compress(TABLE.encode())[:-12], "is a gzip file that ends too early"),
    "gzip of a workbook": (gzip.compress(b"PK\x03\x04 whatever"), "is a workbook"),
    "damaged Parquet": (as_parquet()[:60], "is a Parquet file that is damaged"),
    "Parquet of half letters": (
        as_parquet(pa.array([b"caf\xe9"]).cast(pa.string(), safe=False)),
        "is a Parquet file that is damaged",
    ),
    "two lists": ('{"data": [],\n "rows": []}', "is not valid JSON at line 2, column 10: data and"),
    "a name twice": (
        '{"a": {},\n "a": {}}',
        "is not valid JSON at line 2, column 5: a name stands",
    ),
    "more after an object": (
        "{\n}\n{}",
        "is not valid JSON at line 3, column 1: something follows",
    ),
    "a column twice": (f"{HEADER},TEXT\n", "line 1 names a column twice: text"),
    "an open quotation mark": (f'{HEADER}\n{LINE}\n"abc,x', "line 3: a quotation mark opens here"),
}


def data(content):
    return content.encode() if isinstance(content, str) else content


@pytest.mark.parametrize("content", SHAPES.values(), ids=SHAPES.keys())
def test_every_shape_gives_the_same_records_whatever_the_name_of_the_file(content, tmp_path):
    path = tmp_path / "rows.txt"
    path.write_bytes(data(content))

    for source in (io.BytesIO(data(content)), path):
        found = [entry.value for entry in read(source)]
        rows = [row for row in found if isinstance(row, dict)]
        assert [{name: row[name] for name in ROW} for row in rows] == ROWS


@pytest.mark.parametrize(("content", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_file_is_refused_in_the_same_words_by_every_import(content, said, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(data(content))
    imports: list[Iterable[object]] = [
        written_file(io.BytesIO(data(content))),
        imported_file(io.BytesIO(data(content)), most_rows=10),
        read(path),
    ]

    for rows in imports:
        with pytest.raises(InputFileError) as caught:
            list(rows)
        assert str(caught.value).startswith(said)
    with pytest.raises(IngestError, match="^" + re.escape(f"{path}: ")):
        list(read_dialogues(path))


DIALOGUE = {
    "dialog": [
        {"speaker": "seeker", "content": "I feel lost, café or not."},
        {"speaker": "supporter", "content": "Tell me more."},
    ]
}


@pytest.mark.parametrize("indent", [None, 2], ids=["on one line", "on lines"])
def test_a_dialogue_that_stands_alone_is_read(indent, tmp_path):
    path = tmp_path / "dialogues"
    path.write_text(json.dumps(DIALOGUE, indent=indent), encoding="utf-8")

    (found,) = read_dialogues(path)

    assert isinstance(found, ParsedDialogue)
    assert found.turns[0].text == "I feel lost, café or not."


def texts():
    return pa.array([LONG] * N_TOO_MANY)


def turns():
    return pa.array([{"role": "user", "text": LONG}] * N_TOO_MANY)


MOST = 2_000_000
LONG = "a" * 100_000
N_TOO_MANY = MOST // len(LONG) + 1
BOMBS = {
    "gzip of a list": lambda: gzip.compress(b"[" + b'"a",' * (MOST // 4 + 1)),
    "Parquet of one text": lambda: as_parquet(texts()),
    "Parquet of a packed text": lambda: as_parquet(
        texts(), use_dictionary=False, compression="zstd"
    ),
    "Parquet of one text in small groups": lambda: as_parquet(texts(), row_group_size=10),
    "Parquet of one conversation": lambda: as_parquet(pa.array([turns().to_pylist()])),
    "Parquet of a turn in each row": lambda: as_parquet(turns()),
    "Parquet of names and texts": lambda: as_parquet(
        pa.array([[("a", LONG)]] * N_TOO_MANY, pa.map_(pa.string(), pa.string()))
    ),
    "Parquet of a number": lambda: as_parquet(pa.repeat(1, MOST // 8 + 1)),
    "gzip of Parquet": lambda: gzip.compress(as_parquet(texts())),
}


def test_an_upload_may_not_unpack_to_more_than_64_megabytes():
    with pytest.raises(InputFileError, match="unpacks to more than 64 MB"):
        next(read(io.BytesIO(gzip.compress(b" " * 64_000_001))))


@pytest.fixture
def few_bytes(monkeypatch):
    """Let uploads unpack to less, so that what unpacks to too much is made at once."""
    for module in (input_text, reading):
        monkeypatch.setattr(module, "MOST_UNPACKED", MOST)


@pytest.mark.usefixtures("few_bytes")
class TestWhatUnpacksToTooMuch:
    @pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS.keys())
    def test_is_refused_before_the_first_record(self, make):
        content = make()
        assert len(content) < MOST / 15

        with pytest.raises(InputFileError, match="unpacks to more than 2 MB"):
            next(read(io.BytesIO(content)))

    def test_is_refused_by_its_footer_before_a_page_is_unpacked(self, monkeypatch):
        monkeypatch.setattr(reading, "_found_sizes", lambda _file: [])

        with pytest.raises(InputFileError, match="unpacks to more than 2 MB"):
            next(read(io.BytesIO(BOMBS["Parquet of a packed text"]())))

    def test_is_read_from_a_file_of_the_machine(self, tmp_path):
        path = tmp_path / "rows.parquet"
        path.write_bytes(as_parquet(texts()))

        assert next(read(path)).value == {"text": LONG}

    def test_is_refused_if_it_cannot_be_told(self):
        content = as_parquet(
            texts(), use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"}
        )

        with pytest.raises(InputFileError, match="in a rare encoding"):
            next(read(io.BytesIO(content)))

    def test_conversations_in_several_groups_are_no_such_file(self):
        rows = [[{"role": "user", "text": str(number)}] for number in range(20)]
        content = as_parquet(pa.array(rows), row_group_size=3)

        assert [entry.value for entry in read(io.BytesIO(content))] == [
            {"text": row} for row in rows
        ]


@pytest.mark.parametrize(
    ("content", "line", "fault"),
    [
        (f'{{"a": oops}}\n{ONE}\n', 1, "not valid JSON at column 7: Expecting value"),
        (
            json.dumps([ROW | {"x\ud800": 1}, ROW]),
            None,
            "a name in it contains half of a surrogate pair",
        ),
    ],
    ids=["a line that is no JSON", "half a character in a name"],
)
def test_a_bad_record_is_told_and_the_next_is_read(content, line, fault):
    bad, good = read(io.BytesIO(content.encode()))

    assert (bad.line, bad.fault) == (line, fault)
    assert good.value == ROW


def test_lines_that_look_keyed_by_an_id_are_records_each():
    rows = [{"a": {"text": "one"}}, {"a": {"text": "two"}}]

    found = read(io.BytesIO("\n\n".join(map(json.dumps, rows)).encode()))

    assert [entry.value for entry in found] == rows


def test_a_record_keyed_by_an_id_keeps_the_id_of_its_own():
    content = {"one": {"text": "a"}, "two": {"id": "own", "text": "b"}}

    found = read(io.BytesIO(json.dumps(content, indent=1).encode()))

    assert [(entry.value, entry.line) for entry in found] == [
        ({"id": "one", "text": "a"}, 2),
        ({"id": "own", "text": "b"}, 5),
    ]


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["Ada", "ada"], [("Ada", "ada")]),
        (["ada-1", "ada 1", "ada_1"], [("ada 1", "ada-1", "ada_1")]),
        (["\uff21da", "Ada"], [("Ada", "\uff21da")]),
        (["ade", "ad\u00e9"], []),
        (["ada1", "ada2"], []),
        (["!", "?"], []),
    ],
    ids=["case", "punctuation", "width", "an accent", "a number", "no letters"],
)
def test_names_that_look_alike_are_told(names, groups):
    assert alike(names) == groups
