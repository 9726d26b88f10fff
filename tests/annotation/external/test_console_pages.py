"""The console's page of judgments made elsewhere: what is told, a file, and leaving a batch out."""

import html
import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from annotation.external.queries import batch_of
from annotation.external.rules import NO_SIDES
from annotation.models import ExternalBatch, ExternalJudgment
from tests.annotation.external.test_importing import ABOUT
from tests.helpers.factories import make_comparison, make_study
from tests.helpers.factories_of_site import make_batch, make_external
from tests.helpers.factories_written_once import make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch():
    batch = make_batch(source="Lab <b>Elm</b>", is_simulated=True)
    for _ in range(2):
        make_external(batch=batch)
    return batch


def page(client, batch):
    return client.get(reverse("console:external", args=[batch.study.slug]))


def decide(client, batch, **fields):
    address = reverse("console:decide_external", args=[batch.study.slug, batch.pk])
    return client.post(address, fields, follow=True)


def state(batch):
    return vars(batch_of(batch.study, batch.pk))["is_out"]


def test_an_analyst_reads_where_a_batch_comes_from(client, batch):
    client.force_login(make_member(role=Role.ANALYST))

    shown = page(client, batch).content.decode()

    for told in ("Lab &lt;b&gt;Elm", batch.reference, "CC-BY-4.0", "Students of one", "simulated"):
        assert told in shown
    assert "2, by 2 of the lab" in shown
    assert "Leave out" not in shown


def test_a_manager_leaves_a_batch_out_with_a_reason_and_takes_it_back(client, batch):
    client.force_login(make_member(role=Role.MANAGER))

    reason = "Asked by the lab."
    without = decide(client, batch, is_excluded="yes", reason=" ").content.decode()
    assert not state(batch)
    decide(client, batch, is_excluded="yes", reason=reason)
    assert state(batch)
    shown = decide(client, batch, is_excluded="no", reason=reason).content.decode()
    assert not state(batch)

    assert "Write in a few words why" in without
    assert shown.count(reason) == 2
    acts = LogEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(acts) == ["external.excluded", "external.reinstated"]


@pytest.fixture
def pair():
    return make_comparison(study=make_study(protocol="PREFERENCE"))


@pytest.fixture
def manager(client):
    client.force_login(make_member(role=Role.MANAGER))
    return client


def task(pair, *selected, **data):
    """A task of Label Studio that shows a pair by its texts."""
    shown = {"text_a": pair.second.text, "text_b": pair.first.text}
    return {
        "id": 1,
        "data": {"comparison": pair.key} | shown | data,
        "annotations": [
            {"completed_by": f"anna{n}@elm", "result": [{"value": {"selected": side}}]}
            for n, side in enumerate(selected)
        ],
    }


def check(client, pair, *records, **fields):
    content = json.dumps(records).encode()
    sent = {"file": SimpleUploadedFile("export.json", content), "strength": "1"}
    about = {name: value for name, value in ABOUT.items() if name != "is_simulated"}
    return client.post(reverse("console:external", args=[pair.study.slug]), about | sent | fields)


def store(client, pair, shown):
    sealed = html.unescape(re.search(r'name="sealed" value="([^"]+)"', shown.content.decode())[1])
    address = reverse("console:store_external", args=[pair.study.slug])
    return client.post(address, {"sealed": sealed}, follow=True)


class TestAFile:
    def test_of_another_tool_is_shown_first_and_stored_as_it_was_shown(self, manager, pair):
        shown = check(manager, pair, task(pair, "left", "right", "left"), is_simulated="on")

        page = shown.content.decode()
        assert "Read as tasks of Label Studio" in page
        assert "3 preferences say nothing of their strength: each counts as 1." in page
        assert "Store 3 judgments" in page
        assert "anna" not in page
        assert not ExternalBatch.objects.exists()
        assert "3 judgments are stored." in store(manager, pair, shown).content.decode()
        batch = ExternalBatch.objects.get()
        assert (batch.source, batch.is_simulated) == ("Lab Elm", True)
        stored = ExternalJudgment.objects.order_by("pk").values_list("rater", "verdict")
        assert list(stored) == [("e0001", -1), ("e0002", 1), ("e0003", -1)]

    def test_that_is_stored_already_is_told(self, manager, pair):
        store(manager, pair, check(manager, pair, task(pair, "left")))

        again = check(manager, pair, task(pair, "left"))
        other = check(manager, pair, task(pair, "right"))

        assert "This batch is stored already." in again.content.decode()
        assert (other.status_code, ExternalBatch.objects.count()) == (422, 1)
        assert "is stored with other content" in html.unescape(other.content.decode())

    def test_with_a_row_at_fault_offers_nothing_to_store(self, manager, pair):
        twice = task(pair, "left")
        twice["annotations"] *= 2

        page = check(manager, pair, twice, task(pair, "left", text_a="?")).content.decode()
        only_twice = check(manager, pair, task(pair, "left"), twice).content.decode()

        assert NO_SIDES in page
        assert "the same rater has a verdict on this comparison in row 1" in only_twice
        assert 'name="sealed"' not in page + only_twice

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"file": ""}, "Choose a file: a table, or JSON."),
            ({"source": " "}, "This field is required."),
            ({"collected_until": "2026-01-01"}, "that is before it began"),
            ({"collected_from": "soon"}, "Enter a valid date."),
            ({"columns": "winner"}, "Name columns as OURS=THEIRS."),
            ({"columns": "winner=better"}, "The file names no question: leave winner=better out"),
            ({"columns": "rater_id=who"}, "The file has no column who"),
            ({"file": SimpleUploadedFile("x.json", b"[]")}, "The file has no judgments."),
            ({"file": SimpleUploadedFile("x.csv", b"a,b\n1,2\n")}, "no columns comparison"),
        ],
    )
    def test_that_cannot_be_taken_is_refused_by_its_field(self, manager, pair, fields, said):
        answer = check(manager, pair, task(pair, "left"), **fields)

        assert answer.status_code == 422
        assert said in html.unescape(answer.content.decode())

    def test_is_not_stored_by_a_page_of_somebody_else_or_after_a_change(self, manager, pair):
        shown = check(manager, pair, task(pair, "left"))
        # A batch of the same lab and name with other content came in meanwhile.
        make_batch(study=pair.study, source=ABOUT["source"], reference=ABOUT["reference"])

        changed = store(manager, pair, shown).content.decode()
        manager.force_login(make_member(role=Role.MANAGER))
        others = store(manager, pair, shown).content.decode()

        assert "Something changed meanwhile." in changed
        assert "The check was too long ago." in others
        assert not ExternalJudgment.objects.exists()

    def test_is_wanted_by_studies_of_pairs_that_are_locked(self, manager, pair):
        draft = make_study(state="DRAFT", locked_at=None, protocol_hash="")
        alone = make_study(protocol="LIKERT")

        offers = [
            b"Bring in a file" in manager.get(reverse("console:external", args=[one.slug])).content
            for one in (pair.study, draft, alone)
        ]

        assert offers == [True, False, False]
