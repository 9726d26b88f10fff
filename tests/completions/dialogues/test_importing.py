"""Dialogues are imported once, batch by batch, by the service and by its command."""

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from completions.dialogues import importing
from completions.dialogues.demo import DIALOGUES
from completions.dialogues.importing import DatasetNameError, import_dialogues
from completions.dialogues.ingest.dialogue import IngestError
from completions.dialogues.ingest.files import read_dialogues, strictly
from completions.models import Dataset, Dialogue
from tests.helpers.datasets import SEEKER, SUPPORTER, native, own, write_array, write_lines
from tests.helpers.factories import make_dataset

pytestmark = pytest.mark.django_db

ONE_SPEAKER = native((SEEKER, "Hi."), (SEEKER, "Is anybody there?"))
OTHER = native((SEEKER, "I failed again."), (SUPPORTER, "At what?"))


@pytest.fixture(scope="module")
def dialogues():
    return list(read_dialogues(DIALOGUES))


class TestImportDialogues:
    def test_stores_turns_roles_and_labels_and_counts_what_it_read(self, dialogues, now):
        report = import_dialogues(
            dataset_name="Demo set",
            dialogues=dialogues,
            now=now,
            licence="Apache-2.0",
            is_authored=True,
        )

        dataset = report.dataset
        row = dataset.dialogues.get(position=2)
        assert (dataset.slug, dataset.licence) == ("demo-set", "Apache-2.0")
        assert dataset.is_authored
        assert (row.emotion_type, row.problem_type) == ("sadness", "bereavement")
        assert row.source_labels["emotion_type"] == "sadness"
        assert [turn["role"] for turn in row.turns[:2]] == ["seeker", "supporter"]
        assert (row.n_utterances, row.imported_at) == (13, now)
        assert report.n_dialogues == report.n_added == 12
        assert (report.n_utterances, report.n_turns, report.n_couplets) == (150, 138, 66)

    def test_adds_and_logs_only_what_is_new_to_the_dataset(self, dialogues, now):
        def load(some, name="Demo"):
            return import_dialogues(dataset_name=name, dialogues=some, now=now).n_added

        assert load(dialogues[:1] * 2) == 1
        assert load(dialogues) == 11
        assert load(dialogues) == 0
        assert load(dialogues, "Other") == 12
        entries = LogEntry.objects.filter(action="dialogues.imported").order_by("pk")
        assert [(one.subject, one.after["added"]) for one in entries] == [
            ("dataset demo", 1),
            ("dataset demo", 11),
            ("dataset other", 12),
        ]

    def test_keeps_the_name_and_the_language_of_a_dialogue(self, tmp_path, now):
        path = write_lines(tmp_path / "own.jsonl", [own(id="clinic-7", language="de")])

        import_dialogues(dataset_name="Talks", dialogues=read_dialogues(path), now=now)

        row = Dialogue.objects.get()
        assert (row.source_id, row.language) == ("clinic-7", "de")

    @pytest.mark.parametrize(
        ("name", "message"),
        [("数据", "needs a Latin letter or a digit"), ("long " * 11, "more than 50 characters")],
    )
    def test_refuses_a_name_without_an_address(self, dialogues, now, name, message):
        with pytest.raises(DatasetNameError, match=message):
            import_dialogues(dataset_name=name, dialogues=dialogues, now=now)

    def test_costs_a_fixed_number_of_queries(self, dialogues, now, django_assert_max_num_queries):
        make_dataset(slug="demo")

        # Savepoint in and out, dataset and lock, what it has, one batch (SQLite may cut it), log.
        with django_assert_max_num_queries(10):
            import_dialogues(dataset_name="demo", dialogues=dialogues, now=now)


class TestBadRecordsOfAnImport:
    def test_are_skipped_counted_and_logged(self, tmp_path, now):
        path = write_array(tmp_path / "talks.json", [native(), ONE_SPEAKER, "words", OTHER])

        report = import_dialogues(dataset_name="Talks", dialogues=read_dialogues(path), now=now)

        assert (report.n_dialogues, report.n_added, report.n_skipped) == (2, 2, 2)
        assert [str(one) for one in report.bad] == [
            "dialogue 2: both a seeker and a supporter must speak",
            "dialogue 3: expected an object",
        ]
        assert LogEntry.objects.get().after["skipped"] == 2
        assert set(Dialogue.objects.values_list("position", flat=True)) == {0, 3}

    @pytest.mark.parametrize("at", [0, 2])
    def test_end_a_strict_import_with_nothing_written(self, tmp_path, monkeypatch, now, at):
        monkeypatch.setattr(importing, "BATCH", 1)
        records = [native(), OTHER]
        records.insert(at, ONE_SPEAKER)
        path = write_array(tmp_path / "talks.json", records)

        with pytest.raises(IngestError, match=f"dialogue {at + 1}: both"):
            import_dialogues(
                dataset_name="Talks", dialogues=strictly(read_dialogues(path)), now=now
            )

        assert not Dataset.objects.exists()
        assert not Dialogue.objects.exists()
        assert not LogEntry.objects.exists()


class TestBatches:
    @pytest.mark.parametrize("size", [1, 5])
    def test_hold_the_same_dialogues_whatever_their_size(self, monkeypatch, dialogues, now, size):
        monkeypatch.setattr(importing, "BATCH", size)

        report = import_dialogues(dataset_name="Demo", dialogues=[*dialogues * 2], now=now)

        assert (report.n_dialogues, report.n_added) == (24, 12)
        positions = Dialogue.objects.values_list("position", flat=True)
        assert sorted(positions) == list(range(12))

    def test_are_stored_before_the_next_is_read(self, monkeypatch, dialogues, now):
        monkeypatch.setattr(importing, "BATCH", 4)
        stored = []

        def read():
            for dialogue in dialogues:
                stored.append(Dialogue.objects.count())
                yield dialogue

        import_dialogues(dataset_name="Demo", dialogues=read(), now=now)

        assert stored == [0] * 4 + [4] * 4 + [8] * 4


class TestImportCommand:
    def test_names_the_dataset_after_the_file(self, capsys):
        call_command("contexts", "import", str(DIALOGUES))

        said = capsys.readouterr().out
        assert said.startswith("dialogues: 12 dialogues (12 new), 150 utterances")
        assert Dataset.objects.get().slug == "dialogues"

    def test_tells_bad_records_on_standard_error_and_counts_them(self, tmp_path, capsys):
        path = write_lines(tmp_path / "talks.jsonl", [native(), ONE_SPEAKER])

        call_command("contexts", "import", str(path))

        said = capsys.readouterr()
        assert said.out == (
            "talks: 1 dialogues (1 new), 4 utterances, 3 turns, 1 couplets, 1 skipped\n"
        )
        assert said.err.splitlines()[1:] == [
            "dialogue 2 (line 2): both a seeker and a supporter must speak; skipped"
        ]

    def test_tells_at_most_twenty_of_them(self, tmp_path, capsys):
        path = write_lines(tmp_path / "talks.jsonl", [native(), *[ONE_SPEAKER] * 23])

        call_command("contexts", "import", str(path))

        told = [line for line in capsys.readouterr().err.splitlines() if "skipped" in line]
        assert len(told) == 21
        assert told[-1] == "and 3 more bad records; skipped"

    def test_tells_what_stands_twice_and_stores_it_once(self, tmp_path, capsys):
        seeker, supporter = ("seeker", "The caf\u00e9 is closed."), ("supporter", "Oh no.")
        twin = ("seeker", "The cafe\u0301 is closed.")
        other = ("seeker", "The cinema is closed.")
        dialogues = [
            own(seeker, supporter, id="one"),
            own(seeker, supporter, id="two"),
            own(twin, supporter, id="three"),
            own(other, supporter, id="one"),
        ]
        path = write_lines(tmp_path / "talks.jsonl", dialogues)

        call_command("contexts", "import", str(path))

        said = capsys.readouterr()
        assert "4 dialogues (3 new)" in said.out
        assert "3 repeated" in said.out
        assert said.err.splitlines()[1:] == [
            "dialogue 2 is dialogue 1: stored once",
            "dialogue 3 reads like dialogue 1 and is spelled in other signs: both are stored",
            "dialogue 4 has the id of dialogue 1: both are stored",
        ]

    @pytest.mark.parametrize(
        ("records", "options", "message"),
        [
            (None, (), "cannot be read: No such file or directory"),
            ([ONE_SPEAKER], (), "no dialogue that can be used; dialogue 1 .line 1.: both"),
            ([native(), ONE_SPEAKER], ("--strict",), "dialogue 2 .line 2.: both"),
            ([native()], ("--adversarial",), "only a file of items"),
        ],
        ids=["no file", "all bad", "one bad when strict", "no items"],
    )
    def test_refuses_with_code_2_and_writes_nothing(self, tmp_path, records, options, message):
        path = tmp_path / "talks.jsonl"
        if records is not None:
            write_lines(path, records)

        with pytest.raises(CommandError, match=message) as caught:
            call_command("contexts", "import", str(path), *options)

        assert caught.value.returncode == 2
        assert not Dataset.objects.exists()
