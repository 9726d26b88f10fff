"""The HEART study at its full size, simulated, with every number beside what was planted."""

import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from completions.contexts.selection import SelectionError
from completions.contexts.services.rewrite_planning import NoSourceLeftError
from completions.dialogues.demo import DIALOGUES
from completions.dialogues.ingest.dialogue import IngestError
from completions.management.acting import Progress, RefusedError, refusing
from heart_site.demo.paper import number, writing
from heart_site.demo.paper.ideal import ideal_study
from heart_site.demo.paper.study import SEED, SIZES, Paper
from ranking.releases.services import ReleaseRefusedError

HELP = (
    "Hold the HEART study with simulated people, systems and judges, and write every number that "
    "the paper reports beside what was planted. Running it again goes on where it was stopped."
)


class Command(BaseCommand):
    """Hold the simulated study, rate it, release it, and write its numbers."""

    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the size, the dialogues, and where the numbers go."""
        parser.add_argument("--size", choices=SIZES, default="full", help="small: in a minute")
        parser.add_argument(
            "--dialogues", type=Path, help="ESConv.json; the small study has dialogues of its own"
        )
        parser.add_argument("--out", type=Path, help="a folder; default: the data folder")

    def handle(
        self,
        *,
        size: str,
        dialogues: Path | None,
        out: Path | None,
        **_options: Any,  # noqa: ANN401 (Django's signature)
    ) -> None:
        """Hold the study; input that cannot be used ends with exit code 2."""
        if dialogues is None and size == "full":
            msg = "The full study is about the dialogues of ESConv: --dialogues ESConv.json"
            raise RefusedError(msg)
        began = time.monotonic()
        folder = out or settings.HEART_DATA_DIR
        with refusing(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0)
        self.stdout.write("All people, systems and judges of this study are simulated.")
        paper = Paper(
            SIZES[size],
            dialogues or DIALOGUES,
            is_authored=dialogues is None,
            progress=Progress(self.stderr),
        )
        try:
            self._hold(paper, folder)
        except (IngestError, SelectionError, NoSourceLeftError) as error:
            raise RefusedError(str(error)) from error
        except (ReleaseRefusedError, writing.UnsoundReleaseError) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt as interrupt:
            msg = "Stopped; running it again goes on."
            raise CommandError(msg, returncode=130) from interrupt
        self.stdout.write(f"{time.monotonic() - began:,.0f} s")

    def _hold(self, paper: Paper, folder: Path) -> None:
        progress = paper.progress
        study = paper.hold()
        progress.say("Ratings and analyses")
        with progress.towards("analyses") as tell:
            number.compute(study, tell=tell)
        progress.say("Release")
        release = writing.write_release(study, folder, tell=progress.say)
        progress.say("Numbers")
        ideal = ideal_study(
            n_contexts=paper.size.ideal_contexts, seed=SEED, originals=paper.originals(study)
        )
        numbers = writing.every_number(number.Beside(number.Found(study), ideal, paper.cast(study)))
        about = {"study": study.slug, "release": release}
        writing.write_numbers(numbers, folder, paper=paper, about=about)
        held = [one.holds for one in numbers if one.holds is not None]
        self.stdout.write(
            f"{len(numbers)} numbers are in {folder / writing.PAGE}; {sum(held)} of {len(held)} "
            f"intervals hold what was planted. Release {release} verifies in another folder."
        )
