"""Files of texts by several systems, in every layout that people have them in."""

import io
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from annotation.quick.layout import read_quick
from completions.dialogues.ingest.dialogue import Turn
from completions.files.refusals import InputFileError

ROWS = [
    {"item": "1", "system": "Ash", "text": "One.", "context": "Count!"},
    {"item": "1", "system": "Beech", "text": "Two.", "context": "Count!"},
    {"item": "2", "system": "Ash", "text": "Three.", "context": ""},
]
WIDE = [
    {"item": "1", "Ash": "One.", "Beech": "Two.", "context": "Count!"},
    {"item": "2", "Ash": "Three.", "Beech": "", "context": None},
]


def as_csv(rows):
    lines = [rows[0].keys(), *(row.values() for row in rows)]
    return "\n".join(",".join("" if cell is None else cell for cell in line) for line in lines)


def as_parquet(rows):
    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


def found(content):
    content = content if isinstance(content, bytes) else content.encode()
    return read_quick(io.BytesIO(content))


SHAPES = {
    "a table, a row for each text": as_csv(ROWS),
    "a table of semicolons": as_csv(ROWS).replace(",", ";"),
    "lines of JSON": "\n".join(map(json.dumps, ROWS)),
    "a list in JSON": json.dumps(ROWS),
    "Parquet": as_parquet(ROWS),
    "a table, a column for each system": as_csv(WIDE),
    "lines of JSON, a field for each system": "\n".join(map(json.dumps, WIDE)),
    "Parquet, a column for each system": as_parquet(WIDE),
    "capitals and spaces in the head": as_csv(ROWS).replace("item,", " Item ,", 1),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_layout_says_the_same(shape):
    file = found(SHAPES[shape])

    texts = {(one.item, one.system, one.text) for one in file.texts}
    assert texts == {("1", "Ash", "One."), ("1", "Beech", "Two."), ("2", "Ash", "Three.")}
    assert file.items["1"].turns == (Turn("seeker", "Count!"),)
    assert file.items["2"].turns == ()
    assert (file.n_gaps, file.n_alike, file.n_pairs, file.faults) == (1, 0, 1, [])


def test_a_column_names_its_system_as_it_is_written():
    file = found("Item;GPT-4o mini;our_model;Context\n1;One.;Two.;Count!\n")

    assert file.systems == ["GPT-4o mini", "our_model"]
    assert file.items["1"].turns == (Turn("seeker", "Count!"),)


def test_columns_that_differ_in_a_capital_are_one_column_twice():
    with pytest.raises(InputFileError, match="names a column twice: ash"):
        found("item,Ash,ash\n1,One.,Two.\n")


def test_a_context_may_be_the_turns_of_a_conversation():
    turns = [{"role": "user", "content": "Hi."}, {"role": "assistant", "text": "Hello."}]

    for context in (turns, json.dumps(turns)):
        rows = [ROWS[0] | {"context": context}, ROWS[1] | {"context": ""}]
        said = found(json.dumps(rows)).items["1"].turns
        assert said == (Turn("seeker", "Hi."), Turn("supporter", "Hello."))


@pytest.mark.parametrize("prompt", ["[sic] Count!", "[" * 5_000, f"[{'9' * 5_000}]"])
def test_a_prompt_may_begin_with_a_bracket(prompt):
    rows = [row | {"context": prompt} for row in ROWS]

    assert found(json.dumps(rows)).items["1"].turns == (Turn("seeker", prompt),)


@pytest.mark.parametrize(
    ("text", "n_alike", "n_pairs"),
    [(" One. ", 1, 0), ("one.", 0, 1)],
    ids=["the same but for blanks", "another capital"],
)
def test_texts_that_say_the_same_are_told(text, n_alike, n_pairs):
    file = found(json.dumps([ROWS[0], ROWS[1] | {"text": text}]))

    assert (file.n_alike, file.n_pairs) == (n_alike, n_pairs)


FAULTY = {
    "an item without a name": (ROWS[0] | {"item": ""}, "the item needs a name"),
    "a system without a name": (ROWS[0] | {"system": " "}, "a system needs a name"),
    "a text without words": (ROWS[0] | {"text": "..."}, 'the text of "Ash" has no words'),
    "no text": (ROWS[0] | {"text": None}, 'the text of "Ash" has no words'),
    "a text too long": (
        ROWS[0] | {"text": "x" * 4001},
        'the text of "Ash" is too long: 4,000 characters at most',
    ),
    "a second text of one system": (ROWS[1] | {"text": "Again."}, 'has a text for "1" on line 2'),
    "another context": (ROWS[0] | {"system": "C", "context": "No."}, "another context or language"),
    "turns of nobody": (ROWS[2] | {"context": [{"text": "Hi."}]}, "each turn needs a role"),
    "a language that is none": (ROWS[2] | {"language": "English!"}, "not a language tag"),
    "no object": ("One.", "is not an object"),
    "a list as a text": (ROWS[0] | {"text": ["One.", "Two."]}, "a list or an object"),
    "an object as an item": (ROWS[0] | {"item": {"id": 1}}, "a list or an object"),
    "a turn as a context": (
        ROWS[2] | {"context": {"role": "user", "text": "Hi."}},
        "a list or an object",
    ),
    "two fields of one name": (ROWS[2] | {"Text ": "Another."}, "two of its fields have one name"),
    "half a character in the item": (ROWS[0] | {"item": "x\ud800"}, "cannot be stored"),
    "half a character in the system": (ROWS[0] | {"system": "x\ud800"}, "cannot be stored"),
    "half a character in the text": (ROWS[0] | {"text": "x\ud800"}, "cannot be stored"),
    "half a character in the context": (ROWS[2] | {"context": "x\ud800"}, "cannot be stored"),
    "half a character in a turn": (
        ROWS[2] | {"context": [{"role": "user", "text": "x\ud800"}]},
        "cannot be stored",
    ),
    "half a character in a name": (ROWS[0] | {"x\ud800": "x"}, "half of a surrogate pair"),
    "NUL in the system": (ROWS[0] | {"system": "x\0"}, "cannot be stored"),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_fault_is_told_with_its_line(fault):
    row, why = FAULTY[fault]

    file = found("\n".join(map(json.dumps, [ROWS[0] | {"item": "0"}, ROWS[1], row])))

    [told] = file.faults
    assert told.position == 3
    assert why in told.why


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n", "has the columns a, b: it needs the columns item, system and text"),
        ("item,Ash\n1,One.\n", "one column for each system"),
        ("item,system,text\n1,Ash,One.\n", "texts of fewer than 2 systems"),
    ],
)
def test_a_file_of_neither_layout_is_refused(content, why):
    with pytest.raises(InputFileError, match=why):
        found(content)
