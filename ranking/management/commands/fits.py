"""Command line of fits: list, show, compute now, verify."""

import argparse

from django.utils import timezone

from annotation.management.studies import study_named
from annotation.models import Study
from completions.management.acting import Action, Progress, RefusedError, positive
from ranking import refits
from ranking.fits import analysis_queries, queries
from ranking.fits import services as fit_services
from ranking.fits.queries import SHOWN
from ranking.fits.services.verifying import Verification
from ranking.management.fit_options import (
    UnsoundError,
    VerifyingCommand,
    add_fit,
    add_study,
    as_json,
    dumped,
    line_of,
    line_of_analysis,
)
from ranking.report import services as report_services

MOST_TOLD = 20


def add_list_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the study and how many."""
    add_study(parser)
    parser.add_argument("--most", type=positive, default=SHOWN, help="how many, newest first")


def list_fits(options: argparse.Namespace, _progress: Progress) -> str:
    """Print a line for each fit, the newest first."""
    rows = queries.fits_of(study_named(options.study), most=options.most)
    if options.json:
        return dumped([as_json(row) for row in rows])
    return "\n".join(map(line_of, rows)) or "No fits yet: they come with judgments."


def show_fit(options: argparse.Namespace, _progress: Progress) -> str:
    """Print a fit with its board and its analyses."""
    study = study_named(options.study)
    row = study.fits.filter(key=options.fit).first()
    if row is None:
        msg = f'{study.slug} has no fit "{options.fit}"'
        raise RefusedError(msg)
    found = analysis_queries.analyses_of(row)
    if options.json:
        return dumped(as_json(row, found))
    fit = queries.fit_by_key(study=study, key=row.key)
    board = [] if fit is None else [queries.leaderboard_text(fit).rstrip()]
    analyses = [line_of_analysis(one) for one in found] or ["  none"]
    return "\n".join([line_of(row), *board, "Analyses:", *analyses])


LIST = Action("list", "List the fits of a study, newest first.", add_list_arguments, list_fits)
SHOW = Action("show", "Show one fit and its analyses.", add_fit, show_fit)


def add_refit_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the study, and whether analyses follow."""
    add_study(parser)
    parser.add_argument("--without-analyses", action="store_true", help="compute the ratings alone")


def refit(options: argparse.Namespace, progress: Progress) -> str:
    """Compute what is out of date; a computation that is under way is not begun twice."""
    study = study_named(options.study)
    claimed = refits.claim_refit(study_id=study.pk, now=timezone.now())
    for fit_id in claimed.fits:
        fit_services.fit_and_adapt(fit_id=fit_id, clock=timezone.now)
    for analysis_id in claimed.analyses:
        report_services.run_analysis(analysis_id=analysis_id, clock=timezone.now)
    if not claimed.n_under_way and not options.without_analyses:
        _analyse(study, progress)
    rows = queries.newest_of(study)
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


def _summary(claimed: refits.RefitClaim) -> str:
    if claimed.n_under_way:
        return f"{claimed.n_under_way} fits are being computed; nothing was begun twice."
    if not claimed.fits:
        return "Nothing changed: these are the ratings of the present judgments."
    return f"{len(claimed.fits)} fits computed."


NOW = Action("now", "Compute now whatever is out of date.", add_refit_arguments, refit)


def verify(options: argparse.Namespace, progress: Progress) -> str:
    """Say whether every figure is what the judgments give.

    Raises
    ------
    UnsoundError
        If one is not.
    """
    study = study_named(options.study)
    fit = queries.fit_by_key(study=study, key=options.fit)
    if fit is None:
        msg = f'{study.slug} has no fit "{options.fit}" that has ended'
        raise RefusedError(msg)
    found = fit_services.verify_fit(fit)
    if found.is_other_code:
        progress.say("Another version of the estimators computed it.")
    if not found.is_sound:
        raise UnsoundError(_report(found, is_json=options.json))
    return _report(found, is_json=options.json)


def _report(found: Verification, *, is_json: bool) -> str:
    differences = [vars(one) for one in found.differences]
    if is_json:
        return dumped(vars(found) | {"differences": differences, "is_sound": found.is_sound})
    if found.is_sound:
        return f"{found.key} is what its judgments give: {found.n_figures} figures compared."
    lines = [
        f"  {one.what}, {one.figure}: stored {one.stored}, computed {one.computed}"
        for one in found.differences[:MOST_TOLD]
    ]
    why = found.trouble or f"{len(differences)} of {found.n_figures} figures differ"
    return "\n".join([f"{found.key} is not what its judgments give: {why}", *lines])


VERIFY = Action("verify", "Compute a fit again and compare.", add_fit, verify)


class Command(VerifyingCommand):
    """Look at fits, bring them up to date, verify them."""

    help = "List the fits of a study, compute what is out of date, verify what is stored."
    actions = (LIST, NOW, SHOW, VERIFY)
    unsound = "the fit does not hold"
