"""The benchmark authors' items: right roles, refused guesses, and dialogues that they share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.dialogues import ingest
from completions.dialogues.ingest import BadRecord, FixedContext, IngestError, ParsedDialogue
from tests.helpers.datasets import HISTORY, SPELLINGS, item, write_array

REPLY = "Silence after a funeral hurts twice. What would you ask him?"
MORE = [
    *HISTORY,
    REPLY,
    "Why he left me alone with the house.",
]


def read(tmp_path, *items):
    return list(ingest.read_dialogues(write_array(tmp_path / "items.json", items)))


def roles(dialogue):
    return [turn.role for turn in dialogue.turns]


class TestRoles:
    def test_alternate_back_from_the_seekers_last_turn_where_nobody_is_named(self):
        parsed = ingest.parse_record(item(vanilla_completion=None), 1)

        assert roles(parsed) == ["supporter", "seeker", "supporter", "seeker"]
        assert [turn.text for turn in parsed.turns] == HISTORY

    @given(n_turns=st.integers(2, 30))
    def test_alternate_whatever_the_length(self, n_turns):
        history = [f"Turn {n}." for n in range(n_turns)]

        parsed = ingest.parse_record(item(dialogue_history=history, vanilla_completion=None), 1)

        assert roles(parsed) == [
            "seeker" if (n_turns - n) % 2 else "supporter" for n in range(n_turns)
        ]

    @pytest.mark.parametrize("spelling", SPELLINGS)
    def test_are_as_named_in_any_spelling(self, spelling):
        names = SPELLINGS[spelling]
        speakers = [names[role] for role in ("seeker", "supporter", "supporter", "seeker")]

        parsed = ingest.parse_record(item(prev_speakers=speakers, vanilla_completion=None), 1)

        assert [(turn.role, turn.text) for turn in parsed.turns] == [
            ("seeker", HISTORY[0]),
            ("supporter", f"{HISTORY[1]} {HISTORY[2]}"),
            ("seeker", HISTORY[3]),
        ]

    @pytest.mark.parametrize("key", ["speaker", "role"])
    def test_may_stand_beside_each_text(self, key):
        history = [
            {"text": text, key: role}
            for role, text in zip(["seeker", "supporter"] * 2, HISTORY, strict=True)
        ]

        with pytest.raises(IngestError, match="the last turn of the history must be the seeker's"):
            ingest.parse_record(item(dialogue_history=history), 1)
        parsed = ingest.parse_record(item(dialogue_history=history[:3]), 1)

        assert roles(parsed) == ["seeker", "supporter", "seeker", "supporter"]

    def test_texts_may_be_in_objects_without_them(self):
        history = [{"text": text} for text in HISTORY]

        assert ingest.parse_record(item(dialogue_history=history), 1) == (
            ingest.parse_record(item(), 1)
        )


class TestItem:
    def test_is_a_point_of_its_dialogue(self):
        parsed = ingest.parse_record(item(turn=4), 1)

        assert parsed.points == (FixedContext(turn_index=3, reply=REPLY, turn=4),)
        assert (parsed.turns[-1].role, parsed.turns[-1].text) == ("supporter", REPLY)
        assert parsed.n_utterances == 5
        assert (parsed.emotion_type, parsed.problem_type) == ("sadness", "issues with family")
        assert parsed.source_labels == {
            "emotion_type": "sadness",
            "problem_type": "Issues with Family",
        }

    def test_points_into_merged_turns(self):
        speakers = ["supporter", "supporter", "seeker", "seeker"]

        parsed = ingest.parse_record(item(prev_speakers=speakers), 1)

        assert [point.turn_index for point in parsed.points] == [1]

    @pytest.mark.parametrize("place", [4, "4b", None])
    def test_keeps_what_the_authors_call_its_place(self, place):
        assert ingest.parse_record(item(turn=place), 1).points[0].turn == place

    def test_may_have_no_reply(self):
        parsed = ingest.parse_record(item(vanilla_completion=None), 1)

        assert parsed.points == (FixedContext(turn_index=3, reply=None, turn=4),)
        assert len(parsed.turns) == 4

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            pytest.param(
                {"prev_speakers": ["seeker", "supporter", "seeker", "supporter"]},
                "item 2: the last turn of the history must be the seeker's",
                id="supporter last",
            ),
            pytest.param(
                {"prev_speakers": ["supporter", "seeker"]},
                "item 2: 2 speakers are named for 4 turns",
                id="lengths",
            ),
            pytest.param(
                {"prev_speakers": []}, "item 2: 0 speakers are named for 4 turns", id="no names"
            ),
            pytest.param(
                {"prev_speakers": ["supporter", "seeker", "sys", "user"]},
                "item 2, utterance 4: prev_speakers: expected 'seeker', 'supporter', 'usr', 'sys', "
                "'speaker' or 'listener', found 'user'",
                id="unknown name",
            ),
            pytest.param(
                {"dialogue_history": [{"text": "Hi.", "role": "seeker"}, "Hello.", "Oh."]},
                "item 2: 1 speakers are named for 3 turns",
                id="some named",
            ),
            pytest.param(
                {
                    "dialogue_history": ["Hi.", {"text": "Oh.", "role": "supporter"}],
                    "prev_speakers": ["sys", "usr"],
                },
                "item 2: prev_speakers and dialogue_history name different speakers",
                id="named twice",
            ),
            pytest.param(
                {"dialogue_history": []},
                "item 2: the last turn of the history must be the seeker's",
                id="no history",
            ),
            pytest.param(
                {"dialogue_history": ["Hi."], "vanilla_completion": None},
                "item 2: both a seeker and a supporter must speak",
                id="nobody answers",
            ),
            pytest.param(
                {"dialogue_history": ["Hi.", " "]},
                "item 2, utterance 2: text: is empty",
                id="empty turn",
            ),
            pytest.param(
                {"turn": [4]}, "item 2: turn: expected a whole number or a string", id="place"
            ),
            pytest.param(
                {"vanilla_completion": ""}, "item 2: vanilla_completion: is empty", id="empty reply"
            ),
        ],
    )
    def test_that_leaves_something_open_is_a_bad_record(self, tmp_path, change, message):
        bad, good = read(tmp_path, item(), item(**change))

        assert str(bad) == message
        assert isinstance(good, ParsedDialogue)

    def test_must_say_whether_speakers_are_named(self, tmp_path):
        silent = item()
        del silent["prev_speakers"]

        bad, _ = read(tmp_path, item(), silent)

        assert bad == BadRecord("item 2", "prev_speakers: is missing")


class TestSharedDialogues:
    def test_are_found_where_one_item_goes_on_from_another(self, tmp_path):
        later = item(dialogue_history=MORE, turn=6, vanilla_completion="Take your time.")

        (dialogue,) = read(tmp_path, later, item())

        assert [turn.text for turn in dialogue.turns] == [*MORE, "Take your time."]
        assert dialogue.points == (FixedContext(3, REPLY, 4), FixedContext(5, "Take your time.", 6))

    def test_are_found_through_several_items(self, tmp_path):
        middle = item(dialogue_history=MORE, vanilla_completion="Take your time.")
        longest = item(dialogue_history=[*MORE, "Take your time.", "I will."])

        (dialogue,) = read(tmp_path, item(), longest, middle)

        assert [point.turn_index for point in dialogue.points] == [3, 5, 7]

    def test_are_not_seen_in_another_situation(self, tmp_path):
        other = item(dialogue_history=MORE, situation="A house that is too big for one.")

        assert [len(one.points) for one in read(tmp_path, item(), other)] == [1, 1]

    def test_are_not_seen_where_another_reply_followed(self, tmp_path):
        other = item(dialogue_history=[*HISTORY, "Tell me more.", MORE[-1]])

        assert [len(one.points) for one in read(tmp_path, item(), other)] == [1, 1]

    def test_are_not_seen_where_the_roles_differ(self, tmp_path):
        swapped = ["usr", "sys", "usr", "usr", "sys", "usr"]
        other = item(dialogue_history=MORE, prev_speakers=swapped)

        assert [len(one.points) for one in read(tmp_path, item(), other)] == [1, 1]

    def test_keep_an_item_given_twice_once(self, tmp_path):
        (dialogue,) = read(tmp_path, item(), item())

        assert dialogue.points == (FixedContext(3, REPLY, 4),)

    def test_refuse_a_second_reply_to_one_history(self, tmp_path):
        """A context has one original reply: the other must not be lost in silence."""
        found = read(tmp_path, item(), item(vanilla_completion="I am so sorry."), item())

        (dialogue,) = [one for one in found if isinstance(one, ParsedDialogue)]
        assert dialogue.points == (FixedContext(3, REPLY, 4),)
        assert found[0] == BadRecord(
            "item 2", "its history stands in item 1 already, with another reply"
        )

    def test_prefer_a_point_with_its_reply(self, tmp_path):
        (dialogue,) = read(tmp_path, item(), item(vanilla_completion=None))

        assert dialogue.points == (FixedContext(3, REPLY, 4),)

    def test_leave_the_order_of_the_file(self, tmp_path):
        firsts = [item(dialogue_history=[f"{n} {text}" for text in HISTORY]) for n in (3, 1, 2)]

        found = read(tmp_path, *firsts)

        assert [one.turns[0].text[0] for one in found] == ["3", "1", "2"]
