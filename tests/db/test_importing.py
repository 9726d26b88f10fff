import itertools
import json
import os
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings

from completions import ingest
from completions.demo import DIALOGUES
from completions.models import Context, Dataset, Dialogue, LogEntry
from completions.services import (
    DatasetNameError,
    build_contexts,
    import_dialogues,
    importing,
)
from tests.dialogue_files import (
    SEEKER,
    SUPPORTER,
    TALKS,
    failed,
    hub,
    native,
    own,
    write_array,
    write_lines,
)
from tests.factories import make_dataset
from tests.shared_data import REPOSITORY, shared_file

ONE_SPEAKER = native((SEEKER, "Hi."), (SEEKER, "Is anybody there?"))
OTHER = native((SEEKER, "I failed again."), (SUPPORTER, "At what?"))
ALL_BAD = json.dumps([ONE_SPEAKER]).encode()


@pytest.fixture(scope="module")
def dialogues():
    return list(ingest.read_dialogues(DIALOGUES))


@pytest.fixture
def imported(db, dialogues, now):
    return import_dialogues(dataset_name="Demo", dialogues=dialogues, now=now)


def build(now, n=24, seed=7, dataset="Demo"):
    return build_contexts(dataset_name=dataset, n=n, seed=seed, now=now)


@pytest.mark.django_db
class TestImportDialogues:
    def test_stores_turns_roles_and_labels(self, dialogues, now):
        report = import_dialogues(
            dataset_name="Demo set",
            dialogues=dialogues,
            now=now,
            licence="Apache-2.0",
            is_authored=True,
        )

        dataset = report.dataset
        row = dataset.dialogues.get(position=2)
        assert (dataset.slug, dataset.licence, dataset.is_authored) == (
            "demo-set",
            "Apache-2.0",
            True,
        )
        assert (row.emotion_type, row.problem_type) == ("sadness", "bereavement")
        assert row.source_labels["emotion_type"] == "sadness"
        assert [turn["role"] for turn in row.turns[:2]] == ["seeker", "supporter"]
        assert row.n_utterances == 13
        assert row.imported_at == now

    def test_counts_what_it_read(self, imported):
        assert imported.n_dialogues == imported.n_added == 12
        assert imported.n_utterances == 150
        assert imported.n_turns == 138
        assert imported.n_couplets == 66

    def test_adds_nothing_when_repeated(self, imported, dialogues, now):
        again = import_dialogues(dataset_name="Demo", dialogues=dialogues, now=now)

        assert again.dataset == imported.dataset
        assert again.n_added == 0
        assert imported.dataset.dialogues.count() == 12

    def test_adds_only_the_new_ones(self, dialogues, now):
        import_dialogues(dataset_name="Demo", dialogues=dialogues[:5], now=now)

        report = import_dialogues(dataset_name="Demo", dialogues=dialogues, now=now)

        assert report.n_added == 7

    def test_keeps_one_of_a_dialogue_given_twice(self, dialogues, now):
        report = import_dialogues(dataset_name="Demo", dialogues=dialogues[:1] * 2, now=now)

        assert report.n_added == 1

    def test_keeps_datasets_apart(self, imported, dialogues, now):
        other = import_dialogues(dataset_name="Other", dialogues=dialogues, now=now)

        assert other.n_added == 12

    def test_logs_once(self, imported, dialogues, now):
        import_dialogues(dataset_name="Demo", dialogues=dialogues, now=now)

        entry = LogEntry.objects.get(action="dialogues.imported")
        assert (entry.subject, entry.after["added"]) == ("dataset demo", 12)

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


@pytest.mark.django_db
class TestBadRecords:
    def test_are_skipped_counted_and_logged(self, tmp_path, now):
        path = write_array(tmp_path / "talks.json", [native(), ONE_SPEAKER, "words", OTHER])

        report = import_dialogues(
            dataset_name="Talks", dialogues=ingest.read_dialogues(path), now=now
        )

        assert (report.n_dialogues, report.n_added, report.n_skipped) == (2, 2, 2)
        assert [str(one) for one in report.bad] == [
            "dialogue 2: both a seeker and a supporter must speak",
            "dialogue 3: expected an object",
        ]
        assert LogEntry.objects.get().after["skipped"] == 2

    def test_leave_the_places_of_the_others(self, tmp_path, now):
        path = write_array(tmp_path / "talks.json", [native(), ONE_SPEAKER, OTHER])

        import_dialogues(dataset_name="Talks", dialogues=ingest.read_dialogues(path), now=now)

        assert set(Dialogue.objects.values_list("position", flat=True)) == {0, 2}

    @pytest.mark.parametrize("at", [0, 2])
    def test_end_a_strict_import_with_nothing_written(self, tmp_path, monkeypatch, now, at):
        monkeypatch.setattr(importing, "BATCH", 1)
        records = [native(), OTHER]
        records.insert(at, ONE_SPEAKER)
        path = write_array(tmp_path / "talks.json", records)

        with pytest.raises(ingest.IngestError, match=f"dialogue {at + 1}: both"):
            import_dialogues(
                dataset_name="Talks",
                dialogues=ingest.strictly(ingest.read_dialogues(path)),
                now=now,
            )

        assert not Dataset.objects.exists()
        assert not Dialogue.objects.exists()
        assert not LogEntry.objects.exists()


@pytest.mark.django_db
class TestBatches:
    @pytest.mark.parametrize("size", [1, 5, 12])
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

    def test_are_none_of_them_kept_when_reading_fails(self, monkeypatch, tmp_path, now):
        monkeypatch.setattr(importing, "BATCH", 1)
        path = write_array(tmp_path / "talks.json", [native(), OTHER])
        path.write_text(path.read_text(encoding="utf-8")[:-2] + ", oops]", encoding="utf-8")

        with pytest.raises(ingest.IngestError, match="Expecting value"):
            import_dialogues(dataset_name="Talks", dialogues=ingest.read_dialogues(path), now=now)

        assert not Dataset.objects.exists()


@pytest.mark.django_db
class TestSpellings:
    @pytest.mark.parametrize("spelled", [hub, failed, own])
    def test_of_a_dialogue_that_is_there_add_nothing(self, tmp_path, now, spelled):
        import_dialogues(
            dataset_name="Talks", dialogues=[ingest.parse_record(native(), 1)], now=now
        )
        path = write_lines(tmp_path / "again.jsonl", [spelled()])

        report = import_dialogues(
            dataset_name="Talks", dialogues=ingest.read_dialogues(path), now=now
        )

        assert (report.n_dialogues, report.n_added) == (1, 0)
        assert Dialogue.objects.count() == 1

    def test_of_our_own_keep_name_and_language(self, tmp_path, now):
        path = write_lines(tmp_path / "own.jsonl", [own(id="clinic-7", language="de")])

        import_dialogues(dataset_name="Talks", dialogues=ingest.read_dialogues(path), now=now)

        row = Dialogue.objects.get()
        assert (row.source_id, row.language) == ("clinic-7", "de")

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
    @given(said=TALKS)
    def test_are_stored_without_two_turns_of_one_role_in_a_row(self, said, now):
        parsed = [ingest.parse_record(spelled(*said), 1) for spelled in (native, hub, failed, own)]

        import_dialogues(dataset_name="Talks", dialogues=parsed, now=now)

        for row in Dialogue.objects.all():
            roles = [turn["role"] for turn in row.turns]
            assert all(one != other for one, other in itertools.pairwise(roles))


@pytest.mark.django_db
class TestESConv:
    def test_imports_every_dialogue_utterance_and_turn(self, now):
        path = shared_file("esconv/ESConv.json")

        report = import_dialogues(
            dataset_name="ESConv", dialogues=ingest.read_dialogues(path), now=now
        )

        assert (report.n_added, report.n_utterances, report.n_turns, report.n_couplets) == (
            1300,
            38_365,
            30_392,
            14_642,
        )
        assert Dialogue.objects.count() == 1300


@pytest.mark.django_db
class TestImportCommand:
    def test_names_the_dataset_after_the_file(self, tmp_path, capsys):
        path = write_lines(tmp_path / "Night talks.jsonl", [native()])

        call_command("contexts", "import", str(path))

        assert capsys.readouterr().out.startswith("Night talks: 1 dialogues (1 new)")
        assert Dataset.objects.get().slug == "night-talks"

    def test_tells_bad_records_on_standard_error_and_counts_them(self, tmp_path, capsys):
        path = write_lines(tmp_path / "talks.jsonl", [native(), ONE_SPEAKER, "{"])

        call_command("contexts", "import", str(path))

        said = capsys.readouterr()
        assert said.out == (
            "talks: 1 dialogues (1 new), 4 utterances, 3 turns, 1 couplets, 2 skipped\n"
        )
        assert said.err.splitlines()[1:] == [
            "dialogue 2 (line 2): both a seeker and a supporter must speak; skipped",
            (
                "dialogue 3 (line 3): not valid JSON at column 2: "
                "Expecting property name enclosed in double quotes; skipped"
            ),
        ]

    def test_tells_at_most_twenty_of_them(self, tmp_path, capsys):
        path = write_lines(tmp_path / "talks.jsonl", [native(), *[ONE_SPEAKER] * 23])

        call_command("contexts", "import", str(path))

        told = [line for line in capsys.readouterr().err.splitlines() if "skipped" in line]
        assert len(told) == 21
        assert told[-1] == "and 3 more bad records; skipped"

    def test_stores_nothing_when_strict(self, tmp_path):
        path = write_lines(tmp_path / "talks.jsonl", [native(), ONE_SPEAKER])

        with pytest.raises(CommandError, match=r"dialogue 2 \(line 2\): both") as caught:
            call_command("contexts", "import", str(path), "--strict")

        assert caught.value.returncode == 2
        assert not Dataset.objects.exists()


@pytest.mark.django_db
class TestBadInput:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            pytest.param(None, "cannot be read: No such file or directory", id="missing"),
            pytest.param(b'[{"dialog": [', "not valid JSON at line 1, column 14", id="broken"),
            pytest.param(b'[{"dialog": "\xe9"}]', "byte 0xe9 at position 13", id="latin-1"),
            pytest.param(b'{"conversations": []}', "unknown format", id="unknown format"),
            pytest.param(ALL_BAD, "no dialogue that can be used; dialogue 1: both", id="all bad"),
        ],
    )
    def test_ends_with_code_2_and_writes_nothing(self, tmp_path, content, message):
        path = tmp_path / "input.json"
        if content is not None:
            path.write_bytes(content)

        with pytest.raises(CommandError, match=message) as caught:
            call_command("contexts", "import", str(path), "--dataset", "bad")

        assert caught.value.returncode == 2
        assert not Dialogue.objects.exists()
        assert not Dataset.objects.exists()

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            pytest.param(["--dataset", "nowhere"], "there is no dataset", id="no dataset"),
            pytest.param(
                ["--dataset", "Demo"], "280 contexts were asked for and 24", id="too many"
            ),
            pytest.param(["--dataset", "Demo", "--regular", "0"], "above zero", id="none"),
            pytest.param(["--dataset", "Demo", "--regular", "few"], "above zero", id="no number"),
        ],
    )
    def test_of_a_build_ends_with_code_2(self, imported, asked, message):
        with pytest.raises(CommandError, match=message):
            call_command("contexts", "build", *asked)

        assert not Context.objects.exists()


class TestCommand:
    """The real command in processes of its own, on an SQLite file of its own."""

    @staticmethod
    def run(folder, *arguments):
        return subprocess.run(
            [sys.executable, "manage.py", *map(str, arguments)],
            cwd=REPOSITORY,
            env=os.environ
            | {"DATABASE_URL": f"sqlite:///{folder}/db.sqlite3", "HEART_DATA_DIR": str(folder)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def test_imports_builds_and_refuses(self, tmp_path):
        bad = write_array(tmp_path / "bad.json", [native(), ONE_SPEAKER])
        assert self.run(tmp_path, "migrate", "--verbosity=0").returncode == 0

        imported = self.run(tmp_path, "contexts", "import", DIALOGUES, "--dataset", "demo")
        built = self.run(tmp_path, "contexts", "build", "--dataset", "demo", "--regular", 24)
        refused = self.run(tmp_path, "contexts", "import", bad, "--strict")

        assert (imported.returncode, built.returncode, refused.returncode) == (0, 0, 2)
        assert imported.stdout == (
            "demo: 12 dialogues (12 new), 150 utterances, 138 turns, 66 couplets\n"
        )
        assert imported.stderr == "12 records\n"
        assert built.stdout.startswith("demo: 24 contexts (24 new) of 12 dialogues, from ")
        assert refused.stderr == (
            "CommandError: dialogue 2: both a seeker and a supporter must speak\n"
        )
        assert refused.stdout == ""
