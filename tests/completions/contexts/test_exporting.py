"""Contexts leave as JSON lines that are the same wherever they are written."""

import hashlib
import json

import pytest
from django.core.management import CommandError, call_command

from completions.choices import Review
from completions.contexts.queries import context_lines
from tests.helpers.factories import (
    TURNS,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    return make_dataset(slug="talks", name="Talks", licence="CC0")


def context_of(dataset, **fields):
    return make_context(dialogue=make_dialogue(dataset=dataset), **fields)


def rows(dataset, **options):
    return [json.loads(line) for line in context_lines(dataset, **options)]


class TestLines:
    def test_hold_the_context_and_where_it_is_from_without_replies_or_notes(self, dataset):
        dialogue = make_dialogue(
            dataset=dataset,
            content_hash="d" * 64,
            emotion_type="sadness",
            problem_type="job crisis",
            situation="Lost a job — again.",
        )
        context = make_context(
            dialogue=dialogue,
            key="k1",
            turn_index=2,
            content_hash="c" * 64,
            provenance={"seed": 7},
            review_note="Reminds me of my neighbour.",
        )
        make_completion(context=context)

        assert rows(dataset) == [
            {
                "key": "k1",
                "content_hash": "c" * 64,
                "dataset": "Talks",
                "licence": "CC0",
                "stratum": "REGULAR",
                "escalation_profile": "",
                "source_context": None,
                "is_simulated": False,
                "review": "PENDING",
                "language": "en",
                "emotion_type": "sadness",
                "problem_type": "job crisis",
                "situation": "Lost a job — again.",
                "dialogue": "d" * 64,
                "turn_index": 2,
                "turns": TURNS,
                "provenance": {"seed": 7},
            }
        ]

    def test_name_the_source_of_a_rewrite_and_whether_it_is_simulated(self, dataset, make_hostile):
        make_hostile(context_of(dataset, key="b"), key="a")

        regular, hostile = rows(dataset)

        assert (regular["key"], hostile["key"]) == ("b", "a")
        assert hostile["source_context"] == "b"
        assert hostile["escalation_profile"] == "MID_SPIKE"
        assert hostile["is_simulated"] is True

    def test_leave_out_what_a_reviewer_dropped_unless_asked(self, dataset):
        for key, review in (("c", Review.KEPT), ("b", Review.DROPPED), ("a", Review.PENDING)):
            context_of(dataset, key=key, review=review)
        make_context()  # of another dataset

        assert [row["key"] for row in rows(dataset)] == ["a", "c"]
        assert [row["key"] for row in rows(dataset, with_dropped=True)] == ["a", "b", "c"]

    def test_take_one_query_however_many_there_are(self, dataset, django_assert_max_num_queries):
        for _ in range(5):
            context_of(dataset)

        with django_assert_max_num_queries(1):
            assert len(rows(dataset)) == 5


class TestCommand:
    def test_writes_the_same_bytes_twice_and_names_them(self, dataset, tmp_path):
        context_of(dataset, key="a")
        first, second, usual = (tmp_path / name for name in ("first", "second", "usual"))
        usual.touch()

        said = call_command("contexts", "export", "--dataset", "Talks", "--output", str(first))
        call_command("contexts", "export", "--dataset", "talks", "--output", str(second))

        assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_mode == usual.stat().st_mode  # others may read it as any file
        digest = hashlib.sha256(first.read_bytes()).hexdigest()
        assert said == f"{first}: 1 contexts of Talks, SHA-256 {digest}"

    def test_writes_to_standard_output_without_a_file(self, dataset, capsys):
        context_of(dataset, key="a")

        call_command("contexts", "export", "--dataset", "talks")

        out, err = capsys.readouterr()
        assert [json.loads(line)["key"] for line in out.splitlines()] == ["a"]
        assert err == "1 contexts\n"

    def test_leaves_an_older_file_alone_when_it_fails(self, dataset, tmp_path, monkeypatch):
        context_of(dataset)
        file = tmp_path / "contexts.jsonl"
        file.write_text("what was there\n")
        monkeypatch.setattr("os.fsync", _full_disk)

        with pytest.raises(CommandError, match="No space left"):
            call_command("contexts", "export", "--dataset", "talks", "--output", str(file))

        assert file.read_text() == "what was there\n"
        assert [path.name for path in tmp_path.iterdir()] == ["contexts.jsonl"]


def _full_disk(_file):
    raise OSError(28, "No space left on device")
