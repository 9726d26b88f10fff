"""Judgments of a study's pairs in other tools' files: which text each row prefers, or why not."""

import hashlib
import io
import json

import pytest

from annotation.external.rules import NO_PAIR, NO_SIDES, SEVERAL, NamedPair, rows_of
from annotation.tool_files.layouts import LAYOUTS, OF_TEXTS
from annotation.tool_files.reading import read_tool_file

ONE, TWO = "Tell me more.", "Cheer up!"


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


HASHES = (sha256(ONE), sha256(TWO))
SYSTEMS = (frozenset({"ash", "ash the kind"}), frozenset({"birch", "birch 2"}))
PAIR = NamedPair("pair-1", "ctx-1", SYSTEMS, HASHES)
OTHER = NamedPair("pair-2", "ctx-2", SYSTEMS, (sha256("Hm."), sha256("Oh.")))
SIDES = {"system_a": "birch", "system_b": "ash"}

ROW = {"comparison": "pair-1", "winner": "a", "rater": "r"} | SIDES


def rows(*records, pairs=(PAIR, OTHER), strength=1, columns=None):
    content = "".join(json.dumps(one) + "\n" for one in records)
    return read(content, pairs=pairs, strength=strength, columns=columns)


def read(content, *, pairs=(PAIR, OTHER), strength=1, columns=None):
    layouts = (*LAYOUTS, *OF_TEXTS)
    found = read_tool_file(io.BytesIO(content.encode()), columns or {}, layouts=layouts)
    return rows_of(found, pairs, strength=strength)


def task(**data):
    value = {"value": {"selected": "left"}}
    return {"id": 1, "data": data, "annotations": [{"completed_by": 7, "result": [value]}]}


SHAPES = {
    "our columns, by the pair's key": {"context_id": "pair-1", "winner": "b", "rater_id": "r"}
    | SIDES,
    "our columns, by context and systems": {"context_id": "ctx-1", "winner": "b", "rater_id": "r"}
    | SIDES,
    "the name of a system as winner": {"context_id": "ctx-1", "winner": "ash", "rater_id": "r"}
    | SIDES,
    "names of systems in full": {"comparison": "pair-1", "winner": "b", "rater": "r"}
    | {"system_a": "Birch 2", "system_b": "Ash the Kind"},
    "texts of the sides": {"comparison": "pair-1", "winner": "a", "rater": "r"}
    | {"text_a": ONE, "text_b": f" {TWO}\n"},
    "a row of the API": {"comparison": "pair-1", "rater": "r", "preferred": HASHES[0]},
    "chosen and rejected": {"comparison": "pair-1", "user": "r", "chosen": ONE, "rejected": TWO},
    "Label Studio, by texts": task(comparison="pair-1", text_a=ONE, text_b=TWO),
    "Argilla": {
        "id": "pair-1",
        "fields": {"response_1": ONE, "response_2": TWO},
        "metadata": {},
        "responses": {"preference": [{"value": "response_1", "user_id": "r"}]},
    },
    "Potato": {"instance_id": "pair-1", "user": "r", "text_a": TWO, "text_b": ONE}
    | {"which:::A": "", "which:::B": "true"},
}


@pytest.mark.parametrize("record", SHAPES.values(), ids=SHAPES.keys())
def test_a_row_in_any_layout_prefers_the_text_that_it_names(record):
    found = rows(record)

    assert found.problems == []
    ((row, judged_at),) = found.rows
    assert (row.comparison, row.opinion.preferred, row.opinion.strength) == ("pair-1", HASHES[0], 1)
    assert row.rater in ("r", "7")
    assert judged_at is None
    assert found.n_without_strength == 1


@pytest.mark.parametrize(
    ("given", "preferred", "strength"),
    [
        ({"winner": "a", "strength": 2}, HASHES[1], 2),
        ({"winner": "b", "strength": "3.0"}, HASHES[0], 3),
        ({"winner": "tie"}, None, None),
        ({"winner": "tie (bothbad)", "strength": 2}, None, None),
        ({"winner": "B"}, HASHES[0], 4),
    ],
)
def test_the_strength_is_the_rows_or_else_the_one_that_was_said(given, preferred, strength):
    ((row, _),) = rows({"comparison": "pair-1", "rater": "r"} | SIDES | given, strength=4).rows

    assert (row.opinion.preferred, row.opinion.strength) == (preferred, strength)


@pytest.mark.parametrize(
    ("changed", "field", "says"),
    [
        ({"comparison": "pair-3"}, "comparison", NO_PAIR),
        ({"system_a": "oak"}, "preferred", NO_SIDES),
        ({"system_a": "ash"}, "preferred", NO_SIDES),
        ({"system_a": None, "text_a": "Words of a third."}, "preferred", NO_SIDES),
        ({"rater": ""}, "rater", "names no rater"),
        ({"rater": "x" * 121}, "rater", "names no rater"),
        ({"winner": "perhaps"}, "winner", "its winner is no side"),
        ({"strength": "very"}, "strength", "is no whole number"),
        ({"strength": 2.9}, "strength", "is no whole number"),
        ({"strength": "nan"}, "strength", "is no whole number"),
        ({"strength": "1e999"}, "strength", "is no whole number"),
        ({"judged_at": "yesterday"}, "judged_at", "is no time"),
        ({"judged_at": "2026-01-31T18:05:00"}, "judged_at", "is no time"),
        ({"judged_at": "1066-01-31T18:05:00Z"}, "judged_at", "is no time"),
    ],
)
def test_a_row_that_cannot_be_taken_is_told_with_its_line_and_field(changed, field, says):
    found = rows(ROW, ROW | changed)

    assert [(one.position, one.field) for one in found.problems] == [(2, field)]
    assert found.problems[0].says.startswith(says)
    assert found.lines == [1]


def test_rows_without_a_winner_are_counted_and_no_problem():
    found = rows(ROW | {"winner": ""})

    assert (found.rows, found.problems, found.n_without_winner) == ([], [], 1)


def test_a_side_alone_and_a_key_that_several_comparisons_share_tell_no_text():
    alone = read("item,r1,r2\npair-1,A,B\n")
    shared = rows(ROW, pairs=(PAIR, PAIR))

    assert [one.says for one in alone.problems] == [NO_SIDES, NO_SIDES]
    assert [one.says for one in shared.problems] == [SEVERAL]


def test_columns_may_be_called_otherwise_and_the_time_of_a_row_is_kept():
    row = {"pair": "pair-1", "better": "b", "who": "r", "judged_at": "2026-01-31T18:05:00Z"} | SIDES

    found = rows(row, columns={"comparison": "pair", "winner": "better", "rater_id": "who"})

    ((one, judged_at),) = found.rows
    assert one.opinion.preferred == HASHES[0]
    assert judged_at.isoformat() == "2026-01-31T18:05:00+00:00"
