import json
import os
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

from completions import ingest
from completions.demo import DIALOGUES
from completions.models import Context, Dataset, Dialogue, LogEntry
from completions.services import DatasetNameError, build_contexts, import_dialogues
from tests.dialogue_files import SEEKER, native, write_array
from tests.factories import make_dataset
from tests.shared_data import REPOSITORY, shared_file


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

    def test_refuses_a_name_without_an_address(self, dialogues, now):
        with pytest.raises(DatasetNameError, match="needs a Latin letter or a digit"):
            import_dialogues(dataset_name="数据", dialogues=dialogues, now=now)

    def test_costs_a_fixed_number_of_queries(self, dialogues, now, django_assert_max_num_queries):
        make_dataset(slug="demo")

        # Savepoint in and out, dataset, known hashes, one batch (SQLite may cut it), log.
        with django_assert_max_num_queries(8):
            import_dialogues(dataset_name="demo", dialogues=dialogues, now=now)


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


ONE_SPEAKER = native((SEEKER, "Hi."), (SEEKER, "Is anybody there?"))
ALL_BAD = json.dumps([ONE_SPEAKER]).encode()


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
