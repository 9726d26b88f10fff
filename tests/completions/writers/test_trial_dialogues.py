"""The trial dialogues that ship, and what a set of trial dialogues must be."""

import pytest

from completions.contexts import screening
from completions.dialogues.normaliser import plain
from completions.writers import vetting
from completions.writers.vetting import VettingError

SHIPPED = vetting.load_vetting_set()
DIALOGUES = [pytest.param(dialogue, id=dialogue.key) for dialogue in SHIPPED.talks]
RUDE = ("rubbish", "leaflet")

MINIMAL = """
name = "own"
version = "1"
[[talks]]
key = "one"
turns = [
  { role = "seeker", text = "I'm sad." },
  { role = "supporter", text = "What is it?" },
  { role = "seeker", text = "The rain." },
]
"""


class TestShippedSet:
    def test_has_three_dialogues(self):
        assert [len(dialogue.turns) for dialogue in SHIPPED.talks] == [3, 5, 5]

    def test_never_changes_once_published(self):
        assert SHIPPED.sha256 == (
            "b1c56e2d43716aef56544cb57af8e2e909329d4f11096d908461e6036f9b178c"
        )

    def test_lets_one_seeker_be_rude(self):
        said = [" ".join(turn.text for turn in dialogue.turns) for dialogue in SHIPPED.talks]

        assert sum(all(word in text for word in RUDE) for text in said) == 1

    @pytest.mark.parametrize("dialogue", DIALOGUES)
    def test_is_shown_as_it_is_written(self, dialogue):
        for turn in dialogue.turns:
            assert plain(turn.text) == turn.text
            assert turn.text.isascii()

    @pytest.mark.parametrize("dialogue", DIALOGUES)
    def test_holds_nothing_that_screening_would_remove(self, dialogue):
        for turn in dialogue.turns:
            assert screening.disqualifying(turn.text, language="en") == []


class TestOwnSet:
    def test_is_read(self):
        found = vetting.parse_vetting_set(MINIMAL, source="own.toml")

        assert (found.reference, len(found.talks)) == ("own-1", 1)

    @pytest.mark.parametrize(
        ("old", "new", "problem"),
        [
            ('name = "own"', "name = ", "not valid TOML"),
            ('version = "1"', "", "version: Field required"),
            ('key = "one"', 'key = "One!"', "talks.0.key: String should match"),
            ('key = "one"', 'key = "one"\nmood = "low"', "talks.0.mood: Extra inputs"),
            ('"supporter"', '"helper"', "talks.0.turns.1.role: Input should be"),
            ('"supporter"', '"seeker"', "talks.0: turns must alternate"),
            ('{ role = "seeker", text = "I\'m sad." },', "", "turns: Tuple should have at least 3"),
            (
                '{ role = "seeker", text = "The rain." },',
                '{ role = "seeker", text = "So." }, { role = "supporter", text = "Oh." },',
                "talks.0: the last turn must be the seeker's",
            ),
        ],
    )
    def test_is_refused_with_file_field_and_reason(self, old, new, problem):
        assert old in MINIMAL

        with pytest.raises(VettingError) as refused:
            vetting.parse_vetting_set(MINIMAL.replace(old, new), source="own.toml")

        assert str(refused.value).startswith("own.toml: ")
        assert problem in str(refused.value)

    @pytest.mark.parametrize(("key", "what"), [("one", "key"), ("two", "dialogue")])
    def test_may_not_hold_a_dialogue_twice(self, key, what):
        head, dialogue = MINIMAL.split("[[talks]]")
        twice = "[[talks]]".join([head, dialogue, dialogue.replace('"one"', f'"{key}"')])

        with pytest.raises(VettingError, match=f"every {what} may be used once"):
            vetting.parse_vetting_set(twice, source="own.toml")

    def test_that_does_not_ship_is_not_found(self):
        with pytest.raises(
            VettingError, match='no set of trial conversations "other-1"; known are heart-1'
        ):
            vetting.load_vetting_set("other-1")
