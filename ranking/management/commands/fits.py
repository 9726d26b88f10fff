"""Command line of fits."""

from django.core.management.base import CommandError

from completions.management.acting import ActionCommand
from ranking.management.fit_actions import ACTIONS, UnsoundFitError

UNSOUND = 1


class Command(ActionCommand):
    """Look at fits, bring them up to date, verify them."""

    help = "List the fits of a study, compute what is out of date, verify what is stored."
    actions = ACTIONS

    def handle(self, *arguments: object, **options: object) -> str:
        """Run the action; a fit that does not hold is reported in full, with exit code 1."""
        try:
            return super().handle(*arguments, **options)
        except UnsoundFitError as report:
            self.stdout.write(str(report))
            msg = "the fit does not hold"
            raise CommandError(msg, returncode=UNSOUND) from report
