"""Open, pause and close a study."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone

from annotation.models import Study
from annotation.studies import services
from heart_site.management.studies.act import Act, Say, add_study, the_study


def _move(name: str, text: str, change: Callable[..., Study]) -> Act:
    def run(options: Mapping[str, Any], say: Say) -> None:
        study = change(study=the_study(options), now=timezone.now())
        say(f"{study.slug}: {study.state.lower()}")

    return Act(
        name=name,
        help=text,
        run=run,
        add_arguments=add_study,
        refusals=(services.StudyStateError,),
    )


MOVES = (
    _move("open", "let raters in, for the first time or again", services.open_study),
    _move("pause", "hand out no new pairs for now", services.pause_study),
    _move("close", "end a study's judging for good", services.close_study),
)
