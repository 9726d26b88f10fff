"""Staff import messages that were written elsewhere: on a page of the console, or at the prompt."""

import csv
import io
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError
from django.test import Client

from access.models import LogEntry
from completions.dialogues import forms
from completions.models import Dataset, Message, Writer
from completions.writers.importing import WrittenRow
from completions.writers.services.importing import import_messages
from tests.completions.writers.desk import run_writers
from tests.completions.writers.test_message_files import TEXT, table
from tests.helpers.factories import NOW, make_context, make_dataset
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

IMPORT = "/console/writing/talks/import/"
STORE = f"{IMPORT}store/"
REFUSED = f"{IMPORT}refused/"
GOOD = f"abc,{TEXT},Ada Lovelace"
ALL_COLUMNS = "context,text,author,background,written_at"
BAD = f"nowhere,{TEXT},Bo"


@pytest.fixture(autouse=True)
def context(dataset):
    """The one dialogue of the dataset, in every test."""
    return make_context(dataset=dataset, key="abc")


def check(client, *rows, **posted):
    content = posted.pop("content", table(*rows).encode())
    file = SimpleUploadedFile("messages.csv", content, content_type="text/csv")
    return client.post(IMPORT, {"file": file, **posted})


def sealed(answer):
    return re.findall(r'name="sealed" value="([^"]+)"', answer.content.decode())[0]


class TestTheEmptyPage:
    def test_says_what_a_file_holds(self, admin_client, django_assert_max_num_queries):
        # Session, user, dataset.
        with django_assert_max_num_queries(3):
            page = text(admin_client.get(IMPORT))

        assert "Any name, the same in every row of one person" in page
        assert "Up to 5,000 rows at once" in page

    def test_says_that_a_frozen_dataset_takes_nothing(self, admin_client):
        Dataset.objects.update(frozen_at=NOW)

        answer = admin_client.get(IMPORT)

        assert "The dataset is frozen" in text(answer)
        assert 'type="file"' not in answer.content.decode()


class TestACheck:
    def test_shows_what_would_happen_names_no_author_and_stores_nothing(self, admin_client):
        answer = check(admin_client, GOOD, BAD)

        page = text(answer)
        assert answer.status_code == 200
        assert "Store 1 message" in page
        assert "3 unknown context Compare the key with the list of contexts." in page
        assert "Lovelace" not in page
        assert not Writer.objects.exists()

    def test_of_nothing_that_is_good_offers_the_refused_rows_and_nothing_to_store(
        self, admin_client
    ):
        answer = check(admin_client, BAD)

        assert "Nothing in this file would be stored." in text(answer)
        assert STORE not in answer.content.decode()
        table_of_refused = admin_client.post(REFUSED, {"sealed": sealed(answer)})
        assert table_of_refused["Content-Type"].startswith("text/csv")

    def test_lists_the_first_hundred_faults_and_counts_the_others(self, admin_client):
        rows = [f"abc,{TEXT},Bo,unknown,never"] * 60  # two faults in each

        answer = check(admin_client, content=table(*rows, header=ALL_COLUMNS).encode())

        assert "60 rows refused" in text(answer)
        assert answer.content.decode().count("<td>Mend the field.</td>") == 100
        assert "And 20 more, in the CSV file." in text(answer)

    @pytest.mark.parametrize(
        ("posted", "said"),
        [
            ({}, "Choose a file"),
            ({"file": SimpleUploadedFile("messages.csv", b"")}, "The file is empty."),
            (
                {"file": SimpleUploadedFile("messages.csv", table('abc,"One,Ada').encode())},
                "messages.csv: line 2: a quotation mark opens here",
            ),
        ],
        ids=["no file", "empty", "a quotation mark"],
    )
    def test_of_what_cannot_be_read_says_why(self, admin_client, posted, said):
        answer = admin_client.post(IMPORT, posted)

        assert answer.status_code == 422
        assert said in text(answer)

    @pytest.mark.parametrize(
        ("bound", "most", "said"),
        [
            ("MOST_BYTES", 20, "too large for this page. Split it."),
            ("MOST_SEALED", 20, "too large for this page. Split it."),
            ("MOST_ROWS", 1, "has over 1 rows; split it"),
        ],
    )
    def test_of_a_large_file_asks_to_split_it(self, admin_client, monkeypatch, bound, most, said):
        monkeypatch.setattr(forms, bound, most)

        answer = check(admin_client, GOOD, BAD)

        assert answer.status_code == 422
        assert said in text(answer)


class TestStoring:
    def test_stores_exactly_what_was_shown(self, admin_client, admin_user):
        seal = sealed(check(admin_client, GOOD, BAD))

        answer = admin_client.post(STORE, {"sealed": seal}, follow=True)

        assert "1 message is stored: 1 to review, 0 accepted." in text(answer)
        assert Message.objects.get().revisions.get().text == TEXT
        assert LogEntry.objects.get(action="messages.imported").by == admin_user

    def test_accepts_what_people_read_elsewhere(self, admin_client):
        answer = check(admin_client, GOOD, are_accepted="on")

        assert "become completions at once" in text(answer)
        page = text(admin_client.post(STORE, {"sealed": sealed(answer)}, follow=True))
        assert "0 to review, 1 accepted" in page

    def test_shows_the_check_again_when_something_changed(self, admin_client, context):
        seal = sealed(check(admin_client, GOOD))
        row = WrittenRow(position=2, context="abc", text=TEXT, author="Ada Lovelace")
        import_messages(dataset=context.dataset, rows=[row], now=NOW)

        answer = admin_client.post(STORE, {"sealed": seal})

        assert answer.status_code == 409
        assert "Something changed meanwhile. Nothing was stored" in text(answer)
        assert "Nothing in this file would be stored." in text(answer)
        assert Message.objects.count() == 1

    def test_refuses_in_a_dataset_that_was_frozen_meanwhile(self, admin_client):
        seal = sealed(check(admin_client, GOOD))
        Dataset.objects.update(frozen_at=NOW)

        page = text(admin_client.post(STORE, {"sealed": seal}, follow=True))

        assert "The dataset is frozen: nothing was stored." in page
        assert not Message.objects.exists()

    @pytest.mark.parametrize("address", [STORE, REFUSED])
    def test_refuses_what_was_not_sealed_for_this_admin_and_dataset(self, admin_client, address):
        other = Client()
        other.force_login(User.objects.create_superuser("other"))
        seal = sealed(check(admin_client, GOOD))
        make_dataset(slug="others")

        answers = [
            other.post(address, {"sealed": seal}, follow=True),
            admin_client.post(address.replace("talks", "others"), {"sealed": seal}, follow=True),
            admin_client.post(address, {"sealed": seal[:-1]}, follow=True),
            admin_client.post(address, {}, follow=True),
        ]

        assert all("Choose the file once more" in text(answer) for answer in answers)
        assert not Message.objects.exists()

    def test_refuses_a_check_of_the_day_before(self, admin_client, monkeypatch):
        seal = sealed(check(admin_client, GOOD))
        monkeypatch.setattr(forms, "DAY_S", -1)

        page = text(admin_client.post(STORE, {"sealed": seal}, follow=True))

        assert "The check was too long ago" in page
        assert not Message.objects.exists()


def test_what_is_odd_about_a_file_is_told_on_the_page_and_at_the_prompt(admin_client, written):
    rows = [f"{GOOD},<b>", f"{GOOD.replace('Ada', 'ada')},<b>"]
    path = written(*rows, header="context,text,author,<wage>")

    page = text(check(admin_client, content=Path(path).read_bytes()))
    _said, remarks = run_writers("import", path)

    for said in (page.replace("&lt;", "<").replace("&gt;", ">"), remarks):
        assert "Columns that are not read: <wage>." in said
        assert "These names look alike and count as different: Ada Lovelace, ada Lovelace." in said
        assert "One text stands on the lines 2, 3." in said


def test_the_table_of_refused_rows_has_every_row_and_stores_nothing(admin_client):
    seal = sealed(check(admin_client, GOOD, BAD))

    answer = admin_client.post(REFUSED, {"sealed": seal})

    assert answer["Content-Disposition"] == 'attachment; filename="talks-refused.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["line"], row["reason"]) for row in rows] == [("3", "unknown context")]
    assert not Message.objects.exists()


@pytest.fixture
def written(tmp_path):
    """Write a file of messages and return its path."""

    def _written(*rows, **options):
        path = tmp_path / "messages.csv"
        path.write_text(table(*rows, **options), encoding="utf-8")
        return str(path)

    return _written


class TestAtThePrompt:
    def test_nothing_is_stored_until_it_is_applied_and_then_once(self, written):
        path = written(GOOD, BAD)

        dry, _ = run_writers("import", path)
        n_before = Message.objects.count() + Writer.objects.count()
        applied, remarks = run_writers("import", path, "--apply")
        again, _ = run_writers("import", path, "--apply")

        counts = (
            "talks: 2 rows, 1 messages stored (1 wait for review, 0 accepted, 0 flagged), "
            "0 stored before, 1 refused; 1 new authors"
        )
        assert dry.splitlines() == [
            "Dry run: nothing was stored. With --apply it would be:",
            counts,
            "      1 refused: unknown context",
            "line 3: unknown context. Compare the key with the list of contexts.",
        ]
        assert n_before == 0
        assert applied.startswith(counts)
        assert "2 rows checked" in remarks
        assert "0 messages stored" in again
        assert Message.objects.count() == 1

    def test_what_was_accepted_elsewhere_is_accepted(self, written):
        said, _ = run_writers("import", written(GOOD), "--apply", "--accepted")

        assert "(0 wait for review, 1 accepted, 0 flagged)" in said

    def test_a_report_has_every_refused_row_as_csv(self, written, tmp_path):
        path = tmp_path / "refused.csv"

        run_writers("import", written(GOOD, BAD), "--report", str(path))

        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == ["line", "field", "reason", "why", "what_to_do"]
        assert [row[:3] for row in rows] == [["3", "", "unknown context"]]

    @pytest.mark.parametrize(
        ("report", "said"),
        [
            ("nowhere/refused.csv", r"refused\.csv: cannot be written"),
            ("messages.csv", "choose another for the report"),
        ],
        ids=["no such folder", "the file itself"],
    )
    def test_a_report_that_cannot_be_written_stops_the_import(
        self, written, tmp_path, report, said
    ):
        with pytest.raises(CommandError, match=said):
            run_writers("import", written(GOOD), "--apply", "--report", str(tmp_path / report))

        assert not Message.objects.exists()

    @pytest.mark.parametrize(
        ("lines", "file", "said"),
        [
            ([], "messages.csv", "has no messages"),
            ([GOOD], "nothing.csv", "cannot be read: No such file"),
            ([GOOD], "messages.csv", "talks: is frozen"),
        ],
        ids=["no rows", "no file", "frozen"],
    )
    def test_what_cannot_be_imported_ends_with_2(self, written, tmp_path, lines, file, said):
        written(*lines)
        Dataset.objects.filter(slug="talks").update(frozen_at=NOW if "frozen" in said else None)

        with pytest.raises(CommandError, match=said) as caught:
            run_writers("import", str(tmp_path / file), "--apply")

        assert caught.value.returncode == 2
        assert not Writer.objects.exists()


def test_a_dataset_that_is_not_there_ends_every_act_at_the_prompt_with_2():
    acts = [("invite", "ada@example.org"), ("vetting", "on"), ("import", "messages.csv")]

    for arguments in (*acts, ("list",), ("freeze",), ("thaw",)):
        with pytest.raises(CommandError, match='there is no dataset "walks"') as refused:
            run_writers(*arguments, dataset="walks")
        assert refused.value.returncode == 2
    assert not Writer.objects.exists()
