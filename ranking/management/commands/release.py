"""Command line of releases."""

from django.core.management.base import CommandError

from completions.management.acting import ActionCommand
from ranking.management.release_actions import ACTIONS, UnsoundReleaseError

UNSOUND = 1


class Command(ActionCommand):
    """Build a study's release, and check one."""

    help = "Build the release of a study, and check one by its files alone (see docs/exports.md)."
    actions = ACTIONS
    requires_system_checks = ()  # verifying needs nothing of the site

    def handle(self, *arguments: object, **options: object) -> str:
        """Run the action; a release that does not hold is reported in full, with exit code 1."""
        try:
            return super().handle(*arguments, **options)
        except UnsoundReleaseError as report:
            self.stdout.write(str(report))
            msg = "the release does not hold"
            raise CommandError(msg, returncode=UNSOUND) from report
