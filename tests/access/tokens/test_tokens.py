"""Tokens of the API: what they may do and for how long; the console's page on them, the command."""

import datetime as dt
import io
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from access.choices import Role, Scope
from access.models import ApiToken, LogEntry, Member
from access.tokens import services as token_services
from access.tokens.queries import digest, is_formed, token_of
from access.tokens.services import NewToken, TokenRefusedError
from tests.heart_site.permissions import addresses
from tests.helpers.factories import HOUR, NOW, make_study
from tests.helpers.factories_of_site import bearing, make_secret, make_token_row
from tests.helpers.factories_written_once import make_member, make_user
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)
ADDRESS = "/api/v1/problems/"
PAGE = "/console/tokens/"
FILLED = {"name": "nightly copy", "scopes": ["read:studies"], "days": "30", "study": ""}


def get(secret, address=ADDRESS, client=None):
    return (client or Client()).get(address, headers=bearing(secret))


def wanted(**fields):
    given: dict[str, Any] = {"name": "nightly", "scopes": [Scope.READ_STUDIES], "lifetime": DAY}
    return NewToken(**given | fields)


class TestMaking:
    def test_is_logged_with_who_did_it_and_the_secret_is_stored_nowhere(self):
        owner = make_member("olga")
        make_study(slug="kind-words")

        token, secret = token_services.make_token(
            wanted(study="kind-words"), owner=owner, now=NOW, by=owner
        )

        assert is_formed(secret)
        kept = " ".join(str(value) for value in ApiToken.objects.values_list()[0])
        logged = " ".join(str(row) for row in LogEntry.objects.values_list())
        assert secret not in kept + logged
        assert secret.startswith(token.prefix)
        assert token.secret_hash == digest(secret)
        entry = LogEntry.objects.get()
        assert (entry.action, entry.by, entry.at) == ("token.made", owner, NOW)
        assert (entry.after["scopes"], entry.after["study"]) == ("read:studies", "kind-words")

    def test_scopes_are_kept_once_and_in_order(self):
        asked = [Scope.WRITE_JUDGMENTS, Scope.READ_STUDIES, Scope.READ_STUDIES]

        token, _ = token_services.make_token(wanted(scopes=asked), owner=make_member(), now=NOW)

        assert token.scopes == "read:studies write:judgments"
        assert token.granted == (Scope.READ_STUDIES, Scope.WRITE_JUDGMENTS)

    @pytest.mark.parametrize(
        "fields",
        [
            *({"name": " "}, {"scopes": []}, {"study": "nowhere"}),
            *({"lifetime": dt.timedelta(0)}, {"lifetime": 367 * DAY}),
        ],
        ids=["no name", "no scope", "no such study", "no time", "too long"],
    )
    def test_refuses_what_there_must_not_be(self, fields):
        with pytest.raises(TokenRefusedError):
            token_services.make_token(wanted(**fields), owner=make_member(), now=NOW)

        assert not ApiToken.objects.exists()

    def test_refuses_more_than_the_owner_may_do(self):
        analyst = make_member(role=Role.ANALYST)

        more = wanted(scopes=[Scope.WRITE_JUDGMENTS])
        with pytest.raises(TokenRefusedError, match="write:judgments"):
            token_services.make_token(more, owner=analyst, now=NOW)
        with pytest.raises(TokenRefusedError):
            token_services.make_token(wanted(), owner=make_user(), now=NOW)


STUDIES, TEXTS, JUDGMENTS = Scope.READ_STUDIES, Scope.READ_TEXTS, Scope.READ_JUDGMENTS
RELEASES = Scope.READ_RELEASES
OF_STUDY = "studies/<slug:study>/"
SCOPES: dict[str, dict[str, Scope | None]] = {
    "completions/": {"GET": TEXTS, "POST": Scope.WRITE_COMPLETIONS},
    "contexts/": {"GET": TEXTS},
    "contexts/<slug:key>/": {"GET": TEXTS},
    "systems/": {"GET": STUDIES},
    "systems/<slug:slug>/": {"GET": STUDIES},
    "studies/": {"GET": STUDIES},
    OF_STUDY: {"GET": STUDIES},
    f"{OF_STUDY}comparisons/": {"GET": JUDGMENTS},
    f"{OF_STUDY}judgments/": {"GET": JUDGMENTS},
    f"{OF_STUDY}external-judgments/": {"GET": JUDGMENTS, "POST": Scope.WRITE_JUDGMENTS},
    f"{OF_STUDY}ratings/": {"GET": STUDIES},
    f"{OF_STUDY}fits/": {"GET": STUDIES},
    f"{OF_STUDY}fits/<slug:key>/": {"GET": STUDIES},
    f"{OF_STUDY}fits/<slug:key>/analyses/": {"GET": STUDIES},
    f"{OF_STUDY}fits/<slug:key>/analyses/<slug:kind>/": {"GET": STUDIES},
    f"{OF_STUDY}releases/": {"GET": RELEASES},
    f"{OF_STUDY}releases/<slug:release>/": {"GET": RELEASES},
    f"{OF_STUDY}releases/<slug:release>/archive/": {"GET": RELEASES},
    f"{OF_STUDY}releases/<slug:release>/files/<path:path>": {"GET": RELEASES},
    "problems/": {"GET": STUDIES},
    "docs/": {"GET": None},
    "schema/": {"GET": None},
}
"""The scope that each method of each address takes; none: anybody may, whatever they carry."""
REFUSED = {401, 403}


def let_in(secret):
    """Return the methods of the addresses of the API at which a token is not refused."""
    client, found = Client(headers=bearing(secret)), set()
    for address in addresses():
        route = address.route.removeprefix("api/v1/")
        if route != address.route:
            for method in SCOPES[route]:
                answer = client.generic(method, address.example, "{}", "application/json")
                assert answer.status_code < 500
                found |= set() if answer.status_code in REFUSED else {(method, route)}
    return found


def right(scope, study):
    """Yield the methods of the addresses that are for a token of a scope, for a study or all."""
    for route, methods in SCOPES.items():
        is_inside = study in {"", "demo" if route.startswith(OF_STUDY) else ""}
        for method, needed in methods.items():
            if needed is None or (needed == scope and is_inside):
                yield method, route


class TestEveryAddress:
    def test_has_a_line(self):
        routes = {address.route for address in addresses() if address.route.startswith("api/v1/")}

        assert {f"api/v1/{route}" for route in SCOPES} == routes

    @pytest.mark.parametrize("study", ["", "demo", "other"])
    @pytest.mark.parametrize("scope", list(Scope))
    def test_lets_a_token_of_its_scope_in_and_no_other(self, settings, scope, study):
        settings.HEART_API_RATES = dict.fromkeys(settings.HEART_API_RATES, 1000)
        make_study(slug="demo")
        make_study(slug="other")

        assert let_in(make_secret(scope, study=study)) == set(right(scope, study))


class TestUsing:
    def test_does_nothing_beyond_its_scope_not_even_what_is_public(self):
        answer = get(make_secret(Scope.WRITE_JUDGMENTS))

        assert answer.status_code == 403
        assert answer.json()["code"] == "permission_denied"
        assert Client().get(ADDRESS).status_code == 200

    @pytest.mark.parametrize(
        "secret",
        ["", "heart_", "heart_" + "a" * 43, "x" * 10_000, "heart_" + "e" * 42 + "."],
        ids=["nothing", "no chance", "unknown", "endless", "another sign"],
    )
    def test_an_unknown_one_is_refused_and_says_how_to_come(self, secret):
        answer = get(secret)

        assert answer.status_code == 401
        assert answer["WWW-Authenticate"] == 'Bearer realm="heart"'
        assert answer.json()["code"] == "authentication_failed"

    def test_ends_when_it_expires(self, site_clock):
        secret = make_secret(Scope.READ_STUDIES)

        site_clock.turn(seconds=366 * 86400 - 1)
        assert get(secret).status_code == 200
        site_clock.turn(seconds=1)
        assert get(secret).status_code == 401

    def test_ends_when_it_is_revoked_and_once_only(self):
        secret = make_secret(Scope.READ_STUDIES)
        token = ApiToken.objects.get()

        assert token_services.revoke_token(token, now=token.created_at + HOUR)
        assert not token_services.revoke_token(token, now=token.created_at + 2 * HOUR)

        assert get(secret).status_code == 401
        assert LogEntry.objects.filter(action="token.revoked").count() == 1
        assert ApiToken.objects.get().revoked_at == token.created_at + HOUR

    def test_ends_with_the_membership_or_the_account_of_its_owner(self):
        first, second = make_member(), make_member()
        secrets = [make_secret(Scope.READ_STUDIES, owner=one) for one in (first, second)]

        Member.objects.filter(user=first).delete()
        User.objects.filter(pk=second.pk).update(is_active=False)

        assert [get(secret).status_code for secret in secrets] == [401, 401]

    @pytest.mark.parametrize(
        ("address", "code"),
        [
            ("/api/v1/studies/inside/ratings/", "no_fit"),
            ("/api/v1/studies/outside/ratings/", "permission_denied"),
            (ADDRESS, "permission_denied"),
        ],
    )
    def test_of_one_study_is_for_nothing_outside_it(self, address, code):
        for slug in ("inside", "outside"):
            make_study(slug=slug)

        answer = get(make_secret(Scope.READ_STUDIES, study="inside"), address)

        assert answer.json()["code"] == code

    def test_its_last_use_is_written_once_a_minute(self, site_clock, django_assert_num_queries):
        secret = make_secret(Scope.READ_STUDIES)
        get(secret)
        assert ApiToken.objects.get().last_used_at == NOW

        site_clock.turn(seconds=59)
        with django_assert_num_queries(2):  # the token with its owner, and the studies
            get(secret)
        assert ApiToken.objects.get().last_used_at == NOW

        site_clock.turn(seconds=1)
        get(secret)
        assert ApiToken.objects.get().last_used_at == site_clock.at

    def test_is_found_by_its_hash_alone(self, site_clock):
        secret = make_secret(Scope.READ_STUDIES)

        assert token_of(secret, now=NOW) == ApiToken.objects.get()
        assert token_of(ApiToken.objects.get().secret_hash, now=NOW) is None
        assert token_of(f"{secret[:-1]}{'A' if secret[-1] != 'A' else 'B'}", now=NOW) is None


class TestThePage:
    def test_shows_a_new_token_once(self, client, owner):
        answer = client.post(PAGE, FILLED)

        secret = re.search(r"heart_[A-Za-z0-9_-]{43}", answer.content.decode())[0]
        assert get(secret).status_code == 200
        assert "no-store" in answer["Cache-Control"]
        again = client.get(PAGE).content.decode()
        assert secret not in again
        assert secret[:12] in again
        assert ApiToken.objects.get().owner == owner
        assert LogEntry.objects.get(action="token.made").by == owner

    @pytest.mark.parametrize(
        ("field", "value"), [("days", "367"), ("name", ""), ("scopes", []), ("study", "no slug")]
    )
    def test_says_beside_the_field_why_none_was_made(self, client, owner, field, value):
        answer = client.post(PAGE, FILLED | {field: value})

        assert answer.status_code == 422
        assert "No token was made" in text(answer)
        assert answer.context["form"].errors.keys() == {field}
        assert answer.content.decode().count('class="error-text"') == 1
        assert not ApiToken.objects.exists()

    def test_revokes(self, client, owner):
        row = make_token_row()

        answer = client.post(f"{PAGE}{row.pk}/revoke/", follow=True)

        assert f"{row.prefix} is revoked" in text(answer)
        assert ApiToken.objects.get().revoked_at is not None
        assert LogEntry.objects.get(action="token.revoked").by == owner

    def test_shows_the_tokens_of_all(self, client, owner, django_assert_max_num_queries):
        rows = [make_token_row() for _ in range(20)]

        with django_assert_max_num_queries(15):
            page = text(client.get(PAGE))

        assert all(row.prefix in page for row in rows)


class TestCommands:
    def run(self, *arguments):
        out = io.StringIO()
        call_command("tokens", *arguments, stdout=out, stderr=io.StringIO())
        return out.getvalue().strip()

    def test_make_list_and_revoke(self):
        make_member("olga")

        secret = self.run("make", "nightly", "--owner", "olga", "--scope", Scope.READ_STUDIES)

        assert get(secret).status_code == 200
        listed = self.run("list")
        assert secret not in listed
        assert f"{secret[:12]}  valid" in listed
        assert self.run("revoke", secret[:12]).endswith("is revoked")
        assert self.run("revoke", secret[:12]).endswith("was revoked before")
        assert "revoked" in self.run("list")

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            (["make", "nightly", "--owner", "nobody", "--scope", "read:studies"], "no member"),
            (
                ["make", "x", "--owner", "olga", "--scope", "read:studies", "--days", "9" * 12],
                "366",
            ),
            (["revoke", "heart_none12"], "no token begins with 'heart_none12'"),
        ],
        ids=["unknown owner", "too many days", "unknown token"],
    )
    def test_refuse_in_plain_words(self, arguments, reason):
        make_member("olga")

        with pytest.raises(CommandError, match=reason):
            self.run(*arguments)
