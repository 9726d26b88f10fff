"""No page of the console asks the database more than 15 times, whoever added it."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ranking.fits import services
from tests.helpers.factories import HOUR, NOW, make_judge
from tests.helpers.factories_of_calls import make_judge_run
from tests.helpers.factories_written_once import make_log_entry, make_member
from tests.helpers.judged import make_judged_study
from tests.helpers.pages import console_pages
from tests.helpers.released import make_reviewed_study

pytestmark = pytest.mark.django_db

MOST = 15
ANSWERS = (200, 302, 400, 404, 405, 422)
ODD = "a\0\ud7ff%_'"
ODD_QUERY = dict.fromkeys(("q", "show", "state", "kind", "key", "system", "page", "sort"), ODD)
"""Parts of addresses that tables read, with what no row holds and no database compares with."""


@pytest.fixture
def study():
    study, _careless = make_reviewed_study()
    make_judged_study(study=study, with_llm=True)
    make_judge_run(study=study)
    make_judge()
    make_log_entry(subject=f"study {study.slug}")
    services.refit_study(study=study, clock=lambda: NOW + 3 * HOUR)
    return study


@pytest.fixture
def owner(client):
    client.force_login(make_member())
    return client


def test_every_page_asks_few_questions_and_shows_the_way_up(study, owner):
    found, lost, shown, alone = {}, [], 0, set()

    for page in console_pages(study):
        with CaptureQueriesContext(connection) as queries:
            answer = owner.get(page.address)
            if answer.streaming:
                answer.getvalue()
        is_lost = answer.status_code == 404 and not page.is_guessed
        if is_lost or answer.status_code not in ANSWERS:
            lost.append((page.address, answer.status_code))
        shown += answer.status_code == 200
        is_page = answer.status_code == 200 and not answer.streaming
        if is_page and "<main" in answer.content.decode(errors="replace"):
            crumbs = re.search('class="crumbs.*?</nav>', answer.content.decode(), re.DOTALL)
            if crumbs is None or "<a href=" not in crumbs[0]:
                alone.add(page.name)
        if len(queries) > MOST:
            found[page.address] = len(queries)

    assert lost == []
    assert found == {}
    assert alone == {"console:overview", "console:search"}  # the tops
    assert shown > 30


@pytest.mark.postgres  # SQLite compares with anything
def test_no_page_breaks_when_it_is_asked_oddly(study, owner):
    odd = {page.address: owner.get(page.address, ODD_QUERY) for page in console_pages(study)}

    assert {
        address: answer.status_code
        for address, answer in odd.items()
        if answer.status_code not in ANSWERS
    } == {}
    assert len(odd) > 30
