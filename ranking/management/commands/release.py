"""Command line of releases."""

from django.core.management.base import CommandError

from completions.management.acting import ActionCommand
from ranking.management.fit_options import UnknownNameError
from ranking.management.release_actions import ACTIONS, NotBuiltError, UnsoundReleaseError

UNSOUND = 1


class Command(ActionCommand):
    """Build a study's release, and check one."""

    help = "Build the release of a study, and check one by its files alone (see docs/exports.md)."
    actions = ACTIONS
    refusals = (UnknownNameError, NotBuiltError)
    requires_system_checks = ()  # verifying needs nothing of the site

    def handle(self, *arguments: object, **options: object) -> str:
        """Run the action; a release that does not hold is reported in full, with exit code 1."""
        try:
            return super().handle(*arguments, **options)
        except UnsoundReleaseError as report:
            self.stdout.write(str(report))
            msg = "the release does not hold"
            raise CommandError(msg, returncode=UNSOUND) from report
