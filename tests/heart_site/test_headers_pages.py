"""Every answer, of every address and kind, tells browsers what they may not do with it."""

import pytest
from django.test import Client
from django.urls import path

from heart_site import urls
from tests.heart_site.permissions import addresses
from tests.helpers.factories import make_dataset, make_study
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import text
from tests.helpers.processes import deploy
from tests.helpers.visits import enrol, open_study

pytestmark = pytest.mark.django_db

YEAR = 31_536_000
WANTED = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Strict-Transport-Security": f"max-age={YEAR}; includeSubDomains; preload",
}
NOTHING_ELSE = {"'none'", "'self'", "data:"}
BEHIND = {"X-Forwarded-Proto": "https"}
STATIC = ("/static/css/heart.css", "/static/js/judging.js")


@pytest.fixture(autouse=True)
def behind_tls(settings):
    deploy(settings)


def faults(answer) -> list[str]:
    """Name each header that is missing, or that allows more than it should."""
    found = [name for name, value in WANTED.items() if answer.headers.get(name) != value]
    policy = answer.headers.get("Content-Security-Policy", "")
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
    if rules.get("default-src") != "'none'" or rules.get("frame-ancestors") != "'none'":
        found.append("Content-Security-Policy")
    found += [
        f"{name} {source}"
        for name, sources in rules.items()
        for source in sources.split()
        if source not in NOTHING_ELSE or (source == "data:" and name != "img-src")
    ]
    if "camera=()" not in answer.headers.get("Permissions-Policy", ""):
        found.append("Permissions-Policy")
    return found


def loose_cookies(answer) -> list[str]:
    """Name each cookie that scripts, other sites or open lines could get at."""
    return [
        name
        for name, cookie in answer.cookies.items()
        if cookie.value  # what is taken away again is empty
        and not (cookie["secure"] and cookie["httponly"] and cookie["samesite"] == "Lax")
    ]


@pytest.mark.parametrize("is_member", [True, pytest.param(False, marks=pytest.mark.full)])
def test_every_address_answers_with_the_headers(is_member):
    make_study(slug="demo", dataset=make_dataset(slug="demo"))
    client, member = Client(), make_member()
    wrong = {}
    for address in addresses():
        if is_member and not client.cookies:  # at first, and after having signed out
            client.force_login(member)
        answer = client.get(address.example, secure=True)
        if bad := faults(answer) + loose_cookies(answer):
            wrong[address.route] = bad

    assert wrong == {}


def test_errors_and_static_files_carry_them_too():
    def broken(request):
        raise RuntimeError

    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    urls.urlpatterns.append(path("broken/", broken))
    try:
        answers = {
            500: client.get("/broken/", secure=True),
            404: client.get("/no/such/page/", secure=True),
            405: Client().post("/", secure=True),
            403: client.post("/accounts/login/", {}, secure=True),
            400: client.get("/", secure=True, headers={"Host": "elsewhere.example"}),
        }
    finally:
        urls.urlpatterns.pop()
    static = [client.get(file, secure=True) for file in STATIC]
    for answer in static:
        answer.close()

    assert [answer.status_code for answer in answers.values()] == list(answers)
    assert [answer.status_code for answer in static] == [200, 200]
    assert [faults(answer) for answer in [*answers.values(), *static]] == [[]] * 7


@pytest.mark.parametrize(
    ("address", "way_on"),
    [("/console/demo/open/", "/console/"), ("/hooks/prolific/demo/", "/")],
)
def test_an_address_of_forms_alone_is_a_page_with_a_way_on_for_who_looks_at_it(address, way_on):
    client = Client()
    client.force_login(make_member())
    make_study(slug="demo")

    answer = client.get(address, secure=True)

    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "Nothing was done" in text(answer)
    assert f'class="button" href="{way_on}"' in answer.content.decode()


@pytest.mark.parametrize(("address", "has_styles"), [("/no/such/page/", True), ("/", False)])
def test_a_page_of_debugging_keeps_its_own_styles(settings, address, has_styles):
    settings.DEBUG = True

    answer = Client().get(address, secure=True)

    assert ("style-src 'self' 'unsafe-inline'" in answer["Content-Security-Policy"]) is has_styles


def test_an_open_line_is_led_to_tls():
    answer = Client().get("/console/?page=2")

    assert answer.status_code == 301
    assert answer["Location"] == "https://testserver/console/?page=2"


class TestCookies:
    def test_of_members_are_of_this_host_alone_and_last_a_working_day(self, settings):
        client, member = Client(headers=BEHIND), make_member()
        member.set_password("a long enough password")
        member.save()
        page = client.get("/accounts/login/")
        typed = {"login": member.username, "password": "a long enough password"}
        client.post("/accounts/login/", typed)
        session = client.cookies["__Host-sessionid"]

        assert set(page.cookies) == {"__Host-csrftoken"}
        assert page.cookies["__Host-csrftoken"]["path"] == "/"
        assert not page.cookies["__Host-csrftoken"]["domain"]
        assert (session["path"], session["max-age"]) == ("/", 12 * 60 * 60)

    def test_of_raters_are_kept_for_ninety_days_and_off_open_lines(self):
        client = Client(headers=BEHIND)
        enrol(client, open_study(), pid="5")

        credential = client.cookies["heart_rater"]
        assert (credential["max-age"], credential["secure"]) == (90 * 24 * 60 * 60, True)


def test_whatever_is_read_can_be_asked_for_its_head():
    """Programs that look whether a link is alive ask so, and a 405 is a dead link to them."""
    client, allowed = Client(), {}
    client.force_login(make_member())
    for address in addresses():
        answer = client.options(address.example, secure=True)
        allowed[address.route] = set(answer.headers.get("Allow", "").split(", "))

    assert sum("GET" in methods for methods in allowed.values()) > 100
    assert [
        route for route, methods in allowed.items() if methods & {"GET", "HEAD"} == {"GET"}
    ] == []
