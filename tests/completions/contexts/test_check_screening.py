"""``contexts check-screening``, from a file of dialogues to the table."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from completions.contexts.screening import checking
from completions.dialogues import ingest

DIALOGUE = [
    ("seeker", "Hello, I have never done this."),
    ("supporter", "Welcome. What happened?"),
    ("seeker", "My sister moved out in May and I feel so lonely in that big flat of ours."),
    ("supporter", "That sounds quiet."),
    ("seeker", "It is, and every evening I lay two plates and then put one away."),
    ("supporter", "One plate too many."),
]


@pytest.fixture
def dialogues(tmp_path):
    path = tmp_path / "dialogues.json"
    utterances = [{"speaker": speaker, "content": text} for speaker, text in DIALOGUE]
    path.write_text(json.dumps([{"dialog": utterances, "situation": "A move."}]))
    return path


@pytest.fixture
def dialogue(dialogues):
    (one,) = ingest.read_dialogues(dialogues)
    assert isinstance(one, ingest.ParsedDialogue)
    return one.content_hash[: checking.PREFIX]


def check(*arguments):
    out = io.StringIO()
    call_command("contexts", "check-screening", *map(str, arguments), stdout=out)
    return out.getvalue()


def labels(tmp_path, *lines):
    path = tmp_path / "labels.csv"
    path.write_text("\n".join([",".join(checking.FIELDS), *lines, ""]))
    return path


class TestCheckScreening:
    def test_prints_precision_recall_and_disagreements_without_any_text(
        self, dialogues, dialogue, tmp_path
    ):
        file = labels(tmp_path, f"{dialogue},2,distress,,yes,yes", f"{dialogue},4,distress,,yes,no")

        printed = check("--dialogues", dialogues, "--file", file)

        assert "suitable            1      0       1  1.00 (0.21-1.00) of 1" in printed
        assert f"suitable, reader only: {dialogue}:4" in printed
        assert "lonely" not in printed

    def test_draws_a_sample_by_index(self, dialogues, dialogue):
        drawn = check("--dialogues", dialogues, "--draw", 2).split()
        rest = check("--dialogues", dialogues, "--draw", 2, "--after", 2).split()

        assert sorted(drawn + rest) == [f"{dialogue}:{turn}" for turn in (0, 2, 4)]

    def test_refuses_labels_of_other_dialogues(self, dialogues, tmp_path):
        file = labels(tmp_path, f"{'0' * 16},2,,,no,yes")

        with pytest.raises(CommandError, match="are not in the dialogues"):
            check("--dialogues", dialogues, "--file", file)

    def test_refuses_a_file_that_holds_no_labels(self, dialogues, tmp_path):
        with pytest.raises(CommandError, match="cannot be read"):
            check("--dialogues", dialogues, "--file", tmp_path / "none.csv")

    @pytest.mark.parametrize("after", ["-1", "x"])
    def test_refuses_a_draw_from_nowhere(self, dialogues, after):
        with pytest.raises(CommandError):
            check("--dialogues", dialogues, "--draw", 2, f"--after={after}")
