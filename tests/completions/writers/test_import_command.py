"""``writers import``: what it says, how it ends, what it leaves behind."""

import csv

import pytest
from django.core.management import CommandError, call_command

from completions.models import Message, Writer
from tests.completions.writers.test_message_files import TEXT, table
from tests.helpers.factories import NOW, make_context, make_dialogue

pytestmark = pytest.mark.django_db


@pytest.fixture
def context(dataset):
    return make_context(dialogue=make_dialogue(dataset=dataset), key="abc")


@pytest.fixture
def written(tmp_path, context):
    """Write a file of messages and return its path."""

    def _written(*rows, **options):
        path = tmp_path / "messages.csv"
        path.write_text(table(*rows, **options), encoding="utf-8")
        return str(path)

    return _written


def run(capsys, *arguments):
    call_command("writers", "import", "--dataset", "talks", *arguments)
    return capsys.readouterr()


GOOD = f"abc,{TEXT},Ada"
BAD = f"nowhere,{TEXT},Bo"


class TestADryRun:
    def test_is_what_happens_without_another_word(self, written, capsys):
        out = run(capsys, written(GOOD, BAD)).out

        assert out.splitlines() == [
            "Dry run: nothing was stored. With --apply it would be:",
            (
                "talks: 2 rows, 1 messages stored (1 wait for review, 0 accepted, 0 flagged), "
                "0 stored before, 1 refused; 1 new authors"
            ),
            "      1 refused: unknown context",
            "line 3: unknown context. Compare the key with the list of contexts.",
        ]
        assert not Message.objects.exists()
        assert not Writer.objects.exists()


class TestApplying:
    def test_stores_what_is_good_once_and_says_so(self, written, capsys):
        said = run(capsys, written(GOOD, BAD), "--apply")
        again = run(capsys, written(GOOD, BAD), "--apply")

        assert said.out.startswith("talks: 2 rows, 1 messages stored")
        assert "2 rows checked" in said.err
        assert "0 messages stored" in again.out
        assert Message.objects.count() == 1

    def test_accepts_what_was_accepted_elsewhere(self, written, capsys):
        out = run(capsys, written(GOOD), "--apply", "--accepted").out

        assert "(0 wait for review, 1 accepted, 0 flagged)" in out


class TestTheReport:
    def test_is_written_as_csv_with_every_refused_row(self, written, capsys, tmp_path):
        path = tmp_path / "refused.csv"

        run(capsys, written(GOOD, BAD), "--report", str(path))

        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == ["line", "field", "reason", "why", "what_to_do"]
        assert [row[:3] for row in rows] == [["3", "", "unknown context"]]

    def test_that_cannot_be_written_stops_the_import(self, written, tmp_path, capsys):
        path = tmp_path / "nowhere" / "refused.csv"

        with pytest.raises(CommandError, match=r"refused\.csv: cannot be written"):
            run(capsys, written(GOOD), "--apply", "--report", str(path))

        assert not Message.objects.exists()

    def test_never_takes_the_place_of_the_file(self, written, capsys):
        path = written(GOOD)

        with pytest.raises(CommandError, match="choose another for the report"):
            run(capsys, path, "--report", path)

    def test_on_standard_error_tells_what_is_odd_about_the_file(self, written, capsys):
        rows = [f"{GOOD},12", f"abc,{TEXT},ada,12"]

        said = run(capsys, written(*rows, header="context,text,author,wage")).err

        assert "Columns that are not read: wage" in said
        assert "These names look alike and count as different: Ada, ada." in said
        assert "One text stands on the lines 2, 3." in said


class TestWhatCannotBeRead:
    def ends_with_2(self, said, *arguments):
        with pytest.raises(CommandError, match=said) as caught:
            call_command("writers", "import", *arguments)
        assert caught.value.returncode == 2
        assert not Writer.objects.exists()

    @pytest.mark.parametrize(
        ("lines", "said"),
        [([], "has no messages"), (['abc,"One,Ada'], "line 2: a quotation mark opens here")],
        ids=["no rows", "a quotation mark"],
    )
    def test_ends_with_2_and_stores_nothing(self, written, lines, said):
        self.ends_with_2(said, "--dataset", "talks", written(*lines), "--apply")

    def test_ends_with_2_when_there_is_no_file(self, context, tmp_path):
        path = str(tmp_path / "nothing.csv")

        self.ends_with_2("cannot be read: No such file", "--dataset", "talks", path)

    def test_ends_with_2_when_the_dataset_is_not_there_or_frozen(self, written, dataset):
        self.ends_with_2("there is no dataset", "--dataset", "elsewhere", written(GOOD))

        type(dataset).objects.update(frozen_at=NOW)

        self.ends_with_2("talks: is frozen", "--dataset", "talks", written(GOOD), "--apply")
