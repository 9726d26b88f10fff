"""Words that follow the protocol, and addresses that are only posted to."""

import re

import pytest

from annotation.models import Lease
from tests.helpers.visits import enrol, open_study, url

pytestmark = pytest.mark.django_db


def test_likert_study_speaks_of_replies_not_of_pairs(client):
    study = open_study("likert")
    enrol(client, study)

    page = client.get(url(study, "judge")).content.decode()

    assert "<title>Reply 1 of 40" in page
    assert "Skip" in page
    assert "pair" not in re.sub(r"<[^>]+>", " ", page).casefold().replace("repair", "")


@pytest.mark.parametrize("name", ["submit", "skip", "report"])
def test_address_of_a_post_leads_back_to_the_pair(client, name):
    study = open_study()
    enrol(client, study)
    client.get(url(study, "judge"))
    lease = Lease.objects.get()

    answer = client.get(url(study, name, lease.token))

    assert (answer.status_code, answer["Location"]) == (303, url(study, "judge"))


@pytest.mark.parametrize(("name", "to"), [("consent", "entry"), ("finish", "judge")])
def test_address_of_another_post_leads_on_too(client, name, to):
    study = open_study()

    answer = client.get(url(study, name))

    assert (answer.status_code, answer["Location"]) == (303, url(study, to))
