"""Jobs from being asked for to their end; every step is one change of their row."""

import datetime as dt
import gzip
import logging
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet

from access.log import record
from access.nudges import Work, nudge
from completions.choices import JobKind, JobState
from completions.dialogues.importing import ImportReport
from completions.jobs.work import REFUSALS, WORK, JobProgress, JobStoppedError, import_file
from completions.models import Dataset, Job
from completions.models.dataset import OPEN
from completions.runs import pulling
from completions.runs.services.calling import Clock
from completions.runs.services.exclusive import AnotherAtWorkError

LOST = dt.timedelta(minutes=2)
"""How long a worker may give no sign of life before another takes its job."""
UNCONFIRMED = dt.timedelta(days=1)
"""How long a checked file waits for a go-ahead."""
MOST_BEGUN = 3
BROKEN = (
    "It was begun three times without getting on. The log of the site says why; what was done is "
    "kept."
)
logger = logging.getLogger(__name__)


def check_file(
    *, name: str, content: bytes, options: Mapping[str, Any], by: User, now: dt.datetime
) -> tuple[Job, ImportReport]:
    """Keep a file of dialogues until somebody says go, and return what importing it would do.

    Raises
    ------
    IngestError, DatasetNameError, StratumError
        If it cannot be imported.
    """
    packed = gzip.compress(content, compresslevel=6)
    with transaction.atomic():
        report = import_file(packed, options, name=name)
        transaction.set_rollback(True)  # tried, not done
    job = Job.objects.create(
        kind=JobKind.IMPORT,
        state=JobState.CHECKED,
        options=dict(options),
        file_name=name[:200],
        content=packed,
        created_at=now,
        created_by=by,
    )
    return job, report


def start_job(
    *, dataset: Dataset | None, kind: str, options: Mapping[str, Any], by: User, now: dt.datetime
) -> Job:
    """Return the job of that kind that is under way in the dataset, or leave one to workers."""
    try:
        with transaction.atomic():
            job = Job.objects.create(
                dataset=dataset, kind=kind, options=dict(options), created_at=now, created_by=by
            )
    except IntegrityError:
        return Job.objects.get(dataset=dataset, kind=kind, state__in=OPEN)
    _announce(job, now=now, by=by)
    return job


def confirm_job(job: Job, *, by: User, now: dt.datetime) -> bool:
    """Leave a checked file to workers; say whether this call did."""
    checked = Job.objects.filter(pk=job.pk, state=JobState.CHECKED)
    if not checked.update(state=JobState.WAITING):
        return False
    _announce(job, now=now, by=by)
    return True


def retry_job(job: Job, *, by: User, now: dt.datetime) -> Job:
    """Begin a job again that failed or was stopped; what it has done already is not done twice.

    An import's file is dropped at its end: it is sent again instead.
    """
    return start_job(dataset=job.dataset, kind=job.kind, options=job.options, by=by, now=now)


def stop_job(job: Job, *, by: User, now: dt.datetime) -> None:
    """Do nothing more of a job that is not over; what was done is kept."""
    stopped = Job.objects.filter(pk=job.pk, ended_at=None).update(
        state=JobState.STOPPED, ended_at=now, content=None
    )
    if stopped:
        record(action="job.stopped", subject=_subject(job), now=now, by=by)


def are_jobs_waiting(*, now: dt.datetime) -> bool:
    """Say whether a worker would find a job."""
    return _claimable(now).exists()


def forget_unconfirmed_files(*, now: dt.datetime) -> None:
    """Delete the files that were checked a day ago and never confirmed."""
    Job.objects.filter(state=JobState.CHECKED, created_at__lt=now - UNCONFIRMED).delete()


def forget_job_claims() -> int:
    """Free the jobs that dead workers held; only for who knows that no worker lives."""
    held = Job.objects.filter(state=JobState.RUNNING)
    return held.update(state=JobState.WAITING, seen_at=None)


def do_next_job(*, clock: Clock) -> bool:
    """Do the job that waits longest, and say whether there was one; safe to run twice."""
    job = _claim(clock())
    if job is None:
        return False
    if job.begun > MOST_BEGUN:
        _end(job, JobState.FAILED, BROKEN, clock=clock)
        return True
    try:
        result = WORK[job.kind](job, JobProgress(job, clock))
    except JobStoppedError:
        return True
    except REFUSALS as error:
        _refuse(job, error, clock=clock)
    except Exception:  # a time limit of the worker as well
        logger.warning("%s broke off and is begun again", job, exc_info=True)
        _give_back(job)
    else:
        if pulling.STOPPING.is_set():
            _give_back(job)
        else:
            _end(job, JobState.DONE, result, clock=clock)
    return True


def _claimable(now: dt.datetime) -> QuerySet[Job]:
    lost = Q(state=JobState.RUNNING, seen_at__lt=now - LOST)
    return Job.objects.filter(Q(state=JobState.WAITING) | lost).order_by("pk")


def _claim(now: dt.datetime) -> Job | None:
    for job in _claimable(now).select_related("dataset"):
        as_found = Job.objects.filter(pk=job.pk, state=job.state, seen_at=job.seen_at)
        if as_found.update(state=JobState.RUNNING, seen_at=now, begun=F("begun") + 1):
            job.begun += 1
            return job
    return None


def _give_back(job: Job) -> None:
    running = Job.objects.filter(pk=job.pk, state=JobState.RUNNING)
    if running.update(state=JobState.WAITING, seen_at=None):
        nudge(Work.DO_JOBS)


def _refuse(job: Job, error: Exception, *, clock: Clock) -> None:
    """End a job with what it was answered.

    One that was taken over as lost, and whose worker turns out to be at it, is left to that one.
    """
    if isinstance(error, AnotherAtWorkError) and job.state == JobState.RUNNING:  # as it was found
        Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(begun=F("begun") - 1)
    else:
        _end(job, JobState.FAILED, str(error), clock=clock)


def _end(job: Job, state: JobState, result: str, *, clock: Clock) -> None:
    running = Job.objects.filter(pk=job.pk, state=JobState.RUNNING)
    running.update(state=state, result=result, dataset=job.dataset, content=None, ended_at=clock())


def _announce(job: Job, *, now: dt.datetime, by: User) -> None:
    record(action="job.started", subject=_subject(job), now=now, by=by, after=dict(job.options))
    nudge(Work.DO_JOBS)


def _subject(job: Job) -> str:
    return f"job {job.pk}: {job.kind.lower()}"
