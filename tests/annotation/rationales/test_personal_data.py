"""Personal data in reasons: found, put out, and put back together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rationales import passages
from annotation.rationales.passages import Passage

FOUND = {
    "mail": ("Write to ann@example.com, please.", "ann@example.com"),
    "telephone": ("Call me on +44 20 7946 0958 tonight.", "+44 20 7946 0958"),
    "card": ("My card is 4111 1111 1111 1111, really.", "4111 1111 1111 1111"),
    "rater id": ("I am 5f3b1c9d8e7a6b5c4d3e2f1a on Prolific.", "5f3b1c9d8e7a6b5c4d3e2f1a"),
    "street address": ("It is like 12 Baker Street in May.", "12 Baker Street"),
}


@pytest.mark.parametrize(("kind", "case"), FOUND.items(), ids=FOUND)
def test_finds(kind, case):
    text, wanted = case

    (found,) = passages.find(text)

    assert (found.kind, text[found.start : found.end]) == (kind, wanted)


@pytest.mark.parametrize("text", ["AX2B3C4D5E6F7", "R2B3C4D5E6F"])
def test_finds_ids_of_other_platforms_and_pseudonyms(text):
    assert passages.find(f"As {text} I would say so.") == (Passage("rater id", 3, 3 + len(text)),)


@pytest.mark.parametrize(
    "text", ["", "A is warmer; B lectures.", "AFFECTIONATELY", "RESPONDENTS", "1 of 5 is too low"]
)
def test_finds_nothing_in(text):
    assert passages.find(text) == ()


def test_puts_the_kind_for_what_is_removed():
    text = "My name is Ann Lee. Mail ann@example.com!"

    masked = passages.masked(text, passages.find(text))

    assert masked == "[name removed]. Mail [mail address removed]!"


def test_finds_words_that_a_person_marked_whatever_their_case():
    found = passages.find_words("Tom said so. Tomorrow TOM will not.", ["tom", " "])

    assert found == (Passage("other", 0, 3), Passage("other", 22, 25))


def test_joins_what_overlaps():
    one, two, three = Passage("a", 0, 5), Passage("b", 3, 8), Passage("c", 8, 9)

    assert passages.joined([three, two, one]) == (Passage("a", 0, 8), three)


def test_what_was_marked_covers_what_lies_within_it():
    known = [Passage("mail", 3, 20)]

    assert passages.covers(known, [Passage("account", 5, 20)])
    assert passages.covers(known, [])
    assert not passages.covers(known, [Passage("mail", 3, 21)])


def test_the_version_tells_the_rules_and_their_number():
    assert passages.version().startswith("passages-1 screening-")


spans = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 10)).map(lambda it: Passage("x", it[0], sum(it)))
)


@given(text=st.text(min_size=50), found=spans)
def test_the_pieces_make_up_the_text_and_no_marked_character_is_left(text, found):
    pieces = list(passages.pieces(text, found))

    assert "".join(piece for _kind, piece in pieces) == text
    kept = "".join(piece for kind, piece in pieces if kind is None)
    marked = {place for one in found for place in range(one.start, one.end)}
    assert kept == "".join(one for place, one in enumerate(text) if place not in marked)
