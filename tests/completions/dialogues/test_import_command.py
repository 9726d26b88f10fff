"""The command that imports: what it says, how it ends, what it leaves behind."""

import json
import os
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

from completions.dialogues import ingest
from completions.dialogues.demo import DIALOGUES
from completions.dialogues.importing import import_dialogues
from completions.models import Context, Dataset, Dialogue
from tests.helpers.datasets import REPOSITORY, SEEKER, native, own, write_array, write_lines

ONE_SPEAKER = native((SEEKER, "Hi."), (SEEKER, "Is anybody there?"))
ALL_BAD = json.dumps([ONE_SPEAKER]).encode()


@pytest.fixture
def imported(db, now):
    dialogues = ingest.read_dialogues(DIALOGUES)
    return import_dialogues(dataset_name="Demo", dialogues=dialogues, now=now)


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
            pytest.param(b'[{"dialog": "\xe9"}]', "byte 0xe9 at line 1, column 14", id="latin-1"),
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


@pytest.mark.django_db
def test_a_build_says_what_it_added(imported, capsys):
    call_command("contexts", "build", "--dataset", "Demo", "--regular", "24")

    assert capsys.readouterr().out.startswith("Demo: 24 contexts (24 new) of 12 dialogues, from ")


@pytest.mark.full
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
