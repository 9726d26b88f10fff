"""Withdrawing, as a rater meets it."""

import pytest

from annotation.choices import RaterState
from annotation.models import Judgment, Lease
from tests.web.visits import ANSWERS, HTMX, enrol, open_study, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return open_study()


@pytest.fixture
def rater(client, study):
    rater = enrol(client, study)
    client.get(url(study, "judge"))
    client.post(url(study, "submit", Lease.objects.get().token), ANSWERS["preference"])
    return rater


def test_the_page_asks_once_and_says_what_follows(client, study, rater):
    page = client.get(url(study, "withdraw")).content.decode()

    assert "your 1 answer counts in no result" in page
    assert Judgment.objects.get().rationale


def test_withdrawing_deletes_the_reasons_and_says_so(client, study, rater):
    response = client.post(url(study, "withdraw"), follow=True)

    rater.refresh_from_db()
    assert rater.state == RaterState.WITHDRAWN
    assert Judgment.objects.get().rationale == ""
    assert "You have withdrawn" in response.content.decode()
    assert "completion-code" in response.content.decode()  # leaving has no drawback


@pytest.mark.parametrize("name", ["judge", "how", "last", "stop", "withdraw", "take_break"])
def test_no_page_fails_for_someone_who_withdrew(client, study, rater, name):
    client.post(url(study, "withdraw"))

    assert client.get(url(study, name), follow=True).status_code == 200


def test_a_visitor_is_sent_to_the_entry(client, study):
    assert client.post(url(study, "withdraw")).url == url(study, "entry")


@pytest.mark.parametrize("name", ["done", "stop"])
def test_the_last_pages_lead_to_it(client, study, rater, name):
    if name == "done":
        client.post(url(study, "stop"))

    assert url(study, "withdraw") in client.get(url(study, name)).content.decode()


def test_htmx_gets_the_fragment(client, study, rater):
    assert b"<!doctype" not in client.get(url(study, "withdraw"), headers=HTMX).content
