"""Command line of tokens: make, list, revoke."""

import argparse
import datetime as dt
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from access.choices import Scope
from access.models import LONGEST, ApiToken
from access.tokens import queries as token_queries
from access.tokens import services as token_services


def _days(text: str) -> int:
    """Read for how many days a token is valid."""
    if not text.isdecimal() or not 1 <= int(text) <= LONGEST.days:
        msg = f"{text!r} is not a whole number of days from 1 to {LONGEST.days}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


class Command(BaseCommand):
    """Keys with which programs use the API."""

    help = "Make a token for the API, list all of them, revoke one."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add one subcommand per act."""
        acts = parser.add_subparsers(dest="act", required=True)
        make = acts.add_parser("make", help="Make a token and print it, once.")
        make.add_argument("name", help="what it is for")
        make.add_argument("--owner", required=True, help="the member whose role it acts with")
        make.add_argument(
            "--scope", action="append", required=True, choices=Scope.values, dest="scopes"
        )
        make.add_argument("--days", type=_days, default=90, help="how long it is valid (1 to 366)")
        make.add_argument("--study", default="", help="the one study it is for")
        acts.add_parser("list", help="List every token, never its secret.")
        revoke = acts.add_parser("revoke", help="End a token for good.")
        revoke.add_argument("prefix", help="how it begins, as `tokens list` says")

    def handle(self, *, act: str, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Do the act; what is refused ends with exit code 2."""
        try:
            getattr(self, f"_{act}")(options)
        except token_services.TokenRefusedError as error:
            raise CommandError(str(error), returncode=2) from error
        except User.DoesNotExist as error:
            msg = f"there is no member {options['owner']!r}"
            raise CommandError(msg, returncode=2) from error
        except ApiToken.DoesNotExist as error:
            msg = f"no token begins with {options['prefix']!r}; `tokens list` says how they begin"
            raise CommandError(msg, returncode=2) from error

    def _make(self, options: dict[str, Any]) -> None:
        new_token = token_services.NewToken(
            options["name"],
            [Scope(one) for one in options["scopes"]],
            dt.timedelta(days=options["days"]),
            options["study"],
        )
        owner = User.objects.get(username=options["owner"])
        _, secret = token_services.make_token(new_token, owner=owner, now=timezone.now())
        self.stdout.write(secret)
        self.stderr.write("Keep it now: it is stored nowhere and not shown again.")

    def _list(self, _options: dict[str, Any]) -> None:
        now = timezone.now()
        for token in token_queries.all_tokens():
            state = "valid" if token.is_valid(now) else "revoked" if token.revoked_at else "expired"
            study = f" for {token.study}" if token.study else ""
            self.stdout.write(
                f"{token.prefix}  {state} until {token.expires_at:%Y-%m-%d}  {token.owner}  "
                f"{token.scopes}{study}  {token.name}"
            )

    def _revoke(self, options: dict[str, Any]) -> None:
        token = ApiToken.objects.get(prefix=options["prefix"])
        done = token_services.revoke_token(token, now=timezone.now())
        self.stdout.write(f"{token.prefix} {'is revoked' if done else 'was revoked before'}")
