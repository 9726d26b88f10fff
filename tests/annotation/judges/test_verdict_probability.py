"""The probability of a verdict: read from the one token that holds the overall winner's letter."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.judges.verdict_probability import probability_of_a
from completions.llm import Token

ANSWER = {
    "notes": {"H": 'It says {"winner": "B"} itself 🙂'},
    "dimensions": {"H": {"winner": "B", "strength": 3}},
    "rationale": 'winner "B" \\',
    "winner": "A",
    "strength": 2,
}
TEXT = json.dumps(ANSWER, ensure_ascii=False)
PLACE = TEXT.rindex('"winner": "A"') + len('"winner": "')


def tokens(start: int, end: int, text: str, /, **alternatives: float) -> list[Token]:
    """The text in three tokens, the second of them with these alternatives."""
    others = {name: math.log(share) for name, share in alternatives.items()}
    return [
        Token(text[:start], {text[:start]: 0.0}),
        Token(text[start:end], others),
        Token(text[end:], {text[end:]: 0.0}),
    ]


def verdict(**alternatives: float) -> list[Token]:
    return tokens(PLACE, PLACE + 1, TEXT, **alternatives)


def test_the_letters_alone_are_weighed_against_each_other():
    found = probability_of_a(TEXT, verdict(A=0.6, B=0.2, neither=0.1))

    assert found == pytest.approx(0.75)


def test_ways_to_spell_a_letter_add_up():
    before = TEXT[PLACE - 2 : PLACE]
    spelled = {f"{before}A": 0.5, f'{before}A"': 0.1, f"{before}B": 0.2, " A": 0.1, "B": 0.1}

    found = probability_of_a(TEXT, tokens(PLACE - 2, PLACE + 1, TEXT, **spelled))

    assert found == pytest.approx(0.6 / 0.8)


def test_a_letter_that_is_not_listed_has_at_most_what_is_left():
    assert probability_of_a(TEXT, verdict(A=0.8, c=0.1)) == pytest.approx(0.8 / 0.9)


def test_the_verdict_may_be_the_less_probable_one():
    assert probability_of_a(TEXT, verdict(A=0.25, B=0.75)) == pytest.approx(0.25)


def test_pieces_of_a_sign_before_the_verdict_do_no_harm():
    pieces = [Token("\N{REPLACEMENT CHARACTER}", {}), *verdict(A=0.5, B=0.5)[1:]]

    assert probability_of_a(TEXT, pieces) == pytest.approx(0.5)


def test_a_fence_does_no_harm():
    fenced = f"```json\n{TEXT}\n```"
    place = PLACE + len("```json\n")

    found = probability_of_a(fenced, tokens(place, place + 1, fenced, A=0.9, B=0.1))

    assert found == pytest.approx(0.9)


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [Token("another text", {})],
        verdict(A=0.5, B=0.5)[:2],
        verdict(A=0.5, B=0.5)[2:],
        [*verdict(A=0.5, B=0.5), Token("<end>", {})],
    ],
    ids=["none", "another", "end-missing", "beginning-missing", "more"],
)
def test_tokens_that_are_not_the_texts_say_nothing(pieces):
    assert probability_of_a(TEXT, pieces) is None


@pytest.mark.parametrize("text", ["", "{}", '{"rationale": "\\"winner\\": \\"A\\""}'])
def test_a_text_without_a_verdict_has_none(text):
    assert probability_of_a(text, [Token(text, {text: 0.0})]) is None


def test_a_letter_of_a_dimension_or_in_the_reasons_is_never_taken():
    for other in range(TEXT.index('"rationale"')):
        if TEXT[other] in "AB":
            assert probability_of_a(TEXT, tokens(other, other + 1, TEXT, A=0.1, B=0.9)) != 0.1


@given(st.text(alphabet='AB"\\{}[]winer: ,\n', max_size=40), st.floats(0.01, 0.99))
def test_whatever_the_reasons_say_the_verdict_is_found(reason, share):
    text = json.dumps(ANSWER | {"rationale": reason})
    place = text.rindex('"winner": "A"') + len('"winner": "')

    found = probability_of_a(text, tokens(place, place + 1, text, A=share, B=1 - share))

    assert found == pytest.approx(share)
