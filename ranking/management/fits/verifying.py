"""``fits verify``: compute a fit again and hold it against what is stored."""

import argparse

from completions.management.actions import Action
from completions.management.progress import Progress
from ranking.fits import selectors, services
from ranking.fits.services.verifying import Verification
from ranking.management.fits.options import UnknownNameError, add_study, dumped, the_study

SHOWN = 20


class UnsoundFitError(Exception):
    """A stored fit is not what its judgments give; the message is the whole report."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the study and the fit."""
    add_study(parser)
    parser.add_argument("--fit", required=True, help="the fit's permanent name")


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Say whether every figure is what the judgments give.

    Raises
    ------
    UnsoundError
        If one is not.
    """
    study = the_study(options)
    fit = selectors.fit_by_key(study=study, key=options.fit)
    if fit is None:
        msg = f'{study.slug} has no fit "{options.fit}" that has ended'
        raise UnknownNameError(msg)
    found = services.verify_fit(fit)
    if found.is_other_code:
        progress.say("Another version of the estimators computed it.")
    if not found.is_sound:
        raise UnsoundFitError(_report(found, is_json=options.json))
    return _report(found, is_json=options.json)


def _report(found: Verification, *, is_json: bool) -> str:
    differences = [vars(one) for one in found.differences]
    if is_json:
        return dumped(vars(found) | {"differences": differences, "is_sound": found.is_sound})
    if found.is_sound:
        return f"{found.key} is what its judgments give: {found.n_figures} figures compared."
    lines = [
        f"  {one.what}, {one.figure}: stored {one.stored}, computed {one.computed}"
        for one in found.differences[:SHOWN]
    ]
    why = found.trouble or f"{len(differences)} of {found.n_figures} figures differ"
    return "\n".join([f"{found.key} is not what its judgments give: {why}", *lines])


ACTION = Action("verify", "Compute a fit again and compare.", add_arguments, run)
