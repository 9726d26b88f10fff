"""Signing in: the password, the second factor and its seal, what is locked, sessions, the log."""

import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from allauth.usersessions.models import UserSession
from django.conf import settings as site
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client, TestCase
from hypothesis import given
from hypothesis import strategies as st

from access.choices import Role, Scope
from access.models import LogEntry
from access.sign_in.adapters import SealedElsewhereError, seal, unseal
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member
from tests.helpers.observed import STEP, code_of
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

CONSOLE, ADMIN = "/console/", "/admin/"
SIGN_IN, CODE = "/accounts/login/", "/accounts/code/"
ADD, REMOVE = "/accounts/second-factor/add/", "/accounts/second-factor/remove/"
CODES = "/accounts/recovery-codes/"
PASSWORD = "four plain words here"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture
def olga() -> User:
    user = make_member("olga")
    user.email = "olga@lab.example"
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture
def required(settings) -> None:
    settings.HEART_SECOND_FACTOR = "required"


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time of codes, at the middle of a step; tests move it."""
    now = [time.time() // STEP * STEP + STEP / 2]
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time.time", lambda: now[0])
    return now


@pytest.fixture
def elsewhere(client, olga) -> Client:
    """Another browser in which Olga signed in before she did in this one."""
    other = Client(headers={"user-agent": "An old phone"})
    sign_in(other)
    sign_in(client)
    return other


def sign_in(client, *, password=PASSWORD, username="olga", to=""):
    return client.post(SIGN_IN, {"login": username, "password": password, "next": to})


def add_factor(client, clock):
    """Add an app that shows codes; return the answer to its first code."""
    secret = re.search(r'id="secret">(\w+)<', client.get(ADD).content.decode())[1]
    with TestCase.captureOnCommitCallbacks(execute=True):
        return client.post(ADD, {"code": code_of(secret, at=clock[0])})


def acts():
    return list(LogEntry.objects.order_by("pk").values_list("action", flat=True))


class TestThePassword:
    def test_opens_the_console(self, client, olga):
        asked = client.get(CONSOLE)
        assert asked["Location"] == f"{SIGN_IN}?next={CONSOLE}"

        page = text(client.get(asked["Location"]))
        answer = sign_in(client, to=CONSOLE)

        assert "Username" in page
        assert answer["Location"] == CONSOLE
        assert client.get(CONSOLE).status_code == 200

    @pytest.mark.parametrize(
        ("page", "to"),
        [
            ("http://testserver/console/tokens/?status=valid", "/console/tokens/?status=valid"),
            ("https://elsewhere.example/console/tokens/", "/console/tokens/"),
            ("", CONSOLE),
        ],
    )
    def test_leads_from_a_press_that_came_too_late_to_the_page_of_its_button(
        self, page, to, client, olga
    ):
        late = client.post("/console/tokens/1/revoke/", headers={"referer": page})
        told = text(client.get(late["Location"]))

        assert "You were signed out, so nothing was done." in told
        assert sign_in(client, to=parse_qs(urlsplit(late["Location"]).query)["next"][0]).url == to
        assert client.get(to).status_code == 200

    def test_opens_djangos_admin_as_well(self, client, olga):
        asked = client.get(ADMIN, follow=True)

        assert asked.redirect_chain[-1][0] == f"{SIGN_IN}?next={ADMIN}"
        assert sign_in(client, to=ADMIN)["Location"] == ADMIN
        assert client.get(ADMIN).status_code == 200

    def test_makes_nobody_an_admin(self, client):
        client.force_login(make_member(role=Role.MANAGER))

        assert client.get(ADMIN, follow=True).status_code == 403

    @pytest.mark.parametrize("username", ["olga", "nobody"])
    def test_when_wrong_says_the_same_of_any_name(self, username, client, olga):
        answer = sign_in(client, username=username, password="something else")

        assert "The username or the password is not right" in text(answer)
        assert client.get(CONSOLE).status_code == 302
        assert acts() == (["sign-in.failed"] if username == "olga" else [])

    def test_is_locked_after_five_wrong_ones(self, client, olga):
        for _ in range(5):
            sign_in(client, password="something else")

        answer = [sign_in(client), sign_in(client)][-1]

        assert "too many failed attempts" in text(answer)
        assert client.get(CONSOLE).status_code == 302
        assert acts() == ["sign-in.failed"] * 5 + ["sign-in.locked"]
        cache.clear()  # as five minutes do
        assert sign_in(client)["Location"] == CONSOLE

    @pytest.mark.parametrize("name", ["olga", "nobody"])
    def test_is_locked_whatever_host_and_letters_it_is_tried_with(self, name, client, olga):
        for port in range(5):
            client.post(
                SIGN_IN,
                {"login": name.upper() if port % 2 else name, "password": "something else"},
                headers={"host": f"testserver:{port + 1}"},
            )

        assert "too many failed attempts" in text(sign_in(client, username=name))

    def test_of_a_former_member_opens_nothing(self, client, olga):
        User.objects.update(is_active=False)

        assert "not right" in text(sign_in(client))

    def test_cannot_be_had_by_signing_up(self, client):
        for path in ("signup/", "email/", "password/reset/", "social/signup/"):
            assert client.get(f"/accounts/{path}").status_code == 404


class TestTheSecondFactor:
    @pytest.fixture
    def enrolled(self, olga):
        TOTP.activate(olga, SECRET)
        RecoveryCodes.activate(olga)
        return olga

    def test_is_asked_for_after_the_password(self, client, enrolled, clock):
        asked = sign_in(client, to=CONSOLE)
        assert asked["Location"] == CODE
        assert client.get(CONSOLE).status_code == 302
        assert "Code" in text(client.get(CODE))
        wrong = client.post(CODE, {"code": code_of(SECRET, steps=5, at=clock[0])})
        assert "The code is not right" in text(wrong)
        right = client.post(CODE, {"code": code_of(SECRET, at=clock[0])})

        assert right["Location"] == CONSOLE
        assert client.get(CONSOLE).status_code == 200
        assert acts() == ["sign-in.failed"]
        assert LogEntry.objects.get().after == {"step": "second factor"}

    @pytest.mark.parametrize("spelling", ["{}", " {}", "-{}", "{}_."])
    def test_takes_a_code_once_for_as_long_as_it_is_good(self, spelling, client, enrolled, clock):
        code = code_of(SECRET, steps=1, at=clock[0])
        again = spelling.format(code)
        sign_in(client)
        assert client.post(CODE, {"code": code}).status_code == 302
        cache.delete(f"allauth.mfa.totp.used?user={enrolled.pk}&code={code}")  # as 30 seconds do
        clock[0] += STEP

        other = Client()
        sign_in(other)

        assert "The code is not right" in text(other.post(CODE, {"code": again}))

    def test_takes_the_code_that_added_it_no_second_time(self, client, olga, clock):
        sign_in(client)
        code = add_factor(client, clock).wsgi_request.POST["code"]
        other = Client()
        sign_in(other)

        assert "The code is not right" in text(other.post(CODE, {"code": code}))

    def test_is_of_no_use_to_whoever_has_the_database_alone(self, enrolled):
        codes = Authenticator.objects.get(type="recovery_codes").wrap().generate_codes()

        rows = str(list(Authenticator.objects.values_list("data", flat=True)))

        assert SECRET not in rows
        assert not any(code in rows for code in codes)
        assert re.search(r"'seed': 'gAAAA", rows)

    def test_is_reset_by_an_owner_once_the_site_has_another_secret_key(
        self, client, enrolled, clock, settings
    ):
        settings.SECRET_KEY = "another one"
        sign_in(client)

        answer = client.post(CODE, {"code": code_of(SECRET, at=clock[0])})

        assert "Ask an owner to reset it" in text(answer)
        assert client.get(CONSOLE).status_code == 302
        call_command("members", "reset", "olga")
        assert sign_in(Client(), to=CONSOLE)["Location"] == CONSOLE

    def test_may_be_reset_while_its_code_is_waited_for(self, client, enrolled):
        sign_in(client)
        call_command("members", "reset", "olga")

        again = client.get(CODE, follow=True)

        assert again.redirect_chain == [(SIGN_IN, 302)]
        assert sign_in(client, to=CONSOLE)["Location"] == CONSOLE
        assert client.get(CONSOLE).status_code == 200

    def test_is_locked_after_five_wrong_codes(self, client, enrolled, clock):
        sign_in(client)
        for _ in range(5):
            client.post(CODE, {"code": "000000"})

        answer = client.post(CODE, {"code": code_of(SECRET, at=clock[0])})

        assert "too many failed attempts" in text(answer)

    def test_may_be_a_recovery_code_each_once(self, client, enrolled):
        one = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]

        for outcome in (302, 200):
            visitor = Client()
            sign_in(visitor)
            assert visitor.post(CODE, {"code": one}).status_code == outcome

    def test_is_added_before_anything_else_where_it_is_required(
        self, client, olga, required, clock
    ):
        assert sign_in(client, to=CONSOLE)["Location"] == CONSOLE
        for page in (CONSOLE, ADMIN):
            assert client.get(page, follow=True).redirect_chain[-1][0] == ADD
        assert client.get("/api/v1/systems/").status_code == 403

        assert add_factor(client, clock)["Location"] == CODES
        page = text(client.get(CODES))
        assert len(re.findall(r"\b\d{8}\b", page)) == 10
        assert client.get(CONSOLE).status_code == 200
        assert client.get(ADMIN).status_code == 200
        logged = LogEntry.objects.order_by("pk").values_list("action", "by", "after__kind")
        kinds = ("totp", "recovery_codes")
        assert list(logged) == [("second-factor.added", olga.pk, kind) for kind in kinds]

    def test_is_nothing_to_programs(self, required):
        secret = make_secret(Scope.READ_STUDIES)

        assert Client().get("/api/v1/systems/", headers=bearing(secret)).status_code == 200

    def test_ends_sessions_that_began_without_it(self, client, elsewhere, clock):
        add_factor(client, clock)

        assert elsewhere.get(CONSOLE).status_code == 302
        assert client.get(CONSOLE).status_code == 200

    def test_is_changed_only_by_whoever_says_again_who_they_are(self, client, enrolled, clock):
        client.force_login(enrolled)  # long ago, for all that the session knows

        asked = client.get(REMOVE)
        assert asked["Location"].startswith("/accounts/confirm/")
        wrong = client.post(asked["Location"], {"password": "something else", "next": REMOVE})
        assert "The password is not right" in text(wrong)
        client.post(asked["Location"], {"password": PASSWORD, "next": REMOVE})
        with TestCase.captureOnCommitCallbacks(execute=True):
            client.post(REMOVE)

        assert not Authenticator.objects.exists()
        assert acts() == ["sign-in.failed", "second-factor.removed", "second-factor.removed"]


class TestSessions:
    def test_are_listed_and_ended(self, client, elsewhere):
        assert "An old phone" in text(client.get("/accounts/sessions/"))
        client.post("/accounts/sessions/")

        assert elsewhere.get(CONSOLE).status_code == 302
        assert UserSession.objects.count() == 1

    def test_end_with_the_working_day_and_by_signing_out(self, client, olga):
        sign_in(client)

        session = client.cookies[site.SESSION_COOKIE_NAME]
        assert (session["max-age"], session["httponly"]) == (12 * 60 * 60, True)
        client.post("/accounts/logout/")
        assert client.get(CONSOLE).status_code == 302
        assert not Session.objects.exists()
        assert not UserSession.objects.exists()

    def test_elsewhere_end_when_the_password_changes(self, client, elsewhere):
        fields = {"oldpassword": PASSWORD, "password1": "five other plain words here"}
        client.post("/accounts/password/", fields | {"password2": fields["password1"]})

        assert elsewhere.get(CONSOLE).status_code == 302
        assert client.get(CONSOLE).status_code == 200
        assert acts() == ["password.set"]


class TestSealing:
    """What is sealed is read with the same secret key, and with nothing else."""

    @given(text=st.text(max_size=80), key=st.text(min_size=1, max_size=80))
    def test_is_read_with_its_key(self, text, key):
        assert unseal(seal(text, secret_key=key), secret_key=key) == text

    def test_shows_nothing_of_the_text_and_never_looks_the_same(self):
        sealed = {seal(SECRET, secret_key="key") for _ in range(3)}

        assert len(sealed) == 3
        assert not any(SECRET in one for one in sealed)

    @pytest.mark.parametrize("place", [0, 20, -20])
    def test_is_not_read_once_it_was_changed(self, place):
        sealed = list(seal(SECRET, secret_key="key"))
        sealed[place] = "A" if sealed[place] != "A" else "B"

        with pytest.raises(SealedElsewhereError):
            unseal("".join(sealed), secret_key="key")

    @pytest.mark.parametrize(
        "sealed",
        [seal(SECRET, secret_key="key "), "", SECRET, "\u00e9"],
        ids=["with another key", "nothing", "a key that was never sealed", "no such letters"],
    )
    def test_refuses_what_it_did_not_seal(self, sealed):
        with pytest.raises(SealedElsewhereError):
            unseal(sealed, secret_key="key")
