"""``release build``: write the files of a study's release to a folder."""

import argparse
from pathlib import Path

from django.utils import timezone

from completions.management.actions import Action
from completions.management.progress import Progress
from ranking.management.fits.options import UnknownNameError, add_study, dumped, the_study


class NotBuiltError(Exception):
    """There is no release; the message says why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the study, the folder, and the fit if it is about one alone."""
    add_study(parser)
    parser.add_argument("--out", type=Path, required=True, help="a folder that is not there yet")
    parser.add_argument("--fit", help="release this fit alone, by its permanent name")


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Build the release of the study's present state.

    Raises
    ------
    NotBuiltError
        If there is nothing to release, or the folder is not empty.
    """
    from ranking.fits import selectors  # noqa: PLC0415 (verifying needs no database)
    from ranking.releases import services  # noqa: PLC0415 (verifying needs no database)

    study = the_study(options)
    fit = selectors.fit_by_key(study=study, key=options.fit) if options.fit else None
    if options.fit and fit is None:
        msg = f'{study.slug} has no fit "{options.fit}" that has ended'
        raise UnknownNameError(msg)
    try:
        release = services.claim_release(study=study, now=timezone.now(), fit=fit)
        services.build_release(
            release=release, folder=options.out, clock=timezone.now, tell=progress.say
        )
        services.keep_release(release, options.out)
    except services.ReleaseRefusedError as error:
        raise NotBuiltError(str(error)) from error
    except FileExistsError as error:
        msg = f"{options.out}: exists and is not empty"
        raise NotBuiltError(msg) from error
    if options.json:
        told = {"key": release.key, "version": release.version, "counts": release.counts}
        return dumped(told | {"manifest_sha256": release.manifest_hash, "folder": str(options.out)})
    return (
        f"Release {release.version} of {study.slug}, {release.key}, is in {options.out}.\n"
        f"SHA-256 of SHA256SUMS: {release.manifest_hash}\n"
        f"Verify it anywhere: manage.py release verify {options.out}"
    )


ACTION = Action("build", "Write the files of a release.", add_arguments, run)
