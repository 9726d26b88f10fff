"""Completions that were made elsewhere are read row by row; every fault has its field."""

import datetime as dt
import io
import json

import pytest

from completions.files import REMEDIES, InputFileError, Reason, Refused, once, printable
from completions.systems.importing import ImportedRow, checked, imported_file

TEXT = "That sounds lonely. What would help?"
HEADER = "context,system,text"


def row(**fields):
    return {"context": "abc", "system": "ash", "text": TEXT} | fields


def good(value):
    found = checked(value, 3)
    assert isinstance(found, ImportedRow)
    return found


def refusals(value):
    found = checked(value, 3)
    assert not isinstance(found, ImportedRow)
    return found


def faults(value):
    return [(one.field, one.why) for one in refusals(value)]


def read(content, **options):
    data = content.encode() if isinstance(content, str) else content
    return list(imported_file(io.BytesIO(data), **{"most_rows": 10} | options))


class TestARow:
    def test_keeps_the_text_as_it_came_and_shows_it_on_one_line(self):
        found = good(row(text=" One.\r\n\r\n* Two. "))

        assert (found.text, found.line) == (" One.\n\n* Two. ", "One. * Two.")

    def test_has_its_provenance(self):
        found = checked(
            row(model_version=" v1 ", source=None, produced_at="2026-01-31T18:05:00+01:00"), 7
        )

        assert found == ImportedRow(
            7, "abc", "ash", TEXT, "v1", "", dt.datetime(2026, 1, 31, 17, 5, tzinfo=dt.UTC)
        )

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ("a text", [("", "is not an object with these fields")]),
            ({}, [(name, "is missing") for name in ("context", "system", "text")]),
            (row(text=3, context=None), [("context", "is not a text"), ("text", "is not a text")]),
            (row(text=" ... "), [("text", "has no words")]),
            (row(text="a" * 4001), [("text", "is too long")]),
            (row(text="a\x07"), [("text", "contains the control character U+0007")]),
            (row(modelversion="1"), [("modelversion", "is not known")]),
            (row(**{"\ud800": "1"}), [("", "contains half of a surrogate pair")]),
        ],
        ids=[
            "text",
            "empty",
            "types",
            "no words",
            "long",
            "control",
            "unknown",
            "half a name",
        ],
    )
    def test_tells_every_field_at_fault(self, value, told):
        assert faults(value) == told

    @pytest.mark.parametrize("moment", ["yesterday", "2026-01-31T18:05:00", 0, "1066-01-01T00:00Z"])
    def test_refuses_what_is_no_time(self, moment):
        ((field, why),) = faults(row(produced_at=moment))

        assert field == "produced_at"
        assert "ISO 8601" in why

    def test_says_what_to_do(self):
        assert set(REMEDIES) == set(Reason)
        assert refusals({})[0].remedy == "Mend the field."

    def test_is_there_once(self):
        rows = [ImportedRow(n, "abc", system, TEXT) for n, system in enumerate(["a", "b", "a"])]

        first, second, third = once(rows)

        assert (first, second) == (rows[0], rows[1])
        assert isinstance(third, Refused)
        assert (third.position, third.reason) == (2, Reason.REPEATED)


class TestAFile:
    @pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a mark"])
    def test_of_csv_has_rows_by_their_lines(self, mark):
        content = mark + f'{HEADER},wage\nabc,ash,"One.\nTwo.",3\n\nabc,beech,"",'.encode()
        file = imported_file(io.BytesIO(content), most_rows=10)

        first, second = file

        assert first == ImportedRow(2, "abc", "ash", "One.\nTwo.")
        assert isinstance(second, Refused)
        assert (second.position, second.field) == (5, "text")
        assert file.notes == ["Columns that are not read: wage."]

    def test_of_json_lines_has_rows_by_their_lines(self):
        lines = [json.dumps(row(source="A paper")), "", "{", "[]"]

        first, second, third = read("\n".join(lines))

        assert first.source == "A paper"
        assert [(one.position, one.reason) for one in (second, third)] == [
            (3, Reason.UNREADABLE),
            (4, Reason.UNREADABLE),
        ]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (HEADER, "has no completions"),
            ("context,text\na,b", "names no column system; it has to name context, system, text"),
            (f"{HEADER}\n" + "a,b,c\n" * 11, "has over 10 rows"),
            (HEADER.encode("utf-16"), "has no completions"),
            (f"{HEADER}\ncaf\xe9".encode("latin-1"), "is not UTF-8"),
        ],
        ids=["no rows", "a column", "many", "UTF-16", "Latin-1"],
    )
    def test_that_cannot_be_read_says_why(self, content, said):
        with pytest.raises(InputFileError, match=said):
            read(content)


def test_names_are_sent_back_as_far_as_they_can_be():
    assert printable("a\ud800" + "b" * 200) == "a?" + "b" * 98


def test_a_refusal_without_another_word_says_its_reason():
    assert Refused(1, "", Reason.REPEATED, "x").remedy.startswith("Leave one")
