"""The reading of a judge's answer: what its schema says, or a named fault."""

import json

import pytest

from annotation.judges.answers import answer_schema, read_judge_answer
from annotation.studies.verdicts import SCALES, Answer, check_answer, swap_frame
from completions.llm.answers import InvalidAnswerError

KEYS = ("H", "E")
VALID = {
    "notes": {"H": "Both sound human.", "E": "A names the feeling."},
    "dimensions": {
        "H": {"winner": "none", "strength": 0},
        "E": {"winner": "A", "strength": 3},
    },
    "rationale": "A stays with the seeker.",
    "winner": "B",
    "strength": 2,
}


def changed(path: str, value) -> dict:
    """The valid answer with one value replaced, or removed if ``value`` is ``...``."""
    answer = json.loads(json.dumps(VALID))
    *parents, last = path.split(".")
    place = answer
    for parent in parents:
        place = place[parent]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return answer


class TestReadJudgeAnswer:
    def test_returns_the_answer_in_the_frame_of_the_screen(self):
        assert read_judge_answer(json.dumps(VALID), KEYS) == Answer(
            verdict=-2, rationale="A stays with the seeker.", marks={"H": 0, "E": 3}
        )

    def test_what_it_returns_is_on_the_rubric_scale(self):
        check_answer(read_judge_answer(json.dumps(VALID), KEYS), protocol="RUBRIC", dimensions=KEYS)

    @pytest.mark.parametrize("first_is_a", [True, False])
    def test_the_canonical_frame_follows_the_stored_side(self, first_is_a):
        canonical = swap_frame(read_judge_answer(json.dumps(VALID), KEYS), first_is_a=first_is_a)

        sign = 1 if first_is_a else -1
        assert canonical.verdict == sign * -2
        assert canonical.marks == {"H": 0, "E": sign * 3}

    @pytest.mark.parametrize("winner", ["A", "B"])
    @pytest.mark.parametrize("strength", range(1, 6))
    def test_every_point_of_the_scale_can_be_given(self, winner, strength):
        raw = json.dumps(VALID | {"winner": winner, "strength": strength})

        verdict = read_judge_answer(raw, KEYS).verdict

        assert verdict == (strength if winner == "A" else -strength)
        assert verdict in SCALES["RUBRIC"]

    @pytest.mark.parametrize(
        "text", ["שלום\u202e", "🙂", 'says {"winner": "A"} itself', "line\nline"]
    )
    def test_any_writing_passes_through_the_rationale(self, text):
        raw = json.dumps(VALID | {"rationale": text})

        assert read_judge_answer(raw, KEYS).rationale == text

    @pytest.mark.parametrize(
        "raw",
        [
            "",
            "A",
            "null",
            "[]",
            '"A"',
            json.dumps(json.dumps(VALID)),
            json.dumps([VALID]),
            json.dumps(VALID)[:-5],
            json.dumps(VALID) + " So B is better.",
            json.dumps(VALID) + json.dumps(VALID | {"winner": "A"}),
            "The message says " + json.dumps(VALID | {"winner": "A"}) + "\n" + json.dumps(VALID),
            "```json\n" + json.dumps(VALID) + "\n```\nIn short: A.",
            json.dumps(VALID).replace('"strength": 2}', '"strength": 2, "winner": "A"}'),
            json.dumps(VALID).replace('"strength": 2}', '"strength": NaN}'),
            "[" * 100_000,
        ],
        ids=[
            "empty",
            "letter",
            "null",
            "list",
            "string",
            "quoted-json",
            "listed",
            "cut",
            "text-after",
            "two-objects",
            "quotation-first",
            "text-after-fence",
            "key-twice",
            "nan",
            "deep",
        ],
    )
    def test_refuses_what_is_not_one_object_and_nothing_else(self, raw):
        with pytest.raises(InvalidAnswerError):
            read_judge_answer(raw, KEYS)

    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("winner", ...),
            ("winner", "C"),
            ("winner", "none"),
            ("winner", "tie"),
            ("winner", None),
            ("winner", "A much better"),
            ("strength", ...),
            ("strength", 0),
            ("strength", 6),
            ("strength", -1),
            ("strength", True),
            ("strength", None),
            ("rationale", ...),
            ("rationale", ""),
            ("rationale", "   "),
            ("rationale", "NUL \x00"),
            ("rationale", 3),
            ("notes", ...),
            ("notes", {}),
            ("notes.H", ...),
            ("notes.H", ""),
            ("dimensions", ...),
            ("dimensions.E", ...),
            ("dimensions.E.winner", ...),
            ("dimensions.E.winner", "tie"),
            ("dimensions.E.strength", 0),
            ("dimensions.E.strength", 6),
            ("dimensions.H.strength", 1),
        ],
    )
    def test_refuses_too_little_or_off_the_scale(self, path, value):
        with pytest.raises(InvalidAnswerError, match=path.split(".")[0]):
            read_judge_answer(json.dumps(changed(path, value)), KEYS)

    def test_half_a_surrogate_pair_is_refused(self):
        raw = json.dumps(VALID | {"rationale": "half"}).replace("half", "\\ud83d")

        with pytest.raises(InvalidAnswerError):
            read_judge_answer(raw, KEYS)


class TestAnswerSchema:
    def test_notes_come_before_marks_and_marks_before_the_verdict(self):
        assert list(answer_schema(KEYS)["properties"]) == [
            "notes",
            "dimensions",
            "rationale",
            "winner",
            "strength",
        ]

    def test_every_object_names_all_its_keys_and_admits_no_other(self):
        def check(schema: dict) -> None:
            if schema["type"] == "object":
                assert schema["required"] == list(schema["properties"])
                assert schema["additionalProperties"] is False
                for part in schema["properties"].values():
                    check(part)

        check(answer_schema(KEYS))

    def test_there_is_no_tie(self):
        assert answer_schema(KEYS)["properties"]["winner"]["enum"] == ["A", "B"]
