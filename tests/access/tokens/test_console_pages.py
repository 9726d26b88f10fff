"""The console's page on tokens, and the commands."""

import io
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from access.choices import Scope
from access.models import ApiToken, LogEntry
from tests.helpers.factories_of_site import bearing, make_token_row
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db
PAGE = "/console/tokens/"
FILLED = {"name": "nightly copy", "scopes": ["read:studies"], "days": "30", "study": ""}


class TestThePage:
    def test_shows_a_new_token_once(self, client, owner):
        answer = client.post(PAGE, FILLED)

        secret = re.search(r"heart_[A-Za-z0-9_-]{43}", answer.content.decode())[0]
        assert Client().get("/api/v1/problems/", headers=bearing(secret)).status_code == 200
        assert "no-store" in answer["Cache-Control"]
        again = client.get(PAGE).content.decode()
        assert secret not in again
        assert secret[:12] in again
        assert ApiToken.objects.get().owner == owner
        assert LogEntry.objects.get(action="token.made").by == owner

    @pytest.mark.parametrize(
        "fields", [{"name": ""}, {"scopes": []}, {"scopes": ["all"]}, {"days": "367"}]
    )
    def test_says_why_none_was_made(self, fields, client, owner):
        answer = client.post(PAGE, FILLED | fields)

        assert "No token was made" in text(answer)
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

    def make(self, **options):
        owner = options.get("owner", "olga")
        return self.run("make", "nightly", "--owner", owner, "--scope", Scope.READ_STUDIES)

    def test_make_list_and_revoke(self):
        make_member("olga")

        secret = self.make()

        assert Client().get("/api/v1/problems/", headers=bearing(secret)).status_code == 200
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
                ["make", "nightly", "--owner", "olga", "--scope", "read:studies", "--days", "0"],
                "366",
            ),
            (
                ["make", "x", "--owner", "olga", "--scope", "read:studies", "--days", "9" * 12],
                "366",
            ),
            (["revoke", "heart_none12"], "no token begins with 'heart_none12'"),
        ],
        ids=["unknown owner", "no day", "too many days", "unknown token"],
    )
    def test_refuse_in_plain_words(self, arguments, reason):
        make_member("olga")

        with pytest.raises(CommandError, match=reason):
            self.run(*arguments)
