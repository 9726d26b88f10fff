"""The benchmark authors' items become contexts at once, with their replies."""

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from completions.choices import Stratum, SystemKind
from completions.contexts.services.building import build_contexts
from completions.dialogues import ingest
from completions.dialogues.importing import StratumError, import_dialogues
from completions.models import Completion, Context, Dataset, Dialogue, System
from tests.helpers.datasets import HISTORY, item, native, write_array
from tests.helpers.factories import NOW

pytestmark = pytest.mark.django_db

REPLY = item()["vanilla_completion"]
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
        records = ingest.read_dialogues(path)
        return import_dialogues(dataset_name=name, dialogues=records, now=NOW, stratum=stratum)

    return _load


class TestImportItems:
    def test_makes_a_context_of_each(self, load):
        report = load(item(), LATER, OTHER)

        assert (report.n_dialogues, report.n_contexts, report.n_contexts_added) == (2, 3, 3)
        for context in Context.objects.select_related("dialogue", "dataset"):
            assert context.turns == context.dialogue.turns[: context.turn_index + 1]
            assert context.turns[-1]["role"] == "seeker"
            assert context.slots_left == context.dataset.completions_per_context

    def test_keeps_items_of_one_dialogue_in_one(self, load):
        load(item(), LATER, OTHER)

        shared = Context.objects.filter(dialogue__emotion_type="sadness")
        assert sorted(shared.values_list("turn_index", flat=True)) == [3, 5]
        assert len(set(shared.values_list("dialogue", flat=True))) == 1

    def test_begins_with_whom_the_history_begins(self, load):
        load(item(), OTHER)

        roles = {
            context.provenance["published"]["emotion_type"]: [one["role"] for one in context.turns]
            for context in Context.objects.all()
        }
        assert roles == {
            "sadness": ["supporter", "seeker", "supporter", "seeker"],
            "anger": ["seeker", "supporter", "seeker"],
        }

    def test_keeps_the_reply_as_the_original_completion(self, load):
        load(item(), LATER)

        completion = Completion.objects.select_related("context", "system").get()
        assert (completion.text, completion.context.turn_index) == (REPLY, 3)
        assert (completion.system.kind, completion.system.name) == (
            SystemKind.ORIGINAL,
            "Original dataset",
        )

    def test_says_where_a_context_is_from(self, load):
        load(item(turn=4))

        context = Context.objects.select_related("dialogue").get()
        assert context.provenance == {
            "dialogue": context.dialogue.content_hash,
            "turn_index": 3,
            "cell": ["sadness", "issues with family"],
            "published": {
                "turn": 4,
                "emotion_type": "sadness",
                "problem_type": "Issues with Family",
            },
        }

    def test_adds_nothing_when_repeated(self, load):
        load(item(), LATER, OTHER)

        again = load(item(), LATER, OTHER)

        assert (again.n_contexts, again.n_contexts_added, again.n_added) == (3, 0, 0)
        assert (Context.objects.count(), Completion.objects.count()) == (3, 2)
        assert LogEntry.objects.count() == 1

    def test_adds_what_a_longer_file_has_more(self, load):
        load(item())

        report = load(item(), OTHER)

        assert report.n_contexts_added == 1

    def test_makes_no_second_context_of_what_another_file_cut_shorter(self, load):
        load(item())

        report = load(item(), LATER)

        assert report.n_contexts_added == 1
        assert Context.objects.count() == 2

    def test_leaves_room_for_contexts_that_are_built(self, load):
        load(item(), LATER)

        report = build_contexts(dataset_name="Items", n=2, seed=7, now=NOW)

        assert (report.n_added, report.n_contexts) == (0, 2)


class TestStratum:
    def test_is_adversarial_when_asked_for_and_claims_no_profile(self, load):
        load(item(), stratum=Stratum.ADVERSARIAL)

        context = Context.objects.get()
        assert context.stratum == Stratum.ADVERSARIAL
        assert (context.escalation_profile, context.source_context) == ("", None)
        assert load(item(), stratum=Stratum.ADVERSARIAL).n_contexts_added == 0

    def test_may_differ_between_datasets(self, load):
        load(item(), stratum=Stratum.ADVERSARIAL)
        load(item(), name="Others")

        assert set(Context.objects.values_list("stratum", flat=True)) == set(Stratum.values)

    @pytest.mark.parametrize(
        ("first", "second", "had"),
        [
            (Stratum.REGULAR, Stratum.ADVERSARIAL, "as regular"),
            (Stratum.ADVERSARIAL, Stratum.REGULAR, "as adversarial"),
        ],
    )
    def test_of_a_context_is_one(self, load, first, second, had):
        load(item(), stratum=first)

        with pytest.raises(StratumError, match=f"items has one of these contexts already, {had}"):
            load(OTHER, item(), stratum=second)

        assert Context.objects.count() == Dialogue.objects.count() == 1

    def test_cannot_be_adversarial_where_the_file_fixes_no_contexts(self, load):
        with pytest.raises(StratumError, match="only a file of items"):
            load(native(), stratum=Stratum.ADVERSARIAL)

        assert not Dataset.objects.exists()


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

    def test_refuses_to_call_dialogues_adversarial(self, tmp_path):
        path = write_array(tmp_path / "talks.json", [native()])

        with pytest.raises(CommandError, match="only a file of items") as caught:
            call_command("contexts", "import", str(path), "--adversarial")

        assert caught.value.returncode == 2
        assert not System.objects.exists()
