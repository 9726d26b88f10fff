"""Let simulated raters go through the shadow study of a study, and say what came of it."""

import sys
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser, OutputWrapper
from django.utils import timezone

from annotation.studies.services.shadow_studies import Rehearsal, ShadowStudyError
from completions.management.acting import positive
from completions.management.progress import Progress
from heart_site.demo.rehearsal.reporting import as_lines
from heart_site.demo.rehearsal.simulating import simulate
from heart_site.management.studies.act import Act, Say, the_study


def _add_arguments(parser: CommandParser) -> None:
    parser.add_argument("--study", required=True, help="the study's slug")
    parser.add_argument("--raters", type=positive, default=200, help="how many come")
    parser.add_argument("--seed", type=int, default=1, help="fixes who they are and what is true")


def _simulate(options: Mapping[str, Any], say: Say) -> None:
    progress = Progress(OutputWrapper(sys.stderr))
    with progress.towards("simulated raters") as tell:
        report = simulate(
            study=the_study(options),
            rehearsal=Rehearsal(n_raters=options["raters"], seed=options["seed"]),
            now=timezone.now(),
            tell=tell,
        )
    for line in as_lines(report):
        say(line)
    if not report.is_sound:
        msg = "A quota was not kept, or a draw could not be rebuilt: see above."
        raise CommandError(msg)


SIMULATE = Act(
    name="simulate",
    help="rehearse a study with simulated raters in a shadow study; run it again to go on",
    run=_simulate,
    add_arguments=_add_arguments,
    refusals=(ShadowStudyError,),
)
