"""Every address, asked by everybody in every way: see the table in ``permissions.py``."""

import pytest
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.shortcuts import resolve_url
from django.test import Client

from access.choices import Role
from tests.heart_site.permissions import METHODS, ROLES, TABLE, addresses, rule
from tests.helpers.factories import make_dataset, make_study
from tests.helpers.factories_written_once import make_member, make_user

pytestmark = pytest.mark.django_db

NOT_FOUND = 404
SIGNING_OUT = ("accounts/", "w/sign-out/")


def outcome(answer, role):
    """Say in a word how an address received whoever asked.

    The admin leads a member without the right to its sign-in page, which refuses them; a part of a
    page has the page around it load anew, which does what it does.
    """
    if answer.status_code == 405:
        return "not allowed"
    if answer.status_code in {401, 403}:
        return "refused"
    location = answer.headers.get("Location", "").split("?")[0]
    if "HX-Refresh" in answer.headers:
        return "loads anew"
    if answer.status_code == 302 and location in doors():
        return "led to sign in" if role == "anyone" else "refused"
    return "let in"


def doors():
    return {resolve_url(settings.LOGIN_URL), "/admin/login/"}


def wanted(route, role, method):
    """Return the outcomes that the table allows."""
    least = rule(route).get(method)
    if least is None:  # refusing first is as good, but whoever is let in elsewhere has to hear it
        return {"not allowed"} if role == "owner" else {"not allowed", "refused", "led to sign in"}
    if least != "nobody" and ROLES.index(role) >= ROLES.index(least):
        return {"let in"}
    is_page = route.startswith("accounts/") or not (route.startswith("api/") or least == "nobody")
    return {"led to sign in"} if role == "anyone" and is_page else {"refused"}


def visitor(role):
    """Return somebody of that role, signed in where the role has an account."""
    client = Client()
    if role == "user":
        client.force_login(make_user(password=make_password(None)))
    elif role != "anyone":
        client.force_login(make_member(role=Role[role.upper()]))
    return client


def is_beside_the_line(route, role, method):
    """Tell whether a role is the least that is let in, or the one just below it.

    A method that is not allowed is tried by an owner, from whom nothing else is kept, as DELETE.
    """
    least = rule(route).get(method, "none")
    if least == "none":
        return (role, method) == ("owner", "DELETE")
    if least == "nobody":
        return role in {"anyone", "owner"}
    return ROLES.index(least) - ROLES.index(role) in {0, 1}


def differences(role, method, *, beside):
    """Ask at the addresses where this role stands so; yield what does not go as the table says."""
    make_study(slug="demo", dataset=make_dataset(slug="demo"))
    client = visitor(role)
    cookies = client.cookies.copy()
    for address in addresses():
        if address.route not in TABLE:
            continue
        if is_beside_the_line(address.route, role, method) is not beside:
            continue
        answer = client.generic(method, address.example)
        found, right = outcome(answer, role), wanted(address.route, role, method)
        if found not in {*right, "loads anew"} or answer.status_code >= 500:
            yield f"{address.route}: {found} ({answer.status_code}), not {' or '.join(right)}"
        is_shown = found == "let in" and answer.status_code < NOT_FOUND
        is_kept = "no-store" not in answer.headers.get("Cache-Control", "")
        if address.needs is not None and is_shown and is_kept:
            yield f"{address.route}: caches may keep what members alone are shown"
        if address.route.startswith(SIGNING_OUT):
            client = visitor(role)
            cookies = client.cookies.copy()
        client.cookies = cookies.copy()


def test_every_address_has_a_line_and_every_line_an_address():
    routes = {address.route for address in addresses()}

    assert sorted(routes - TABLE.keys()) == [], "add these to tests/heart_site/permissions.py"
    assert sorted(TABLE.keys() - routes) == [], "take these out of tests/heart_site/permissions.py"


@pytest.mark.parametrize("beside", [True, pytest.param(False, marks=pytest.mark.full)])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("role", ROLES)
def test_everybody_is_received_as_the_table_says(role, method, beside):
    assert list(differences(role, method, beside=beside)) == []


def test_every_page_of_the_console_says_whom_it_answers():
    unsaid = [
        address.route
        for address in addresses()
        if address.route.startswith("console/") and address.needs is None
    ]

    assert unsaid == []
