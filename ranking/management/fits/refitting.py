"""``fits now``: bring the ratings of a study up to date here, with their analyses."""

import argparse

from django.utils import timezone

from annotation.models import Study
from completions.management.actions import Action
from completions.management.progress import Progress
from ranking.fits import analysis_queries, queries
from ranking.fits import services as fit_services
from ranking.management.fits.options import add_study, as_json, dumped, line_of, the_study
from ranking.refits import services as refits_services
from ranking.report import services as report_services


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the study, and whether analyses follow."""
    add_study(parser)
    parser.add_argument("--without-analyses", action="store_true", help="compute the ratings alone")


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Compute what is out of date; a computation that is under way is not begun twice."""
    study = the_study(options)
    claimed = refits_services.claim_refit(study_id=study.pk, now=timezone.now())
    for fit_id in claimed.fits:
        fit_services.fit_and_adapt(fit_id=fit_id, clock=timezone.now)
    for analysis_id in claimed.analyses:
        report_services.run_analysis(analysis_id=analysis_id, clock=timezone.now)
    if not claimed.n_under_way and not options.without_analyses:
        _analyse(study, progress)
    rows = queries.fits_page(study, now=timezone.now()).newest
    if options.json:
        fits = [as_json(row) for row in rows]
        return dumped(
            {"n_under_way": claimed.n_under_way, "n_fits": len(claimed.fits), "fits": fits}
        )
    return "\n".join([_summary(claimed), *map(line_of, rows)])


def _analyse(study: Study, progress: Progress) -> None:
    for fit in queries.newest_analysed(study):
        for kind in analysis_queries.kinds_of(study):
            if report_services.analyse_fit(fit_id=fit.pk, kind=kind, clock=timezone.now):
                progress.say(f"{fit.key}: {kind.label}")


def _summary(claimed: refits_services.RefitClaim) -> str:
    if claimed.n_under_way:
        return f"{claimed.n_under_way} fits are being computed; nothing was begun twice."
    if not claimed.fits:
        return "Nothing changed: these are the ratings of the present judgments."
    return f"{len(claimed.fits)} fits computed."


ACTION = Action("now", "Compute now whatever is out of date.", add_arguments, run)
