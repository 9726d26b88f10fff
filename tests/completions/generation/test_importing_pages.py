"""The console's page on which completions are brought in that models gave elsewhere."""

import csv
import io
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from completions.dialogues import forms
from completions.models import BroughtCompletion, Completion, Hold, System
from tests.helpers.datasets import TEXT
from tests.helpers.factories import make_completion, make_context, make_system
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

IMPORT, STORE, REFUSED, SYSTEMS = (
    reverse(f"models:{name}") for name in ("import", "import-store", "import-refused", "systems")
)
HEADER = "context,system,text"
GOOD = f"abc,ash,{TEXT}"
BAD = f"nowhere,ash,{TEXT}"


@pytest.fixture(autouse=True)
def context():
    make_system(slug="ash", name="Ash")
    return make_context(key="abc")


@pytest.fixture
def manager(client):
    client.force_login(make_member("mia", role=Role.MANAGER))
    return client


def check(client, *rows, content=None):
    content = "\n".join([HEADER, *rows]).encode() if content is None else content
    file = SimpleUploadedFile("texts.csv", content, content_type="text/csv")
    return client.post(IMPORT, {"file": file})


def sealed(answer):
    return re.findall(r'name="sealed" value="([^"]+)"', answer.content.decode())[0]


class TestACheck:
    def test_shows_what_would_happen_and_changes_nothing(self, manager):
        n_logged = LogEntry.objects.count()

        page = text(check(manager, GOOD))

        assert "Import 1 completion" in page
        assert "rows read 1 good and new 1 to be held 0 stored before 0 refused 0" in page
        assert not Completion.objects.exists()
        assert LogEntry.objects.count() == n_logged

    def test_tells_of_columns_that_are_not_read(self, manager):
        content = f"{HEADER},<wage>\n{GOOD},1".encode()

        assert "Columns that are not read: &lt;wage&gt;." in text(check(manager, content=content))

    def test_offers_nothing_to_store_while_a_row_is_refused(self, manager):
        answer = check(manager, GOOD, BAD, "abc,none,")

        page = text(answer).replace("&quot;", '"')
        assert "Nothing is stored while a row is refused." in page
        assert STORE not in answer.content.decode()
        assert 'context unknown context: "nowhere" Compare the key with' in page
        assert "2 rows refused" in page

    def test_lists_the_first_hundred_refusals(self, manager):
        answer = check(manager, *[f"nowhere-{n},ash,{TEXT}" for n in range(102)])

        assert answer.content.decode().count("Compare the key with") == 100
        assert "And 2 more, in the CSV file." in text(answer)

    def test_of_what_cannot_be_read_says_why(self, manager):
        answer = check(manager)

        assert answer.status_code == 422
        assert "texts.csv: has no completions." in text(answer)

    def test_of_a_large_file_leads_to_the_api_too(self, manager, monkeypatch):
        monkeypatch.setattr(forms, "MOST_SEALED", 20)

        answer = check(manager, GOOD)

        assert answer.status_code == 422
        assert "too large for this page. Split it, or send it by the API." in text(answer)


class TestStoring:
    def test_stores_exactly_what_was_shown(self, manager):
        leaky = make_context(key="xyz")
        seal = sealed(check(manager, GOOD, 'xyz,ash,"As an AI, I hear you."'))

        answer = manager.post(STORE, {"sealed": seal}, follow=True)

        page = text(answer)
        assert "2 completions are stored. 1 of them is held until somebody decides." in page
        assert "2 brought in" in page
        assert Hold.objects.get().completion.context == leaky
        brought = BroughtCompletion.objects.values_list("way", "brought_by__username").distinct()
        assert list(brought) == [("CONSOLE", "mia")]
        assert LogEntry.objects.filter(action="completions.brought_in").count() == 2

    def test_is_reached_from_the_systems_and_says_that_all_of_it_is_there(self, manager):
        assert f'href="{IMPORT}"' in manager.get(SYSTEMS).content.decode()

        stored = manager.post(STORE, {"sealed": sealed(check(manager, GOOD))}, follow=True)

        assert "1 completion is stored." in text(stored)
        assert "held until somebody decides" not in text(stored)
        assert "Everything in this file is stored already." in text(check(manager, GOOD))

    def test_shows_the_check_again_when_something_changed(self, manager, context):
        seal = sealed(check(manager, GOOD))
        make_completion(context=context, system=System.objects.get(slug="ash"))

        answer = manager.post(STORE, {"sealed": seal})

        assert answer.status_code == 409
        assert "Something changed meanwhile. Nothing was stored" in text(answer)
        assert "another completion is there" in text(answer)
        assert not BroughtCompletion.objects.exists()

    def test_refuses_what_was_not_sealed_for_this_person(self, manager):
        other = Client()
        other.force_login(make_member())

        answer = other.post(STORE, {"sealed": sealed(check(manager, GOOD))}, follow=True)

        assert "Choose the file once more" in text(answer)
        assert not Completion.objects.exists()


def test_the_table_of_refusals_has_every_one_with_what_to_do(manager):
    answer = manager.post(REFUSED, {"sealed": sealed(check(manager, GOOD, BAD, "abc,none,"))})

    assert answer["Content-Disposition"] == 'attachment; filename="completions-refused.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["line"], row["field"], row["what_to_do"]) for row in rows] == [
        ("3", "context", "Compare the key with the list of contexts."),
        ("4", "text", "Mend the field."),
    ]
