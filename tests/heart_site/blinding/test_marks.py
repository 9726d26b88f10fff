"""Pages without their texts, and the names in what remains."""

import uuid

import pytest

from heart_site.blinding import replaying


def test_tokens_and_secrets_are_drawn_anew_and_left_out():
    first, second = (
        f'<form action="/{uuid.uuid4()}/"><input name="csrfmiddlewaretoken" value="{n}">'
        for n in range(2)
    )

    assert first != second
    assert replaying.without_chance(first) == replaying.without_chance(second)


def test_tags_are_alike_but_for_their_numbers():
    page = '<p id="t1">2</p><p id="t20"><br></p>'

    assert replaying.tags_of(page) == {
        '<p id="t#">': replaying.Tag(2, (1,)),
        "<br>": replaying.Tag(1, ()),
    }


def test_a_number_that_is_no_token_stays():
    assert "12345678" in replaying.without_chance('<p id="12345678">')


def test_texts_are_replaced_where_they_are_whole_paragraphs():
    page = "<p>a &lt;b&gt;</p><p>kept: a &lt;b&gt;</p>"

    assert replaying.without_texts(page, ["a <b>"], blank="-") == "<p>-</p><p>kept: a &lt;b&gt;</p>"


def test_equal_texts_are_replaced_one_by_one():
    assert replaying.without_texts("<p>x</p><p>x</p>", ["x", "x"], blank="-") == "<p>-</p><p>-</p>"


@pytest.mark.parametrize(
    ("page", "is_there"),
    [
        ("<i>Alder</i>", True),
        ('<i data-x="alder">', True),
        ("<i>alderman</i>", False),
        ("<i>an-alder</i>", False),
        ("<i>ald</i>", False),
    ],
)
def test_names_are_found_as_words(page, is_there):
    assert replaying.names_in(page, ["alder", "ald"]) == (["alder"] if is_there else [])
