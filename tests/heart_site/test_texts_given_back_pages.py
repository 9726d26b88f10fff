"""A text that cannot be taken, for the cookie is gone or somebody else's, goes back to its writer.

Each shape is what became of the browser's cookies between the page and the post.
"""

import re
import uuid
from html import unescape

import pytest
from django.test import Client

from annotation.models import Judgment, Lease, Report, Study
from annotation.session import http
from completions.dialogues.wording import MAX_CHARACTERS
from completions.models import Message, WritingLease
from completions.writers import http as writing
from tests.completions.writers import desk
from tests.completions.writers.desk import make_pool, sign_in, take_dialogue
from tests.helpers.factories import make_writer
from tests.helpers.visits import HTMX, enrol, open_study, read_forms, url

pytestmark = pytest.mark.django_db

REASON = 'Ä is "warmer" <b>&amp;</b>\nand asks what she needs.'
BOTH = pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
TYPED = {
    "submit": {"verdict": "2", "rationale": REASON},
    "without a choice": {"rationale": REASON},
    "report": {"kind": "UPSET", "text": REASON},
}
UNKNOWN = "This browser doesn’t recognise you"
NOT_YOURS = "belongs to someone else"
SHAPES = {
    "no cookie at all": (403, UNKNOWN),
    "no cookie of ours": (403, UNKNOWN),
    "a forged cookie": (403, UNKNOWN),
    "no token against forged forms": (403, "Your answer was not saved"),
    "another token against forged forms": (403, "Your answer was not saved"),
    "another rater's cookie": (404, NOT_YOURS),
    "another rater's cookie and no token": (403, "Your answer was not saved"),
    "a lease that never was": (404, NOT_YOURS),
}


@pytest.fixture
def study() -> Study:
    return open_study(n_pairs=1)


@pytest.fixture
def browser(study):
    """A browser that came in, and keeps to the rules on forged forms."""
    client = Client(enforce_csrf_checks=True)
    fields = read_forms(client.get(url(study, "entry")))[0].fields
    client.post(url(study, "consent"), fields | {"choice": "agree"})
    return client


def form_token(page):
    return read_forms(page)[0].fields["csrfmiddlewaretoken"]


def lose_cookies(client, shape, *, ours, forged):
    """Make of the client's cookies what the shape says of one, of all, or of the form's."""
    if shape == "no cookie at all":
        client.cookies.clear()
    if shape == "no cookie of ours":
        del client.cookies[ours]
    if shape == "a forged cookie":
        client.cookies[ours] = forged
    if "no token" in shape:
        del client.cookies["csrftoken"]


def take_away(browser, study, shape):
    """Open a pair, then make of the browser what the shape says; return both tokens to post."""
    form = form_token(browser.get(url(study, "judge")))
    lease = Lease.objects.get().token
    lose_cookies(browser, shape, ours=http.COOKIE, forged="R123456789-1~forged")
    if shape == "another token against forged forms":
        form = "a" * len(form)
    if "another rater" in shape:
        other = Client()
        enrol(other, study)
        browser.cookies[http.COOKIE] = other.cookies[http.COOKIE].value
    return uuid.uuid4() if shape == "a lease that never was" else lease, form


def given_back(page):
    """Return what stands in the field to copy from, as a browser reads it."""
    found = re.search(
        r'<textarea id="typed"[^>]* readonly[^>]*>\n?(.*?)</textarea>', shown(page), re.DOTALL
    )
    return unescape(found[1]) if found else None


def shown(page):
    return page.content.decode()


@BOTH
@pytest.mark.parametrize("what", TYPED)
@pytest.mark.parametrize("shape", SHAPES)
class TestRaters:
    def test_get_their_words_back_and_read_how_to_go_on(self, browser, study, shape, what, headers):
        lease, form = take_away(browser, study, shape)
        name = "report" if what == "report" else "submit"

        page = browser.post(
            url(study, name, lease), TYPED[what] | {"csrfmiddlewaretoken": form}, headers=headers
        )

        status, said = SHAPES[shape]
        assert (page.status_code, given_back(page)) == (status, REASON)
        assert said in shown(page)
        assert "Copy it now" in shown(page)
        assert ("private link" in shown(page)) == (said in (UNKNOWN, NOT_YOURS))
        assert shown(page).lstrip().startswith("<section" if headers else "<!doctype")
        assert page["Cache-Control"] == "no-store"
        assert not Judgment.objects.exists()
        assert not Report.objects.exists()


def test_who_comes_back_sends_the_same_text_and_it_counts_once(browser, study):
    cookie = browser.cookies[http.COOKIE].value
    lease, form = take_away(browser, study, "another rater's cookie")
    posted = TYPED["submit"] | {"csrfmiddlewaretoken": form}
    kept = given_back(browser.post(url(study, "submit", lease), posted))

    browser.cookies[http.COOKIE] = cookie
    browser.post(url(study, "submit", lease), posted | {"rationale": kept})

    assert Judgment.objects.get().rationale == REASON


@BOTH
@pytest.mark.parametrize("name", ["submit", "skip", "report"])
def test_who_typed_nothing_reads_why_nothing_was_saved(browser, study, name, headers):
    lease, form = take_away(browser, study, "no cookie of ours")

    page = browser.post(
        url(study, name, lease), {"reason": "unclear", "csrfmiddlewaretoken": form}, headers=headers
    )

    assert (page.status_code, given_back(page)) == (403, None)
    assert UNKNOWN in shown(page)


@pytest.mark.parametrize("name", ["last", "done"])
def test_who_only_looks_is_led_to_the_entry(study, name):
    answer = Client().get(url(study, name))

    assert (answer.status_code, answer["Location"]) == (303, url(study, "entry"))


@pytest.mark.parametrize(
    ("field", "name", "most"),
    [("rationale", "submit", 4000), ("text", "report", 1000), ("text", "dialogue", MAX_CHARACTERS)],
)
def test_no_more_comes_back_than_the_form_takes(study, field, name, most):
    token = uuid.uuid4()
    address = desk.url(name, token) if name == "dialogue" else url(study, name, token)

    page = Client().post(address, {field: "word " * 100_000})

    assert len(given_back(page)) == most


@pytest.mark.parametrize("typed", ["", "  \n", "\u200b"])
def test_what_has_nothing_to_see_is_no_text(study, typed):
    page = Client().post(url(study, "submit", uuid.uuid4()), {"rationale": typed})

    assert given_back(page) is None


ORIGINS = [
    ({"Origin": "https://evil.example"}, False, False),
    ({"Origin": "null"}, False, False),
    ({"Referer": "https://evil.example/"}, True, False),
    ({}, True, False),
    ({"Origin": "https://testserver"}, True, True),
]
"""What a browser says of the site of a form, whether over TLS, and whether that is this site."""


@pytest.mark.parametrize(("said", "secure", "is_ours"), ORIGINS)
@pytest.mark.parametrize("who", ["raters", "writers"])
def test_a_form_of_another_site_puts_no_words_on_our_page(study, said, secure, is_ours, who):
    client = Client(enforce_csrf_checks=True)
    address = url(study, "submit", uuid.uuid4())
    if who == "writers":
        address = desk.url("dialogue", uuid.uuid4())

    page = client.post(address, {"rationale": REASON, "text": REASON}, headers=said, secure=secure)

    assert page.status_code == 403
    assert given_back(page) == (REASON if is_ours else None)
    assert ("warmer" in shown(page)) is is_ours


@pytest.mark.parametrize("name", ["consent", "stop", "withdraw", "guess"])
def test_other_forms_get_the_page_on_forged_ones(study, name):
    page = Client(enforce_csrf_checks=True).post(url(study, name), {"text": REASON})

    assert page.status_code == 403
    assert "reload the page" in shown(page)
    assert "warmer" not in shown(page)


WRITERS_SHAPES = {
    "no cookie at all": (403, "Please open your personal link"),
    "no cookie of ours": (403, "Please open your personal link"),
    "a forged cookie": (403, "Please open your personal link"),
    "no token against forged forms": (403, "Your reply was not sent"),
    "another writer's cookie": (404, "belongs to someone else"),
}


@BOTH
@pytest.mark.parametrize("name", ["dialogue", "draft"])
@pytest.mark.parametrize("shape", WRITERS_SHAPES)
def test_writers_get_their_words_back(shape, name, headers):
    client, writer = Client(enforce_csrf_checks=True), make_pool()
    sign_in(client, writer)
    lease = take_dialogue(client)
    form = form_token(client.get(desk.url("dialogue", lease.token)))
    lose_cookies(client, shape, ours=writing.COOKIE, forged="W1-1~forged")
    if shape == "another writer's cookie":
        sign_in(client, make_writer(dataset=writer.dataset))

    page = client.post(
        desk.url(name, lease.token),
        {"text": REASON, "is_own_words": "on", "csrfmiddlewaretoken": form},
        headers=headers,
    )

    status, said = WRITERS_SHAPES[shape]
    assert (page.status_code, given_back(page)) == (status, REASON)
    assert said in shown(page)
    assert not Message.objects.exists()
    assert WritingLease.objects.get().draft == ""
