"""Command line of studies: create one from a file, plan its comparisons, change its state."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation import selectors, services
from annotation.models import Study
from annotation.protocol import STUDIES, ProtocolError, load_protocol
from annotation.rubric import RubricError, load_rubric
from completions import selectors as completions

MOVES: dict[str, Callable[..., Study]] = {
    "open": services.open_study,
    "pause": services.pause_study,
    "close": services.close_study,
}


class Command(BaseCommand):
    """Create, plan, open, pause and close studies."""

    help = "Create a study from a TOML file, plan its comparisons, open, pause or close it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add one subcommand per act."""
        acts = parser.add_subparsers(dest="act", required=True)
        create = acts.add_parser("create", help="store a study file as a draft")
        create.add_argument("file", help="a path, or the name of a shipped study")
        create.add_argument("--dataset", required=True)
        for act in ("plan", *MOVES):
            acts.add_parser(act).add_argument("study", help="the study's slug")

    def handle(self, *, act: str, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Run the act; bad input ends with exit code 2 and nothing written."""
        try:
            if act == "create":
                self._create(file=options["file"], dataset=options["dataset"])
            elif act == "plan":
                self._plan(_study(options["study"]))
            else:
                study = MOVES[act](study=_study(options["study"]), now=timezone.now())
                self.stdout.write(f"{study.slug}: {study.state.lower()}")
        except (
            ProtocolError,
            RubricError,
            services.RubricShownError,
            services.StudyExistsError,
            services.StudyStateError,
        ) as error:
            raise CommandError(str(error), returncode=2) from error

    def _create(self, *, file: str, dataset: str) -> None:
        shipped = STUDIES / f"{file}.toml"
        protocol = load_protocol(shipped if shipped.exists() else Path(file))
        found = completions.dataset_by_slug(dataset)
        if found is None:
            msg = f'there is no dataset "{dataset}"; import one first'
            raise CommandError(msg, returncode=2)
        study = services.create_study(
            protocol=protocol,
            rubric=load_rubric(protocol.rubric),
            dataset=found,
            now=timezone.now(),
        )
        self.stdout.write(f"{study.slug}: draft on {found.slug}")

    def _plan(self, study: Study) -> None:
        report = services.plan_study(study=study, now=timezone.now())
        self.stdout.write(f"{report.n_comparisons} comparisons, {report.n_added} of them new")
        for system, n in report.appearances.items():
            self.stdout.write(f"  {system}: in {n}")


def _study(slug: str) -> Study:
    study = selectors.study_by_slug(slug)
    if study is None:
        msg = f'there is no study "{slug}"'
        raise CommandError(msg, returncode=2)
    return study
