"""Command line of the team: the first owner, and whatever the console cannot do any more."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from access.choices import Role
from access.members import services as member_services
from access.roles import team, user_named, with_roles

ROLES = [role.lower() for role in Role.values]


class Command(BaseCommand):
    """Members of the team."""

    help = "Add a member, list all, change a role, remove, reset a second factor, make a link."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add one subcommand per act."""
        acts = parser.add_subparsers(dest="act", required=True)
        add = acts.add_parser("add", help="Add a member; prints a link to set the password.")
        add.add_argument("name")
        add.add_argument("--role", required=True, choices=ROLES)
        add.add_argument("--email", default="", help="by which single sign-on knows them")
        acts.add_parser("list", help="List every member.")
        role = acts.add_parser("role", help="Change a role.")
        role.add_argument("name")
        role.add_argument("role", choices=ROLES)
        for act, told in (
            ("remove", "Take somebody out of the team."),
            ("reset", "Forget a second factor."),
            ("link", "Print a link to set a new password."),
        ):
            acts.add_parser(act, help=told).add_argument("name")

    def handle(self, *, act: str, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Do the act; what is refused ends with exit code 2."""
        try:
            getattr(self, f"_{act}")(**options)
        except member_services.LastOwnerError as error:
            msg = "somebody has to own the site: make another owner first"
            raise CommandError(msg, returncode=2) from error
        except (member_services.MemberRefusedError, member_services.NoMemberError) as error:
            raise CommandError(str(error), returncode=2) from error

    def _add(self, *, name: str, role: str, email: str, **_options: object) -> None:
        now = timezone.now()
        self._print_link(member_services.add_member(name, Role(role.upper()), email=email, now=now))

    def _list(self, **_options: object) -> None:
        for one, role in with_roles(team()):
            factor = "second factor" if vars(one)["has_second_factor"] else "no second factor"
            seen = f"{one.last_login:%Y-%m-%d}" if one.last_login else "never"
            self.stdout.write(f"{one.username}  {role.lower()}  {factor}  signed in {seen}")

    def _role(self, *, name: str, role: str, **_options: object) -> None:
        done = member_services.change_role(_user(name), Role(role.upper()), now=timezone.now())
        self.stdout.write(f"{name} {'is' if done else 'was'} {role}")

    def _remove(self, *, name: str, **_options: object) -> None:
        member_services.remove_member(_user(name), now=timezone.now())
        self.stdout.write(f"{name} is removed")

    def _reset(self, *, name: str, **_options: object) -> None:
        member_services.reset_second_factor(_user(name), now=timezone.now())
        self.stdout.write(f"the second factor of {name} is reset")

    def _link(self, *, name: str, **_options: object) -> None:
        self._print_link(_user(name))

    def _print_link(self, user: User) -> None:
        path = member_services.make_password_link(user, now=timezone.now())
        self.stdout.write(settings.HEART_SITE_URL.rstrip("/") + path)
        self.stderr.write("It sets the password, once and within three days. It is shown once.")


def _user(name: str) -> User:
    user = user_named(name)
    if user is None or not team().filter(pk=user.pk).exists():
        msg = f"{name} is no member"
        raise member_services.NoMemberError(msg)
    return user
