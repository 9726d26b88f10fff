"""Command line of releases: build one, verify one."""

import argparse
import json
from pathlib import Path

from django.utils import timezone

from annotation.management.studies import study_named
from completions.management import folder
from completions.management.acting import Action, Progress, RefusedError
from completions.runs.services.exclusive import AnotherAtWorkError
from ranking.management.fit_options import UnsoundError, VerifyingCommand, add_study, dumped


def add_build_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the study, the folder, and the fit if it is about one alone."""
    add_study(parser)
    parser.add_argument("--out", type=Path, required=True, help="a folder that is not there yet")
    parser.add_argument("--fit", help="release this fit alone, by its permanent name")


def build(options: argparse.Namespace, progress: Progress) -> str:
    """Build the release of the study's present state.

    Raises
    ------
    RefusedError
        If there is nothing to release, or the folder is not empty.
    """
    from ranking.fits import queries  # noqa: PLC0415 (verifying needs no database)
    from ranking.releases import services  # noqa: PLC0415 (verifying needs no database)

    study = study_named(options.study)
    fit = queries.fit_by_key(study=study, key=options.fit) if options.fit else None
    if options.fit and fit is None:
        msg = f'{study.slug} has no fit "{options.fit}" that has ended'
        raise RefusedError(msg)
    try:
        release = services.build_here(
            study=study, fit=fit, folder=options.out, clock=timezone.now, tell=progress.say
        )
    except (services.ReleaseRefusedError, AnotherAtWorkError) as error:
        raise RefusedError(str(error)) from error
    except FileExistsError as error:
        msg = f"{options.out}: exists and is not empty"
        raise RefusedError(msg) from error
    except OSError as error:  # as on a full disk, or where the site keeps its own copy
        place = error.filename or options.out
        msg = f"{place}: cannot be written: {error.strerror or error}"
        raise RefusedError(msg) from error
    if options.json:
        told = {"key": release.key, "version": release.version, "counts": release.counts}
        return dumped(told | {"manifest_sha256": release.manifest_hash, "folder": str(options.out)})
    return (
        f"Release {release.version} of {study.slug}, {release.key}, is in {options.out}.\n"
        f"SHA-256 of SHA256SUMS: {release.manifest_hash}\n"
        f"Verify it anywhere: manage.py release verify {options.out}"
    )


BUILD = Action("build", "Write the files of a release.", add_build_arguments, build)


def add_verify_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the folder."""
    parser.add_argument("folder", type=folder, help="the folder of a release")
    parser.add_argument("--quick", action="store_true", help="of analyses, agreement alone")
    parser.add_argument("--json", action="store_true", help="print all of the report as JSON")


def verify_folder(options: argparse.Namespace, progress: Progress) -> str:
    """Say whether everything in the folder is what it should be; no database is asked.

    Raises
    ------
    UnsoundError
        If something is not.
    """
    from ranking.release_check.verifying import verify  # noqa: PLC0415 (others need not wait for SciPy)

    report = verify(options.folder, is_quick=options.quick, tell=progress.say)
    said = json.dumps(report.as_json()) if options.json else report.as_text()
    if not report.is_sound:
        raise UnsoundError(said)
    return said


VERIFY = Action(
    "verify", "Check a release by its files alone.", add_verify_arguments, verify_folder
)


class Command(VerifyingCommand):
    """Build a study's release, and check one."""

    help = "Build the release of a study, and check one by its files alone (see docs/exports.md)."
    actions = (BUILD, VERIFY)
    unsound = "the release does not hold"
    requires_system_checks = ()  # verifying needs nothing of the site
