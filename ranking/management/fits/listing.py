"""``fits list`` and ``fits show``: the computations of a study, or one of them."""

import argparse

from django.utils import timezone

from completions.management.actions import Action, positive
from completions.management.progress import Progress
from ranking.fits import queries, selectors
from ranking.fits.queries import SHOWN
from ranking.management.fits.options import (
    UnknownNameError,
    add_study,
    as_json,
    dumped,
    line_of,
    line_of_analysis,
    the_study,
)


def add_list_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the study and how many."""
    add_study(parser)
    parser.add_argument("--most", type=positive, default=SHOWN, help="how many, newest first")


def list_fits(options: argparse.Namespace, _progress: Progress) -> str:
    """Print a line for each fit, the newest first."""
    rows = queries.fits_of(the_study(options), now=timezone.now(), most=options.most)
    if options.json:
        return dumped([as_json(row) for row in rows])
    return "\n".join(map(line_of, rows)) or "No fits yet: they come with judgments."


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the study and the fit."""
    add_study(parser)
    parser.add_argument("--fit", required=True, help="the fit's permanent name")


def show_fit(options: argparse.Namespace, _progress: Progress) -> str:
    """Print a fit with its board and its analyses."""
    study = the_study(options)
    row = queries.fit_row(study, options.fit, now=timezone.now())
    if row is None:
        msg = f'{study.slug} has no fit "{options.fit}"'
        raise UnknownNameError(msg)
    if options.json:
        return dumped(as_json(row))
    fit = selectors.fit_by_key(study=study, key=row.key)
    board = [] if fit is None else [selectors.leaderboard_text(fit).rstrip()]
    analyses = [line_of_analysis(one) for one in row.analyses] or ["  none"]
    return "\n".join([line_of(row), *board, "Analyses:", *analyses])


LIST = Action("list", "List the fits of a study, newest first.", add_list_arguments, list_fits)
SHOW = Action("show", "Show one fit and its analyses.", add_show_arguments, show_fit)
