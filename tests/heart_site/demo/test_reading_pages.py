"""How a simulated rater reads a page: its forms, its messages, and how much there is to read."""

import pytest

from heart_site.demo.rehearsal.browser import read_page

PAGE = """
<ol class="dialogue">
  <li class="turn"><span class="who">Seeker</span><div class="said"><p>I moved &amp; know
  nobody.</p></div></li>
  <li class="turn latest"><span class="who">Seeker</span><div class="said"><p>Hello?</p></div></li>
</ol>
<article class="card message"><h3>Reply A</h3><p>That <em>sounds</em> lonely.</p></article>
<article class="card message"><h3>Reply B</h3><p>Cheer up.</p></article>
<p>Not a message.</p>
<form action="/answer/"><input type="hidden" name="token" value="t">
  <input type="radio" name="verdict" value="1"><input type="radio" name="verdict" value="-1">
  <textarea name="rationale">
kept</textarea>
  <button name="choice" value="agree">Yes</button></form>
<form action="/skip/"><button name="reason" value="unclear">Unclear</button></form>
"""


@pytest.fixture
def page():
    return read_page(PAGE, path="/s/x/judge/", status=200)


def test_finds_the_messages_without_their_headings(page):
    assert page.messages == ["That sounds lonely.", "Cheer up."]


def test_finds_the_turns_of_the_dialogue(page):
    assert [" ".join(turn.split()) for turn in page.turns] == ["I moved & know nobody.", "Hello?"]


def test_counts_the_words_there_are_to_read(page):
    assert page.count_words() == 5 + 1 + 3 + 2
    assert page.count_words(known=["Hello?"]) == 5 + 3 + 2


def test_finds_each_form_with_its_fields_choices_and_buttons(page):
    answer, skip = page.forms

    assert (answer.action, skip.action) == ("/answer/", "/skip/")
    assert not answer.is_swapped
    assert answer.fields == {"token": "t", "rationale": "kept"}
    assert answer.choices == {"verdict": ["1", "-1"]}
    assert skip.buttons == [("reason", "unclear")]
