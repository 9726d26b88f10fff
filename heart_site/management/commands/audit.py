"""Command line of audits: whether a study's blinding holds."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from django.utils import timezone

from annotation import audits
from annotation.choices import AuditState
from annotation.management.studies import study_named
from annotation.models import BlindingAudit, Study
from completions.management.acting import Progress, RefusedError, positive
from heart_site.blinding import reporting
from heart_site.blinding.auditing import run_audit


class Command(BaseCommand):
    """Audits of what a study promises."""

    help = "Replay what raters of a study received, and test whether it told who wrote what."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the one audit there is."""
        one = parser.add_subparsers(dest="what", required=True).add_parser("blinding")
        one.add_argument("--study", required=True, help="the study's slug")
        one.add_argument(
            "--pages", type=positive, default=audits.N_PAGES, help="replay at most so many"
        )
        one.add_argument(
            "--seed", type=positive, default=audits.SEED, help="of the deals of guesses"
        )

    def handle(self, *, study: str, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Print the audit, which the console shows as well; end with code 1 if something tells."""
        audit = self._run(study_named(study), n_pages=options["pages"], seed=options["seed"])
        if audit.state != AuditState.DONE:
            raise CommandError(audit.error or "Another process has taken the audit over.")
        for line in reporting.lines(audit.report):
            self.stdout.write(line)
        if not audit.holds:
            msg = "The blinding does not hold: see above."
            raise CommandError(msg)

    def _run(self, study: Study, *, n_pages: int, seed: int) -> BlindingAudit:
        try:
            audit = audits.claim_audit(study=study, now=timezone.now(), n_pages=n_pages, seed=seed)
        except audits.AuditUnderWayError as error:
            msg = "An audit of this study is under way; the console shows how far it is."
            raise RefusedError(msg) from error
        progress = Progress(OutputWrapper(sys.stderr))
        with progress.towards("pages") as tell:
            run_audit(audit_id=audit.pk, clock=timezone.now, tell=tell)
        audit.refresh_from_db()
        return audit
