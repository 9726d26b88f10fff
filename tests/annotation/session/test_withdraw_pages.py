"""Withdrawing, as a rater meets it."""

import pytest

from annotation.choices import RaterState
from annotation.models import Judgment, Lease
from tests.helpers.visits import ANSWERS, HTMX, enrol, open_study, read_forms, url

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


def test_the_page_asks_once_what_is_to_become_of_the_answers(client, study, rater):
    page = client.get(url(study, "withdraw"))

    assert "your 1 answer is removed from all future results" in page.content.decode()
    buttons = read_forms(page)[0].buttons
    assert buttons == [("answers", "keep"), ("answers", "delete")]
    rater.refresh_from_db()
    assert rater.state == RaterState.ACTIVE


def test_deleting_removes_the_reasons_and_says_so(client, study, rater):
    response = client.post(url(study, "withdraw"), {"answers": "delete"}, follow=True)

    rater.refresh_from_db()
    assert (rater.state, rater.data_kept) == (RaterState.WITHDRAWN, False)
    assert Judgment.objects.get().rationale == ""
    assert "You have withdrawn. Your reasons are deleted" in response.content.decode()
    assert "completion-code" in response.content.decode()  # leaving has no drawback
    assert url(study, "withdraw") not in response.content.decode()


def test_keeping_leaves_the_answers_and_says_so(client, study, rater):
    response = client.post(url(study, "withdraw"), {"answers": "keep"}, follow=True)

    rater.refresh_from_db()
    assert (rater.state, rater.data_kept) == (RaterState.WITHDRAWN, True)
    assert Judgment.objects.get().rationale
    assert "Nothing links you to your answers any more" in response.content.decode()


def test_kept_answers_may_still_be_deleted(client, study, rater):
    client.post(url(study, "withdraw"), {"answers": "keep"})
    page = client.get(url(study, "withdraw"))
    assert read_forms(page)[0].buttons == [("answers", "delete")]

    client.post(url(study, "withdraw"), {"answers": "delete"})

    rater.refresh_from_db()
    assert not rater.data_kept


def test_who_stopped_may_withdraw_afterwards(client, study, rater):
    client.post(url(study, "stop"))

    client.post(url(study, "withdraw"), {"answers": "delete"})

    rater.refresh_from_db()
    assert rater.state == RaterState.WITHDRAWN


@pytest.mark.parametrize("fields", [{}, {"answers": "perhaps"}])
def test_a_choice_is_asked_for(client, study, rater, fields):
    page = client.post(url(study, "withdraw"), fields)

    assert page.status_code == 422
    assert "Please choose what happens to your answers." in page.content.decode()
    rater.refresh_from_db()
    assert rater.state == RaterState.ACTIVE


@pytest.mark.parametrize("name", ["judge", "how", "last", "stop", "withdraw", "take_break"])
def test_no_page_fails_for_someone_who_withdrew(client, study, rater, name):
    client.post(url(study, "withdraw"), {"answers": "delete"})

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
