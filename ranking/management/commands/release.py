"""Command line of releases; each action has a module of its own."""

from django.core.management.base import CommandError

from completions.management.acting import ActionCommand
from ranking.management.fits.options import UnknownNameError
from ranking.management.releases import building, verifying

UNSOUND = 1


class Command(ActionCommand):
    """Build a study's release, and check one."""

    help = "Build the release of a study, and check one by its files alone (see docs/exports.md)."
    actions = (building.ACTION, verifying.ACTION)
    refusals = (UnknownNameError, building.NotBuiltError)
    requires_system_checks = ()  # verifying needs nothing of the site

    def handle(self, *arguments: object, **options: object) -> str:
        """Run the action; a release that does not hold is reported in full, with exit code 1."""
        try:
            return super().handle(*arguments, **options)
        except verifying.UnsoundReleaseError as report:
            self.stdout.write(str(report))
            msg = "the release does not hold"
            raise CommandError(msg, returncode=UNSOUND) from report
