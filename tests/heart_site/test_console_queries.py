"""What holds of all pages of the console, also of those that are added: what they ask and take.

None asks the database more than 15 times, nor oftener of more rows.
"""

import re
from itertools import product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ranking.fits import services
from tests.helpers.datasets import make_reviewable
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_dataset,
    make_judge,
    make_judge_call,
    make_judgment,
    make_lease,
    make_quality_check,
    make_rater,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_calls import DONE, make_generation_run, make_judge_run, make_scan
from tests.helpers.factories_of_people import make_hold, make_report, make_sent, make_submission
from tests.helpers.factories_of_site import make_batch, make_delivery, make_external
from tests.helpers.factories_written_once import make_log_entry, make_member, make_release
from tests.helpers.judged import make_judged_study
from tests.helpers.pages import console_pages
from tests.helpers.released import make_reviewed_study
from tests.helpers.rows import pages_of_readers

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


def test_every_page_asks_few_questions_and_shows_the_way_up(study, staff):
    found, lost, shown, alone = {}, [], 0, set()

    for page in console_pages(study):
        with CaptureQueriesContext(connection) as queries:
            answer = staff.get(page.address)
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


N_MORE = 3
BUILT = {"state": "DONE", "ended_at": NOW, "manifest_hash": "0" * 64}


def make_around(comparison):
    """Make a row of each kind that hangs on a pair of a study."""
    study = comparison.study
    writer = make_writer(dataset=study.dataset)
    make_sent(lease=make_writing_lease(writer=writer, context=comparison.context))
    make_hold(completion=comparison.first)
    make_report(lease=make_lease(comparison=comparison))
    make_external(batch=make_batch(study=study), comparison=comparison)
    make_scan(judgment=make_judgment(comparison=comparison))
    make_judge_call(run=make_judge_run(study=study), comparison=comparison, **DONE)


def make_more(study, nth):
    """Make a few rows of each kind that the pages of a study, its dataset and the site list."""
    make_judged_study(study=study, with_llm=True)
    for name in (f"{nth}-{n}" for n in range(N_MORE)):
        make_log_entry(subject=f"study {study.slug}", by=make_member(f"member-{name}"))
        make_delivery()
        make_generation_run(dataset=make_dataset())
        make_reviewable(dataset=study.dataset, key=f"context-{name}")
        make_release(study=study, **BUILT)
        make_quality_check(comparison=make_comparison(study=study, purpose="CHECK"))
        rater = make_rater(study=study, platform="PROLIFIC", external_id=f"person-{name}")
        make_submission(rater=rater)
        make_around(make_comparison(study=study))
    services.refit_study(study=study, clock=lambda: NOW + (4 + nth) * HOUR)


def costs(study, client):
    """Return how often each page asks, which is shown with what is there."""
    pages = [(page.name, page.address) for page in console_pages(study)]
    found = {}
    for name, address in (*pages, *((address, address) for address in pages_of_readers(study))):
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(address)
            if answer.streaming:
                answer.getvalue()
        if answer.status_code == 200:
            found[name] = len(queries)
    return found


def test_no_page_asks_oftener_of_more_rows(study, staff):
    make_more(study, 1)
    few = costs(study, staff)
    make_more(study, 2)

    many = costs(study, staff)

    assert few.keys() == many.keys()
    grown = {name for name in few if many[name] > few[name]}
    assert grown == {"raters:outside"}  # works out agreement batch by batch, and keeps it
    assert {name for name in many if many[name] > MOST} <= grown  # also where a page was full
    assert len(few) > 60


FREE = {"action", "by", "dataset", "emotion", "problem", "rule"}
"""Choices among what rows say: of what none says, nothing is found."""


def choices_of(answer, address):
    """Return the names of what a page's own links and forms ask of it."""
    html = answer.content.decode()
    asks_itself = f'(?=[^>]*action="{address}"|(?![^>]*action=))'
    forms = re.findall(f'<form(?=[^>]*method="get"){asks_itself}.*?</form>', html, re.DOTALL)
    fields = re.findall(r'<select[^>]* name="(\w+)"', "".join(forms))
    return {*fields, *re.findall(r'href="\?(\w+)=', html)} - FREE - {"page"}


def test_no_page_takes_a_choice_that_it_does_not_offer(study, staff):
    make_more(study, 1)
    pages = {page.name: page.address for page in console_pages(study)}
    asked, taken = set(), set()
    for name, address in pages.items():
        answer = staff.get(address)
        if answer.status_code != 200 or answer.streaming:
            continue
        places = {name, f"{name}_csv", name.replace(":list", ":csv")} & pages.keys()
        for place, choice in product(places, choices_of(answer, address)):
            asked.add((place, choice))
            if staff.get(pages[place], {choice: "x"}).status_code not in {404, 422}:
                taken.add((place, choice))

    assert taken == set()
    assert len(asked) > 30


@pytest.mark.postgres  # SQLite compares with anything
def test_no_page_breaks_when_it_is_asked_oddly(study, staff):
    odd = {page.address: staff.get(page.address, ODD_QUERY) for page in console_pages(study)}

    assert {
        address: answer.status_code
        for address, answer in odd.items()
        if answer.status_code not in ANSWERS
    } == {}
    assert len(odd) > 30
