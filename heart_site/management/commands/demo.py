"""The main job from one file to a leaderboard, then the site."""

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.models import Study
from completions.contexts.selection import SelectionError
from completions.dialogues.ingest.dialogue import IngestError
from completions.management.acting import RefusedError
from completions.runs.services.exclusive import AnotherAtWorkError
from heart_site.demo import study as demo_study
from heart_site.embedded import process
from ranking.fits import queries as ranking


class Command(BaseCommand):
    """Set up the demo study, run it, print the leaderboard, serve the site."""

    help = "Set up a small judged and ranked study with simulated systems, then serve the site."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the source, the port, and whether to stay."""
        parser.add_argument("--check", action="store_true", help="print the leaderboard and exit")
        parser.add_argument("--dialogues", type=Path, help="a file of dialogues in a known format")
        parser.add_argument("--port", type=int, default=8000, help="0 lets the system choose")

    def handle(
        self,
        *,
        check: bool,
        dialogues: Path | None,
        port: int,
        **_options: Any,  # noqa: ANN401 (Django's signature)
    ) -> None:
        """Run the demo; unreadable input ends with exit code 2 and nothing written."""
        call_command("migrate", verbosity=0)
        self.stdout.write(
            "Systems, judges and hostile seekers of this demo are simulated: scores mean nothing."
        )
        try:
            study = demo_study.prepare(dialogues, now=timezone.now(), say=self.stderr.write)
            with process.background():
                demo_study.add_adversarial_contexts(study, say=self.stderr.write)
                self._show_leaderboard(study)
                if not check:
                    self._serve(study, port)
        except (
            IngestError,
            SelectionError,
            AnotherAtWorkError,
            process.NoFreePortError,
        ) as error:
            raise RefusedError(str(error)) from error
        except demo_study.DemoStalledError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt as interrupt:
            msg = "Stopped; running it again resumes."
            raise CommandError(msg, returncode=130) from interrupt

    def _show_leaderboard(self, study: Study) -> None:
        self.stdout.write(ranking.leaderboard_text(demo_study.run(study)))

    def _serve(self, study: Study, port: int) -> None:
        with process.web(port=port) as (address, serve):
            process.announce_port(self.stdout, port=port, address=address)
            ways_in = demo_study.ways_in(study, address, now=timezone.now())
            self.stdout.write(f"{ways_in}Ctrl-C stops it; running it again resumes.")
            self.stdout.flush()
            serve()
        self.stdout.write("Stopped.")
