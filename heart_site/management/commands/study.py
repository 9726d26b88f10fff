"""Command line of studies: create, lock, plan, open, show; each act has a module of its own."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from heart_site.management.studies import ACTS
from heart_site.management.studies.act import RefusedError


class Command(BaseCommand):
    """Everything that is done to a study from the command line."""

    help = "Create a study from a TOML file, lock it, plan its comparisons, open it, look at it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add one subcommand per act."""
        acts = parser.add_subparsers(dest="act", required=True)
        for act in ACTS:
            act.add_arguments(acts.add_parser(act.name, help=act.help, description=act.help))

    def handle(self, *, act: str, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Run the act; bad input ends with exit code 2 and nothing written."""
        chosen = next(one for one in ACTS if one.name == act)
        refusals: tuple[type[Exception], ...] = (RefusedError, *chosen.refusals)
        try:
            chosen.run(options, self.stdout.write)
        except refusals as error:
            raise CommandError(str(error), returncode=2) from error
