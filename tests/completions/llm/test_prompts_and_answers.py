"""What a supporter is asked with, and JSON as models write it: nothing is guessed."""

import hashlib
import json
from typing import Any

import pytest

from annotation.judges.prompts import read_judge_answer, read_rating_answer
from completions.llm import answers, prompts
from completions.llm.answers import InvalidAnswerError, noting_repairs

KEYS = ("H", "E")
MARKS = {"H": {"winner": "none", "strength": 0}, "E": {"winner": "A", "strength": 3}}
ANSWER: dict[str, Any] = {
    "notes": {"H": "Both sound human.", "E": "A names the feeling."},
    "dimensions": MARKS,
    "rationale": "A stays, and B leaves.",
    "winner": "B",
    "strength": 2,
}
GOOD = json.dumps(ANSWER)
OTHER = json.dumps(ANSWER | {"winner": "A"})
TAIL = '"strength": 2}'


def said(**changes: Any) -> str:
    return json.dumps(ANSWER | changes)


READ = {
    "to the letter": (GOOD, []),
    "spaces around": (f"\n {GOOD} \n", []),
    "a fence": (f"```json\n{GOOD}\n```", [answers.FENCE]),
    "a fence of another case": (f"```JSON\n{GOOD}\n```", [answers.FENCE]),
    "a fence on lines of Windows": (f"```json\r\n{GOOD}\r\n```", [answers.FENCE]),
    "a fence without a name": (f"```\n{GOOD}\n```", [answers.FENCE]),
    "a fence of tildes": (f"~~~json\n{GOOD}\n~~~", [answers.FENCE]),
    "a fence on the line": (f"```json {GOOD}```", [answers.FENCE]),
    "an open fence": (f"```json\n{GOOD}", [answers.FENCE]),
    "a sentence": (f"Here is my answer: {GOOD}", [answers.TEXT_BEFORE]),
    "the longest sentence": (
        f"{'Long.'.ljust(answers._LONGEST_SENTENCE - 1)}\n{GOOD}",
        [answers.TEXT_BEFORE],
    ),
    "a line": (f"I have looked at both.\n\n{GOOD}", [answers.TEXT_BEFORE]),
    "a sentence and a fence": (
        f"Here is the JSON:\n```json\n{GOOD}\n```",
        [answers.FENCE, answers.TEXT_BEFORE],
    ),
    "a byte order mark": (f"\ufeff{GOOD}", [answers.BYTE_ORDER_MARK]),
    "a trailing comma": (GOOD.replace(TAIL, '"strength": 2,}'), [answers.TRAILING_COMMA]),
    "trailing commas inside": (
        GOOD.replace('"strength": 0}', '"strength": 0 , }').replace(TAIL, '"strength": 2,\n}'),
        [answers.TRAILING_COMMA],
    ),
    "a number as text": (said(strength="2"), [answers.NUMBER]),
    "a number as text with spaces": (said(strength=" 2 "), [answers.NUMBER]),
    "a number with a point": (said(strength=2.0), [answers.NUMBER]),
    "a small letter": (said(winner="b"), [answers.LETTER]),
    "a letter with spaces": (said(winner=" B "), [answers.LETTER]),
    "a mark's word in capitals": (
        said(dimensions=MARKS | {"H": {"winner": "None", "strength": 0}}),
        [answers.LETTER],
    ),
    "an extra key": (said(confidence=0.9), [answers.EXTRA_KEY]),
    "an extra note": (said(notes=ANSWER["notes"] | {"X": "more"}), [answers.EXTRA_KEY]),
    "an extra dimension": (said(dimensions=MARKS | {"X": MARKS["E"]}), [answers.EXTRA_KEY]),
    "an extra key in a mark": (
        said(dimensions=MARKS | {"E": MARKS["E"] | {"why": "x"}}),
        [answers.EXTRA_KEY],
    ),
    "several": (
        f"Here it is:\n```json\n{said(strength='2', winner='b', more=1)[:-1]},}}\n```",
        [
            *(answers.FENCE, answers.TEXT_BEFORE, answers.TRAILING_COMMA, answers.LETTER),
            *(answers.NUMBER, answers.EXTRA_KEY),
        ],
    ),
}
REFUSED = {
    "one key twice": GOOD.replace(TAIL, '"strength": 2, "winner": "A"}'),
    "one key in two spellings": said(Winner="A"),
    "one dimension in two spellings": said(dimensions=MARKS | {"e": MARKS["E"]}),
    "two objects": f"{GOOD}\n{OTHER}",
    "two objects in fences": f"```json\n{GOOD}\n```\n```json\n{OTHER}\n```",
    "a wrapped object": json.dumps({"answer": ANSWER}),
    "a list of one": json.dumps([ANSWER]),
    "an object as a text": json.dumps(GOOD),
    "a sentence behind": f"{GOOD} So B is better.",
    "a sentence behind a fence": f"```json\n{GOOD}\n```\nIn short: A.",
    "a quotation": f"The message says {GOOD}",
    "a quotation with a colon": f"Message A contains: {GOOD}",
    "a quotation first": f"The message says {OTHER}\n{GOOD}",
    "a sentence that leads nowhere": f"I prefer A {GOOD}",
    "an essay before": f"{'Long. ' * 60}\n{GOOD}",
    "a fraction": said(strength=2.5),
    "a number in words": said(strength="two"),
    "two numbers": said(strength="2-3"),
    "a number of something": said(strength="2/5"),
    "true for one": said(strength=True),
    "a letter that is none": said(winner="C"),
    "a letter in a sentence": said(winner="B is better"),
    "no letter": said(winner=None),
    "off the scale": said(strength="6"),
    "a comma too many in the middle": GOOD.replace(", ", ",, ", 1),
    "cut off": GOOD[:-5],
    "cut off in a fence": f"```json\n{GOOD[:-5]}",
    "single quotation marks": str(ANSWER),
    "not a number": GOOD.replace(TAIL, '"strength": NaN}'),
    "a number too long to read": GOOD.replace(TAIL, f'"strength": {"1" * 5_000}}}'),
    "half a surrogate pair": GOOD.replace("A stays", "\\ud83d"),
    "nothing": "",
    "null": "null",
    "a letter alone": "A",
    "nested without end": "[" * 100_000,
    "nested without end behind a sentence": "Here it is: " + '{"a":' * 100_000,
    "a sentence and no object": "A is better.",
}


@pytest.mark.parametrize(("raw", "repairs"), READ.values(), ids=READ)
def test_an_answer_that_cannot_be_mistaken_is_read_and_its_repairs_noted(raw, repairs):
    with noting_repairs() as noted:
        answer = read_judge_answer(raw, KEYS)

    assert (answer.verdict, answer.marks) == (-2, {"H": 0, "E": 3})
    assert answer.rationale == ANSWER["rationale"]
    assert sorted(noted) == sorted(repairs)


def test_no_comma_is_taken_out_of_a_text():
    raw = said(rationale="It says [a, ].").replace(TAIL, '"strength": 2,}')

    assert read_judge_answer(raw, KEYS).rationale == "It says [a, ]."


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
def test_an_answer_that_takes_a_guess_is_refused(raw):
    with pytest.raises(InvalidAnswerError):
        read_judge_answer(raw, KEYS)


@pytest.mark.parametrize("points", [{"H": "3", "E": 4.0}, {"H": 3, "E": 4, "X": 1}])
def test_points_for_one_message_are_read_by_the_same_rules(points):
    raw = json.dumps({"notes": ANSWER["notes"], "rationale": "Warm.", "ratings": points})

    assert read_rating_answer(raw, KEYS).marks == {"H": 3, "E": 4}


PROMPT = prompts.Prompt("test-1", "Be kind.")
SEEKER = {"role": "seeker", "text": "I lost my job."}
SUPPORTER = {"role": "supporter", "text": "Hello."}


class TestLoadPrompt:
    def test_the_supporters_prompt_is_known_by_the_hash_of_its_text(self):
        prompt = prompts.load_prompt(prompts.SUPPORTER)

        assert prompt.hash == hashlib.sha256(prompt.text.encode()).hexdigest()
        assert "40 words" in prompt.text
        assert prompt.text == prompt.text.strip()

    def test_an_unknown_one_is_an_error(self):
        with pytest.raises(FileNotFoundError):
            prompts.load_prompt("nosuch-1")


class TestSupporterMessages:
    def test_a_dialogue_becomes_a_chat_without_labels_that_asks_for_the_next_turn(self):
        turns = [SUPPORTER, SEEKER | {"strategy": "Question"}, SUPPORTER, SEEKER]

        assert prompts.supporter_messages(turns, PROMPT) == (
            {"role": "system", "content": "Be kind."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "I lost my job."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "I lost my job."},
        )

    @pytest.mark.parametrize("text", ["שלום\u202e", "🙂", '{"role": "system"}', "a\nb"])
    def test_texts_go_in_as_they_are(self, text):
        *_, last = prompts.supporter_messages([{"role": "seeker", "text": text}], PROMPT)

        assert last["content"] == text

    @pytest.mark.parametrize(
        "turns",
        [[], [SUPPORTER], [SEEKER, SUPPORTER], [{"role": "usr", "text": "?"}, SEEKER]],
        ids=["none", "supporter", "supporter-last", "unknown-role"],
    )
    def test_nothing_else_can_be_followed(self, turns):
        with pytest.raises(ValueError, match="follow"):
            prompts.supporter_messages(turns, PROMPT)
