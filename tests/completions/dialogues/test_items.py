"""The benchmark authors' items: their roles, refused guesses, and the contexts they become."""

from itertools import permutations

import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from access.models import LogEntry
from completions.choices import Stratum, SystemKind
from completions.contexts.services.building import build_contexts
from completions.dialogues.importing import StratumError, import_dialogues
from completions.dialogues.ingest.dialogue import (
    BadRecord,
    FixedContext,
    IngestError,
    ParsedDialogue,
)
from completions.dialogues.ingest.files import read_dialogues
from completions.models import Completion, Context, Dataset, Dialogue, System
from tests.helpers.datasets import HISTORY, SPELLINGS, item, native, parse_record, write_array
from tests.helpers.factories import NOW

REPLY = "Silence after a funeral hurts twice. What would you ask him?"
MORE = [*HISTORY, REPLY, "Why he left me alone with the house."]


def read(tmp_path, *items):
    return list(read_dialogues(write_array(tmp_path / "items.json", items)))


def roles(dialogue):
    return [turn.role for turn in dialogue.turns]


class TestRoles:
    @given(n_turns=st.integers(2, 30))
    def test_alternate_whatever_the_length(self, n_turns):
        history = [f"Turn {n}." for n in range(n_turns)]

        parsed = parse_record(item(dialogue_history=history, vanilla_completion=None), 1)

        assert roles(parsed) == [
            "seeker" if (n_turns - n) % 2 else "supporter" for n in range(n_turns)
        ]

    @pytest.mark.parametrize("spelling", SPELLINGS)
    def test_are_as_named_in_any_spelling(self, spelling):
        names = SPELLINGS[spelling]
        speakers = [names[role] for role in ("seeker", "supporter", "supporter", "seeker")]

        parsed = parse_record(item(prev_speakers=speakers, vanilla_completion=None), 1)

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
            parse_record(item(dialogue_history=history), 1)
        parsed = parse_record(item(dialogue_history=history[:3]), 1)

        assert roles(parsed) == ["seeker", "supporter", "seeker", "supporter"]

    def test_texts_may_be_in_objects_without_them(self):
        history = [{"text": text} for text in HISTORY]

        assert parse_record(item(dialogue_history=history), 1) == (parse_record(item(), 1))


LEFT_OPEN = {
    "supporter last": (
        {"prev_speakers": ["seeker", "supporter"] * 2},
        ": the last turn of the history must be the seeker's",
    ),
    "lengths": ({"prev_speakers": ["supporter", "seeker"]}, ": 2 speakers are named for 4 turns"),
    "no names": ({"prev_speakers": []}, ": 0 speakers are named for 4 turns"),
    "unknown name": (
        {"prev_speakers": ["supporter", "seeker", "sys", "user"]},
        (
            ", utterance 4: prev_speakers: expected 'seeker', 'supporter', 'usr', 'sys', "
            "'speaker' or 'listener', found 'user'"
        ),
    ),
    "some named": (
        {"dialogue_history": [{"text": "Hi.", "role": "seeker"}, "Hello.", "Oh."]},
        ": 1 speakers are named for 3 turns",
    ),
    "named twice": (
        {
            "dialogue_history": ["Hi.", {"text": "Oh.", "role": "supporter"}],
            "prev_speakers": ["sys", "usr"],
        },
        ": prev_speakers and dialogue_history name different speakers",
    ),
    "no history": ({"dialogue_history": []}, ": the last turn of the history must be the seeker's"),
    "nobody answers": (
        {"dialogue_history": ["Hi."], "vanilla_completion": None},
        ": both a seeker and a supporter must speak",
    ),
    "empty turn": ({"dialogue_history": ["Hi.", " "]}, ", utterance 2: text: is empty"),
    "no word of speakers": ({"prev_speakers": ...}, ": prev_speakers: is missing"),
    "place": ({"turn": [4]}, ": turn: expected a whole number or a string"),
    "empty reply": ({"vanilla_completion": ""}, ": vanilla_completion: is empty"),
}


class TestItem:
    def test_is_a_point_of_its_dialogue(self):
        parsed = parse_record(item(turn=4), 1)

        assert parsed.points == (FixedContext(turn_index=3, reply=REPLY, turn=4),)
        assert (parsed.turns[-1].role, parsed.turns[-1].text) == ("supporter", REPLY)
        assert parsed.n_utterances == 5
        assert (parsed.emotion_type, parsed.problem_type) == ("sadness", "issues with family")
        assert parsed.source_labels == {
            "emotion_type": "sadness",
            "problem_type": "Issues with Family",
        }

    @pytest.mark.parametrize(
        ("change", "point"),
        [
            ({"turn": "4b"}, FixedContext(3, REPLY, "4b")),
            ({"turn": None}, FixedContext(3, REPLY, None)),
            ({"vanilla_completion": None}, FixedContext(3, None, 4)),
            ({"prev_speakers": ["sys", "sys", "usr", "usr"]}, FixedContext(1, REPLY, 4)),
        ],
        ids=["a place in words", "no place", "no reply", "merged turns"],
    )
    def test_may_come_otherwise(self, change, point):
        parsed = parse_record(item(**change), 1)

        assert parsed.points == (point,)
        assert len(parsed.turns) == point.turn_index + (2 if point.reply else 1)

    @pytest.mark.parametrize(("change", "message"), LEFT_OPEN.values(), ids=LEFT_OPEN)
    def test_that_leaves_something_open_is_a_bad_record(self, tmp_path, change, message):
        odd = {key: value for key, value in item(**change).items() if value is not ...}

        bad, good = read(tmp_path, item(), odd)

        assert str(bad) == f"item 2{message}"
        assert isinstance(good, ParsedDialogue)


class TestSharedDialogues:
    def test_are_found_where_items_go_on_from_one_another(self, tmp_path):
        history = [*MORE, "Take your time.", "I will."]
        middle = item(dialogue_history=MORE, turn=6, vanilla_completion="Take your time.")
        longest = item(dialogue_history=history, turn=8, vanilla_completion=None)

        (dialogue,) = read(tmp_path, longest, item(), middle)

        assert [turn.text for turn in dialogue.turns] == history
        assert dialogue.points == (
            FixedContext(3, REPLY, 4),
            FixedContext(5, "Take your time.", 6),
            FixedContext(7, None, 8),
        )

    @pytest.mark.parametrize(
        "change",
        [
            {"situation": "A house that is too big for one."},
            {"dialogue_history": [*HISTORY, "Tell me more.", MORE[-1]]},
            {"prev_speakers": ["usr", "sys", "usr", "usr", "sys", "usr"]},
        ],
        ids=["situation", "reply", "roles"],
    )
    def test_are_not_seen_where_something_differs(self, tmp_path, change):
        other = item(**{"dialogue_history": MORE} | change)

        assert [len(one.points) for one in read(tmp_path, item(), other)] == [1, 1]

    @pytest.mark.parametrize("twin", [item(), item(vanilla_completion=None)])
    def test_keep_an_item_given_twice_once_and_with_its_reply(self, tmp_path, twin):
        (dialogue,) = read(tmp_path, twin, item())

        assert dialogue.points == (FixedContext(3, REPLY, 4),)

    def test_refuse_a_second_reply_to_one_history(self, tmp_path):
        """A context has one original reply: the other must not be lost in silence."""
        found = read(tmp_path, item(), item(vanilla_completion="I am so sorry."), item())

        (dialogue,) = [one for one in found if isinstance(one, ParsedDialogue)]
        assert dialogue.points == (FixedContext(3, REPLY, 4),)
        assert found[0] == BadRecord(
            "item 2", "its history stands in item 1 already, with another reply"
        )

    def test_leave_the_order_of_the_file(self, tmp_path):
        firsts = [item(dialogue_history=[f"{n} {text}" for text in HISTORY]) for n in (3, 1, 2)]

        found = read(tmp_path, *firsts)

        assert [one.turns[0].text[0] for one in found] == ["3", "1", "2"]


LATER = item(
    dialogue_history=[*HISTORY, REPLY, "Why he left me with the house."],
    turn=6,
    vanilla_completion=None,
)
OTHER = item(
    dialogue_history=["Nobody at work talks to me.", "Since when?", "Since the new lead came."],
    emotion_type="anger",
    problem_type="job crisis",
    situation="A new lead.",
)


@pytest.fixture
def load(tmp_path):
    def _load(*items, stratum=Stratum.REGULAR, name="Items"):
        path = write_array(tmp_path / "items.json", items)
        records = read_dialogues(path)
        return import_dialogues(dataset_name=name, dialogues=records, now=NOW, stratum=stratum)

    return _load


@pytest.mark.django_db
class TestImportItems:
    def test_makes_a_context_of_each_with_its_reply_and_where_it_is_from(self, load):
        report = load(item(), LATER, OTHER)

        assert (report.n_dialogues, report.n_contexts, report.n_contexts_added) == (2, 3, 3)
        contexts = {one.turn_index: one for one in Context.objects.select_related("dialogue")}
        for context in contexts.values():
            assert context.turns == context.dialogue.turns[: context.turn_index + 1]
            assert context.turns[-1]["role"] == "seeker"
            assert context.slots_left == context.dataset.completions_per_context
        assert contexts[3].dialogue == contexts[5].dialogue != contexts[2].dialogue
        assert [contexts[n].turns[0]["role"] for n in (3, 2)] == ["supporter", "seeker"]
        assert contexts[3].provenance == {
            "dialogue": contexts[3].dialogue.content_hash,
            "turn_index": 3,
            "cell": ["sadness", "issues with family"],
            "published": {
                "turn": 4,
                "emotion_type": "sadness",
                "problem_type": "Issues with Family",
            },
        }
        replies = Completion.objects.values_list("context", "text", "system__name", "system__kind")
        original = (REPLY, "Original dataset", SystemKind.ORIGINAL)
        assert set(replies) == {(contexts[n].pk, *original) for n in (2, 3)}

    def test_adds_only_what_a_longer_file_has_more(self, load):
        load(item())

        longer, again = load(item(), LATER), load(item(), LATER)

        assert (longer.n_contexts, longer.n_contexts_added) == (2, 1)
        assert (again.n_contexts, again.n_contexts_added, again.n_added) == (2, 0, 0)
        assert (Context.objects.count(), Completion.objects.count()) == (2, 1)
        assert LogEntry.objects.count() == 2

    def test_leaves_room_for_contexts_that_are_built(self, load):
        load(item(), LATER)

        report = build_contexts(dataset_name="Items", n=2, seed=7, now=NOW)

        assert (report.n_added, report.n_contexts) == (0, 2)


@pytest.mark.django_db
class TestStratum:
    def test_is_adversarial_when_asked_for_and_claims_no_profile(self, load):
        load(item(), stratum=Stratum.ADVERSARIAL)

        context = Context.objects.get()
        assert context.stratum == Stratum.ADVERSARIAL
        assert (context.escalation_profile, context.source_context) == ("", None)
        assert load(item(), stratum=Stratum.ADVERSARIAL).n_contexts_added == 0
        assert load(item(), name="Others").n_contexts_added == 1

    @pytest.mark.parametrize(("first", "second"), [*permutations(Stratum)])
    def test_of_a_context_is_one(self, load, first, second):
        load(item(), stratum=first)

        had = f"items has one of these contexts already, as {first.lower()}"
        with pytest.raises(StratumError, match=had):
            load(OTHER, item(), stratum=second)

        assert Context.objects.count() == Dialogue.objects.count() == 1

    def test_cannot_be_adversarial_where_the_file_fixes_no_contexts(self, load):
        with pytest.raises(StratumError, match="only a file of items"):
            load(native(), stratum=Stratum.ADVERSARIAL)

        assert not Dataset.objects.exists()
        assert not System.objects.exists()


@pytest.mark.django_db
class TestCommand:
    def test_tells_of_contexts_and_their_stratum(self, tmp_path, capsys):
        path = write_array(tmp_path / "Hard items.json", [item(), LATER])

        call_command("contexts", "import", str(path), "--adversarial")

        assert capsys.readouterr().out == (
            "Hard items: 1 dialogues (1 new), 6 utterances, 6 turns, 2 couplets, "
            "2 contexts (2 new)\n"
        )
        assert Dataset.objects.get().slug == "hard-items"
        assert Context.objects.filter(stratum=Stratum.ADVERSARIAL).count() == 2
