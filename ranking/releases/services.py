"""Claim releases, build them, and keep what came of it."""

import datetime as dt
import hashlib
import json
import logging
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Max

from access.log import record
from annotation.models import Study
from completions.runs.services.exclusive import AWAY, MOST_BEGUN, alone, sole_worker, take_over
from ranking.choices import ReleaseState
from ranking.figures import FiguresBusyError
from ranking.judgments.method import code_version
from ranking.models import Fit, Release
from ranking.released.queries import folder_of, is_stale, listed
from ranking.released.writing import SUMS, sha256_of
from ranking.releases import queries

if TYPE_CHECKING:
    from ranking.release_check.verifying import Report

Clock = Callable[[], dt.datetime]
Tell = Callable[[str], None]
logger = logging.getLogger(__name__)

SHOWN = 3  # problems that a refusal names
BROKEN = "The building ended with an error of the software. It is in the log of the site."
UNWRITTEN = "It could not be written: {why}. Make room for it on the disk, then build it again."
BUSY = "Other figures were being drawn for too long. Please build it again."
LOST = f"It was begun {MOST_BEGUN} times, and each time the process that built it ended."
LEFT = "The command that built it broke off, and said why. Build it again."
CHANGED = (
    "The study changed since release {version} was built of the same ratings. Refit, and build a "
    "new release."
)
STALE = (
    "Somebody, or a text, that is in release {version} left since: build another, and publish that."
)
UNSOUND = "What was built does not verify: {problem}"


class ReleaseRefusedError(Exception):
    """There is nothing to release, or not now; the message says why, in words for people."""


@transaction.atomic
def claim_release(
    *, study: Study, now: dt.datetime, by: User | None = None, fit: Fit | None = None
) -> Release:
    """Return the release of the study's present state, claimed if there is none yet.

    Of ``fit`` alone, or of the newest of each pool and context set. The same state has one
    release, whose secret stays, so that it can be built again to the same bytes.

    Raises
    ------
    ReleaseRefusedError
        If there is no fit, one is being computed, or judgments came or went since.
    """
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    fits, why = queries.fits_to_release(study, only=fit)
    if why:
        raise ReleaseRefusedError(why)
    key = _key(study, fits)
    known = Release.objects.filter(key=key).first()
    if known is not None and known.state != ReleaseState.REFUSED:
        return known
    if Release.objects.filter(study=study, state=ReleaseState.BUILDING).exists():
        msg = "A release of this study is being built. Please wait until it is there."
        raise ReleaseRefusedError(msg)
    if known is not None:
        return _claim_again(known, now=now)
    newest = Release.objects.filter(study=study).aggregate(newest=Max("version"))["newest"]
    release = Release.objects.create(
        study=study,
        version=(newest or 0) + 1,
        key=key,
        as_of=max(one.as_of for one in fits),
        fits=[one.key for one in fits],
        licence=settings.HEART_RELEASE_LICENCE,
        secret=secrets.token_hex(32),
        is_simulated=study.is_simulated or queries.is_simulated(fits),
        code_version=code_version(),
        built_by=by,
        claimed_at=now,
    )
    _log("release.claimed", release, now=now, by=by)
    return release


def run_release(*, release_id: int, clock: Clock) -> bool:
    """Build a release where the site keeps it, claimed or lost; say whether this call ended it.

    Safe to run twice: one that another process builds, or that has ended, is left alone while its
    files are there. An error of the code is logged and kept as a refusal; so is a release whose
    workers were lost again and again.
    """
    return alone(_work(release_id), partial(_run, release_id, clock))


def _work(release_id: int) -> str:
    return f"building release {release_id}"


def _run(release_id: int, clock: Clock) -> bool:
    release = Release.objects.filter(pk=release_id).select_related("study__dataset").first()
    if release is None or not _is_to_build(release):
        return False
    running = Release.objects.filter(pk=release_id, state=ReleaseState.BUILDING)
    if release.state == ReleaseState.BUILDING and release.begun >= MOST_BEGUN:
        return _refuse(release, LOST, now=clock())
    running.update(begun=F("begun") + 1)
    for left in folder_of(release).parent.glob(f".{release.key}.*"):  # by one that was killed
        shutil.rmtree(left, ignore_errors=True)

    def tell(step: str) -> None:
        running.update(step=step[:60])

    why = _attempt(release, clock, tell)
    return _refuse(release, why, now=clock()) if why else True


def _is_to_build(release: Release) -> bool:
    """Say whether a release is claimed, or built and its files are lost."""
    is_lost = release.state == ReleaseState.DONE and not listed(release)
    return is_lost or release.state == ReleaseState.BUILDING


def _attempt(release: Release, clock: Clock, tell: Tell) -> str:
    """Build a release where the site keeps it, and return why there is none, or nothing."""
    try:
        with _beside(release) as built:
            build_release(release=release, folder=built, clock=clock, tell=tell)
            _put_in_place(release, built)
    except ReleaseRefusedError as error:
        logger.warning("building %s was refused: %s", release.key, error)
        return str(error)
    except FiguresBusyError:
        return BUSY
    except OSError as error:  # as on a full disk
        logger.exception("building %s failed", release.key)
        return UNWRITTEN.format(why=error.strerror)
    except AWAY:  # says nothing of the release, which is begun again
        raise
    except Exception as error:
        from access.background import why_ended  # noqa: PLC0415 (loads Celery)

        logger.exception("building %s failed", release.key)
        return why_ended(error, BROKEN)
    return ""


def build_release(
    *, release: Release, folder: Path, clock: Clock, tell: Tell = lambda _: None
) -> "Report | None":
    """Write a release to a folder, verify it, and end its row if it has not ended.

    A release that was built before is held against the hash that it had then.

    Raises
    ------
    ReleaseRefusedError
        If something may not leave, or what was built is not what it should be; nothing is left
        in the folder then, and the row has the reason.
    FileExistsError
        If the folder exists and is not empty.
    """
    try:
        return _build(release, folder, clock, tell)
    except ReleaseRefusedError as error:
        _refuse(release, str(error), now=clock())
        raise


def _build(release: Release, folder: Path, clock: Clock, tell: Tell) -> "Report | None":
    # Imported here, so that pages and waiting workers do without NumPy.
    from ranking.release_check.verifying import verify  # noqa: PLC0415
    from ranking.releases.building import LeakError, write_release  # noqa: PLC0415
    from ranking.releases.contents import contents_of  # noqa: PLC0415

    try:
        manifest = write_release(contents_of(release), folder, tell)
    except LeakError as error:
        raise ReleaseRefusedError(str(error)) from error
    if release.manifest_hash and release.manifest_hash != manifest:
        shutil.rmtree(folder)
        raise ReleaseRefusedError(CHANGED.format(version=release.version))
    if release.state == ReleaseState.DONE:
        return None
    report = verify(folder, is_quick=True, tell=lambda what: tell(f"verifying {what}"))
    if not report.is_sound:
        shutil.rmtree(folder)
        raise ReleaseRefusedError(UNSOUND.format(problem="; ".join(report.problems[:SHOWN])))
    _complete(release, folder, manifest, report, now=clock())
    return report


def build_here(
    *, study: Study, folder: Path, clock: Clock, tell: Tell, fit: Fit | None = None
) -> Release:
    """Claim a release, build it in a folder, and keep a copy where the site has its own.

    A claim of this call ends with it, whatever breaks it off: nobody else is at it, and the study
    has no other release meanwhile.

    Raises
    ------
    ReleaseRefusedError, FileExistsError
        As `claim_release` and `build_release` do.
    """
    now = clock()
    release = claim_release(study=study, now=now, fit=fit)
    try:
        build_release(release=release, folder=folder, clock=clock, tell=tell)
        _keep(release, folder)
    except BaseException:
        if release.claimed_at == now:
            _refuse(release, LEFT, now=clock())
        raise
    return release


def _keep(release: Release, folder: Path) -> None:
    """Copy a release that was built elsewhere to where the site keeps it, if it is not there."""
    with sole_worker(_work(release.pk)), _beside(release) as copied:
        shutil.copytree(folder, copied)
        _put_in_place(release, copied)


@contextmanager
def _beside(release: Release) -> Iterator[Path]:
    """Give a folder of its own to each worker; of two that build the same, neither sees the other.

    It is where a rename leads to the place of the release, and gone afterwards.
    """
    parent = folder_of(release).parent
    parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{release.key}.", dir=parent) as name:
        yield Path(name) / release.key


def _put_in_place(release: Release, built: Path) -> None:
    """Move a release to its place, unless it is there or another worker ended it with others."""
    if sha256_of(built / SUMS) == release.manifest_hash and not listed(release):
        shutil.rmtree(folder_of(release), ignore_errors=True)
        built.rename(folder_of(release))


@transaction.atomic
def reclaim_lost_releases(*, now: dt.datetime) -> list[int]:
    """Take over releases that nobody builds any more, and return their keys."""
    return take_over(Release.objects.filter(state=ReleaseState.BUILDING), _work, now=now)


@transaction.atomic
def publish_release(*, release: Release, now: dt.datetime, by: User) -> bool:
    """Let the public download a release that is built; say whether it was not published before.

    Raises
    ------
    ReleaseRefusedError
        If somebody, or a text, that is in it left since.
    """
    if is_stale(release):
        raise ReleaseRefusedError(STALE.format(version=release.version))
    waiting = Release.objects.filter(
        pk=release.pk, state=ReleaseState.DONE, published_at__isnull=True
    )
    if not waiting.update(published_at=now):
        return False
    _log("release.published", release, now=now, by=by)
    return True


@transaction.atomic
def unpublish_release(*, release: Release, now: dt.datetime, by: User) -> bool:
    """Keep a published release to the team again; say whether it was published.

    Whoever downloaded it has it. It can be published again.
    """
    public = Release.objects.filter(pk=release.pk, published_at__isnull=False)
    if not public.update(published_at=None):
        return False
    _log("release.unpublished", release, now=now, by=by)
    return True


def _key(study: Study, fits: Sequence[Fit]) -> str:
    """Return the name of the study's present state, as far as it goes into a release."""
    state = queries.state_of(study, fits) | {
        "licence": settings.HEART_RELEASE_LICENCE,
        "code": code_version(),
    }
    content = json.dumps(state, sort_keys=True, default=str)
    return "rel-" + hashlib.sha256(content.encode()).hexdigest()[:16]


def _claim_again(release: Release, *, now: dt.datetime) -> Release:
    ended = Release.objects.filter(pk=release.pk, state=ReleaseState.REFUSED)
    again = {"state": ReleaseState.BUILDING, "ended_at": None, "refusal": "", "begun": 0}
    ended.update(claimed_at=now, **again)
    release.refresh_from_db()
    return release


@transaction.atomic
def _complete(
    release: Release, folder: Path, manifest: str, report: "Report", *, now: dt.datetime
) -> None:
    """Store that it is built, unless somebody else did."""
    running = Release.objects.filter(pk=release.pk, state=ReleaseState.BUILDING)
    about = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    summary = {
        "n_numbers": report.n_numbers,
        "n_recomputed": len(report.recomputed),
        "n_checksummed": len(report.checksummed),
    }
    ended = running.update(
        state=ReleaseState.DONE,
        ended_at=now,
        manifest_hash=manifest,
        counts=about["counts"],
        check_summary=summary,
        step="",
    )
    if ended:
        _log("release.built", release, now=now, by=release.built_by, manifest=manifest)
    release.refresh_from_db()


def _refuse(release: Release, why: str, *, now: dt.datetime) -> bool:
    running = Release.objects.filter(pk=release.pk, state=ReleaseState.BUILDING)
    ended = {"state": ReleaseState.REFUSED, "refusal": why, "ended_at": now, "step": ""}
    return running.update(**ended) == 1


def _log(
    action: str, release: Release, *, now: dt.datetime, by: User | None, manifest: str = ""
) -> None:
    after = {"version": release.version, "manifest": manifest or release.manifest_hash}
    subject = f"release {release.key} of study {release.study.slug}"
    record(action=action, subject=subject, now=now, by=by, after=after)
