"""Files of messages written elsewhere: rows are read, checked, and compared with other texts."""

import datetime as dt
import io
import json
from itertools import repeat

import pytest

from completions.files import text as input_text
from completions.files.refusals import REMEDIES, InputFileError, Reason, Refused
from completions.files.rows import once
from completions.models import Context, MessageRevision
from completions.writers.importing import WrittenRow, written_file
from completions.writers.services.import_rows import MOST_NEAR, MOST_PLACES, Shelf
from tests.completions.writers.test_importing import import_rows, row
from tests.helpers.factories import make_completion, make_context, make_dialogue
from tests.helpers.factories_of_people import make_sent

HEADER = "context,text,author"
TEXT = "That sounds lonely. What would help?"


def read(content, **options):
    data = content.encode() if isinstance(content, str) else content
    return list(once(written_file(io.BytesIO(data), **options)))


def only(content):
    (row,) = read(content)
    return row


def refused(content):
    return [row for row in read(content) if isinstance(row, Refused)]


def notes_of(content):
    """Return what is told of a file as a whole once it is read."""
    file = written_file(io.BytesIO(content.encode()))
    list(file)
    return file.notes


def as_json(**fields):
    return json.dumps({"context": "abc", "text": TEXT, "author": "Ada"} | fields)


def table(*lines, header=HEADER):
    return "\n".join([header, *lines])


EVERY_COLUMN = HEADER + ",background,written_at"
LINE = 'abc,"One, two.\nThree ""four"".",Ada Ōe,peer,2026-01-31T18:05:00+01:00'
RECORD = {
    "text": 'One, two.\nThree "four".',
    "author": "Ada Ōe",
    "background": "Peer",
    "written_at": "2026-01-31T17:05:00Z",
}


@pytest.mark.parametrize(
    ("content", "position"),
    [(table(LINE, header=EVERY_COLUMN), 2), (as_json(**RECORD), 1)],
    ids=["csv", "json lines"],
)
def test_a_row_has_every_column(content, position):
    assert only(content) == WrittenRow(
        position=position,
        context="abc",
        text='One, two.\nThree "four".',
        author="Ada Ōe",
        background="PEER",
        written_at=dt.datetime(2026, 1, 31, 17, 5, tzinfo=dt.UTC),
    )


@pytest.mark.parametrize(
    "content",
    [table(f"a,{TEXT},Ada,1,x", header=HEADER + ",Wage,id"), as_json(wage=3, id="x")],
    ids=["csv", "json"],
)
def test_columns_that_nobody_reads_are_told(content):
    assert notes_of(content) == ["Columns that are not read: id, wage."]


class TestCsv:
    def test_counts_the_lines_of_the_file_and_not_the_rows(self):
        content = table('a,"One\ntwo\nthree",Ada', "", "b,Four,Ada", "c,Five,Ada")

        assert [row.position for row in read(content)] == [2, 6, 7]

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ("a,One, two,Ada", "has 4 cells, and line 1 names 3 columns; put a text"),
            ("a,One", "has 2 cells, and line 1 names 3 columns"),
        ],
        ids=["a comma too many", "a cell too few"],
    )
    def test_refuses_a_row_with_another_number_of_cells(self, row, said):
        (found,) = refused(table(row, f"b,{TEXT},Ada"))

        assert (found.position, found.reason) == (2, Reason.UNREADABLE)
        assert found.why.startswith(said)


class TestJsonLines:
    def test_may_leave_out_or_empty_what_is_optional(self):
        content = "\n".join([as_json(background=None, written_at=""), "", as_json(context="b")])

        assert [(row.position, row.background, row.written_at) for row in read(content)] == [
            (1, "", None),
            (3, "", None),
        ]

    def test_that_are_broken_are_refused_with_their_column_and_the_next_is_read(self):
        broken = ['{"context": oops}', "[1]", "[" * 50_000]
        content = "\n".join([as_json(), *broken, as_json(context="b")])

        rows = read(content)

        assert [str(row) for row in rows[1:3]] == [
            "line 2: not valid JSON at column 13: Expecting value. Mend the row.",
            "line 3: is not an object with these fields. Mend the row.",
        ]
        assert "nested too deep" in rows[3].why
        assert isinstance(rows[4], WrittenRow)


class TestAColumn:
    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"context": 12}, "context is not a text"),
            ({"context": " "}, "context is empty"),
            ({"context": "x" * 25}, "context is too long: 24 characters at most"),
            ({"text": None}, "text is not a text"),
            ({"text": "One \x00 two"}, "text contains a character that cannot be stored"),
            ({"text": "One \ud83d two"}, "text contains a character that cannot be stored"),
            ({"text": "One \x1b[2J two"}, "text contains the control character U+001B"),
            ({"text": "One \x85 two"}, "text contains the control character U+0085"),
            ({"author": "\u200b"}, "author is empty"),
            ({"author": "A\x07da"}, "author contains the control character U+0007"),
            ({"author": "A" * 121}, "author is too long: 120 characters at most"),
            ({"background": "friend"}, "background is none of crowd, peer and clinician"),
            ({"background": 3}, "background is none of crowd, peer and clinician"),
            ({"written_at": "2026-01-31T18:05:00"}, "written_at is not a time of ISO 8601"),
            ({"written_at": "yesterday"}, "written_at is not a time of ISO 8601"),
            ({"written_at": 1_700_000_000}, "written_at is not a time of ISO 8601"),
            ({"written_at": "0001-01-01T00:00+14:00"}, "written_at is not a time of ISO"),
        ],
    )
    def test_that_cannot_be_used_is_named_and_not_quoted(self, fields, said):
        found = only(as_json(**fields))

        assert (found.position, found.reason) == (1, Reason.BAD_FIELD)
        assert f"{found.field} {found.why}".startswith(said)

    def test_that_is_missing_is_named_with_all_that_is_wrong(self):
        found = read(json.dumps({"context": "", "author": "Ada"}))

        assert [(one.field, one.why) for one in found] == [
            ("context", "is empty"),
            ("text", "is missing"),
        ]

    def test_of_names_is_read_alike_however_it_is_spelled(self):
        spelled = ["Jose\u0301  Ruiz", " Jos\u00e9 Ruiz "]

        assert {only(as_json(author=name)).author for name in spelled} == {"Jos\u00e9 Ruiz"}

    def test_of_texts_keeps_lines_and_loses_carriage_returns(self):
        assert only(as_json(text="One\r\ntwo\n\tthree")).text == "One\ntwo\n\tthree"


class TestRowsThatStandTwice:
    def test_are_told_with_the_line_of_the_first(self):
        rows = [f"a,{TEXT},Ada", f"a,{TEXT} ,Ada", f"a,{TEXT},Bo", f"b,{TEXT},Ada", "a,Other,Ada"]

        found = refused(table(*rows))

        other = "another text of its author or system for this context stands at 2"
        assert [(row.position, row.reason, row.why) for row in found] == [
            (3, Reason.REPEATED, "stands at 2 already"),
            (6, Reason.SECOND_TEXT, other),
        ]

    @pytest.mark.parametrize(
        "second",
        ["Caf\u00e9 or not?", "Cafe\u0301 or not?", " Caf\u00e9  or\nnot? "],
        ids=["the same", "accents in another encoding", "other spaces"],
    )
    def test_are_one_in_any_spelling(self, second):
        rows = read("\n".join(as_json(text=one) for one in ("Caf\u00e9 or not?", second)))

        assert isinstance(rows[0], WrittenRow)
        assert (rows[1].position, rows[1].reason) == (2, Reason.REPEATED)


class TestAFile:
    def test_tells_which_rows_have_one_text_and_which_names_look_alike(self):
        rows = [f"a,{TEXT},Ada", f"b,{TEXT.upper()},Ada", f"c, {TEXT},ada", "d,Cafe\u0301 is it,Bo"]

        assert notes_of(table(*rows, "e,Caf\u00e9  is it,Cy")) == [
            "These names look alike and count as different: Ada, ada.",
            "One text stands on the lines 2, 4.",
            "One text stands on the lines 5, 6.",
        ]

    def test_lists_the_first_texts_that_stand_twice_and_counts_the_others(self):
        notes = notes_of(table(*[f"{key},Text {n},Ada" for n in range(23) for key in "ab"]))

        assert len(notes) == 21
        assert notes[-1] == "And 3 more texts stand on several lines."

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"\n\ncontext", "line 3 names no column text, author"),
            ("key,words\na,b", "line 1 names no column context, text, author"),
            (HEADER, "has no messages"),
            (table(",,", " ,,"), "has no messages"),
            (HEADER.encode("utf-16"), "has no messages"),
            (table("a,One,Ada", 'b,"One" two,Bo'), "line 3: a quotation mark inside of a cell"),
            ('context,"text', "line 1: a quotation mark opens here"),
        ],
    )
    def test_that_cannot_be_read_is_refused_with_the_way_out(self, content, said):
        with pytest.raises(InputFileError) as caught:
            read(content)

        assert str(caught.value).startswith(said)

    def test_has_a_bound_on_its_rows(self):
        content = table("a,One,Ada", "b,Two,Ada", "c,Three,Ada")

        assert len(read(content, most_rows=3)) == 3
        with pytest.raises(InputFileError, match="over 2 rows; split it"):
            read(content, most_rows=2)

    def test_has_a_bound_on_its_lines(self, monkeypatch):
        monkeypatch.setattr(input_text, "LONGEST_LINE", 30)

        assert only(table("a," + "x" * 20 + ",A"))
        with pytest.raises(InputFileError, match="line 2 has over 30 characters"):
            read(table("a," + "x" * 50 + ",A"))

    def test_never_fills_the_memory_with_a_quotation_mark_that_is_not_closed(self):
        content = HEADER + "\n" + 'a,"One\n' + ("x" * 60 + "\n") * 5_000

        with pytest.raises(InputFileError, match="not closed for very long"):
            read(content)

    def test_is_read_as_a_stream(self):
        class Endless(io.BytesIO):
            def read(self, size=-1):
                return super().read(size) or f"c,{TEXT},Ada\n".encode()

        rows = iter(written_file(Endless(f"{HEADER}\n".encode())))

        assert [next(rows).position for _ in repeat(None, 3)] == [2, 3, 4]


def test_every_reason_says_what_to_do():
    assert set(REMEDIES) == set(Reason)
    assert all(remedy.endswith(".") for remedy in REMEDIES.values())


MOVING = "Moving to a new town is hard, and evenings alone are long. Who do you miss most of all?"
NEARLY = "Moving to a new town is hard, and evenings alone are long. Whom do you miss the most?"
OTHER = "I wonder what your sister would say if she had an hour for you."


def sent_by(author):
    return MessageRevision.objects.filter(message__lease__writer__imported_as=author).order_by("pk")


def flags(author):
    """What the newest message of an author is flagged with, by what it is like."""
    return [
        (flag["of"], flag.get("message") or flag.get("completion") or flag.get("turn"))
        for flag in sent_by(author).last().flags
        if flag["kind"] == "near-duplicate"
    ]


def message_of(author):
    return sent_by(author).first().message_id


@pytest.mark.django_db
class TestANearDuplicate:
    @pytest.mark.parametrize("are_in_one_file", [True, False])
    def test_of_the_authors_text_before_names_the_message_that_it_became(
        self, dataset, context, are_in_one_file
    ):
        rows = [row(context, MOVING), row(make_context(dataset=dataset), NEARLY, line=3)]

        if are_in_one_file:
            assert import_rows(dataset, *rows).n_flagged == 1
        else:
            for one in rows:
                import_rows(dataset, one)

        assert flags("Ada") == [("own", message_of("Ada"))]

    def test_of_another_author_for_the_same_dialogue_is_flagged_and_not_accepted_unread(
        self, dataset, context
    ):
        rows = [row(context, MOVING), row(context, NEARLY, author="Bo", line=3)]

        report = import_rows(dataset, *rows, are_accepted=True)

        assert flags("Ada") == []
        assert flags("Bo") == [("another", message_of("Ada"))]
        assert (report.n_accepted, report.n_waiting) == (1, 1)

    @pytest.mark.parametrize("make", [make_sent, make_completion], ids=["message", "completion"])
    def test_of_what_was_written_here_is_flagged(self, make):
        there = make(text=MOVING)
        context = Context.objects.get()

        import_rows(context.dataset, row(context, NEARLY))

        assert flags("Ada") == [("another", there.pk)]

    def test_of_what_the_dialogue_goes_on_with_is_flagged(self, dataset):
        turns = [{"role": "seeker", "text": "I moved."}, {"role": "supporter", "text": MOVING}]
        context = make_context(dialogue=make_dialogue(dataset=dataset, turns=turns), turn_index=0)

        import_rows(dataset, row(context, NEARLY))

        assert flags("Ada") == [("original", 1)]

    def test_of_a_row_that_was_not_stored_is_no_flag(self, dataset, context):
        full = make_context(dataset=dataset, slots_left=0)

        report = import_rows(dataset, row(full, MOVING), row(context, NEARLY, line=3))

        assert flags("Ada") == []
        assert report.n_flagged == 0

    def test_of_another_author_for_another_dialogue_is_no_flag(self, dataset, context):
        import_rows(
            dataset,
            row(context, MOVING),
            row(make_context(dataset=dataset), NEARLY, author="Bo", line=3),
        )

        assert flags("Bo") == []


class TestTheShelf:
    @pytest.mark.parametrize(
        ("texts", "asked"),
        [
            ([OTHER, MOVING], NEARLY),
            ([OTHER, "I am here for you tonight."], "I am here for YOU tonight!"),
        ],
        ids=["alike", "the same few words"],
    )
    def test_yields_what_is_alike_and_leaves_the_rest(self, texts, asked):
        shelf = Shelf()
        for number, text in enumerate(texts):
            shelf.add(("row", number), text)

        assert [source for source, _ in shelf.near(asked)] == [("row", 1)]

    def test_yields_few_however_many_there_are(self):
        shelf = Shelf()
        for number in range(3 * MOST_PLACES):
            shelf.add(("row", number), f"{MOVING} This is number {number} of many.")

        near = [source for source, _ in shelf.near(NEARLY)]

        assert 0 < len(near) <= MOST_NEAR
