"""Jobs from being asked for to their end: each step changes their row, each kind asks a service."""

import datetime as dt
import gzip
import io
import itertools
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from access.log import record
from access.nudges import Work, nudge
from completions.choices import JobKind, JobState, Stratum
from completions.contexts.selection import SelectionError
from completions.contexts.services import building, opinions, rewriting
from completions.contexts.services.rewrite_planning import Assistants, NoSourceLeftError
from completions.dialogues import importing
from completions.dialogues.importing import ImportReport
from completions.dialogues.ingest.dialogue import IngestError
from completions.dialogues.ingest.files import read_dialogues
from completions.models import Dataset, Job
from completions.models.dataset import OPEN
from completions.runs import pulling, queries
from completions.runs.services.calling import Clock
from completions.runs.services.exclusive import AnotherAtWorkError, sole_worker
from completions.runs.services.states import ProviderRefusesError
from completions.runs.services.trying import told, try_endpoints
from completions.systems.services.registering import ModelIdError, assistant_for

LOST = dt.timedelta(minutes=2)
"""How long a worker may give no sign of life before another tries to take its job: one that stores
a file, or waits for an answer, gives none, and is known by its lock to be at work."""
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
    """Return the job of that kind that is under way in the dataset, or leave one to workers.

    Without a dataset, one with the same options that the same person asked for is under way.
    """
    asked = {"dataset": dataset, "kind": kind, "options": dict(options)}
    try:
        with transaction.atomic():
            if dataset is None:  # what no constraint holds: the second of two clicks waits here
                User.objects.select_for_update(no_key=True).get(pk=by.pk)
                if under_way := Job.objects.filter(**asked, created_by=by, state__in=OPEN).first():
                    return under_way
            job = Job.objects.create(**asked, created_at=now, created_by=by)
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
    try:
        with sole_worker(f"doing job {job.pk}"):
            if job.begun > MOST_BEGUN:
                _end(job, JobState.FAILED, BROKEN, clock=clock)
                return True
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
    silent = Q(seen_at__lt=now - LOST) | Q(seen_at__gt=now + LOST)  # the clock was set back since
    lost = Q(silent, state=JobState.RUNNING)
    return Job.objects.filter(Q(state=JobState.WAITING) | lost).order_by("pk")


def _claim(now: dt.datetime) -> Job | None:
    # Of up to 30 MB each, the file of the one that is done alone is read.
    for job in _claimable(now).select_related("dataset").defer("content"):
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


EVERY_S = 1.0

Item = TypeVar("Item")


class JobStoppedError(Exception):
    """Somebody stopped the job, or another worker ended it."""


class JobProgress:
    """Counts what is done, and writes it down once a second."""

    def __init__(self, job: Job, clock: Clock) -> None:
        self._job, self._clock = job, clock
        self._n_before, self._told_at = job.n_done, float("-inf")

    def over(self, items: Iterable[Item], *, of: str) -> Iterator[Item]:
        """Yield the items and count them; ``of`` names them, in the plural.

        Raises
        ------
        JobStoppedError
            When it is noticed that the job is not to go on.
        """
        total, n_done = len(items) if isinstance(items, Sized) else None, 0
        for n_done, item in enumerate(items, start=1):
            yield item
            self._tell(n_done, total, of)
        self._tell(n_done, total, of, at_once=True)

    def towards(self, of: str) -> Callable[[int, int], None]:
        """Return a function that is told how many there are and how many are wanted."""

        def tell(n_done: int, n_wanted: int) -> None:
            self._tell(n_done, n_wanted, of, at_once=n_done == n_wanted)

        return tell

    def _tell(self, n_done: int, total: int | None, of: str, *, at_once: bool = False) -> None:
        if not at_once and time.monotonic() - self._told_at < EVERY_S:
            return
        told = {"n_done": n_done, "n_total": total, "unit": of, "seen_at": self._clock()}
        if n_done > self._n_before:
            told["begun"] = 1  # it gets on: a later loss of the worker is the first again
        running = Job.objects.filter(pk=self._job.pk, state=JobState.RUNNING)
        if not running.update(**told):
            raise JobStoppedError
        self._n_before, self._told_at = n_done, time.monotonic()


MOST_RECORDS = 100_000
"""Of one file: packed by gzip, a small file may hold very many."""
REFUSALS = (
    IngestError,
    importing.DatasetNameError,
    importing.StratumError,
    SelectionError,
    NoSourceLeftError,
    ModelIdError,
    ProviderRefusesError,
    AnotherAtWorkError,
)
"""What a job may be answered instead of being done; each says why in words for people."""


def import_file(
    content: bytes, options: Mapping[str, Any], *, name: str, progress: JobProgress | None = None
) -> ImportReport:
    """Import the dialogues of a file, compressed by gzip, as ``DialogueFile`` asks for it."""
    file = io.BytesIO(gzip.decompress(content))
    records = read_dialogues(file, options["language"], name=name)
    # All is read before anything is stored: what is stored meanwhile would lock the table.
    counted = progress.over(records, of="records read") if progress else records
    found = list(itertools.islice(counted, MOST_RECORDS + 1))
    if len(found) > MOST_RECORDS:
        msg = f"{name}: has over {MOST_RECORDS:,} records; split it"
        raise IngestError(msg)
    return importing.import_dialogues(
        dataset_name=options["dataset"],
        dialogues=found,
        now=timezone.now(),
        licence=options["licence"],
        is_authored=options["is_authored"],
        stratum=Stratum.ADVERSARIAL if options["is_adversarial"] else Stratum.REGULAR,
    )


def _import(job: Job, progress: JobProgress) -> str:
    content = bytes(job.content or b"")
    report = import_file(content, job.options, name=job.file_name, progress=progress)
    job.dataset = report.dataset
    return report.summary


def _build(job: Job, progress: JobProgress) -> str:
    report = building.build_contexts(
        dataset_name=_dataset_of(job).slug,
        n=job.options["n"],
        seed=job.options["seed"],
        now=timezone.now(),
        shown=lambda dialogues: progress.over(dialogues, of="dialogues screened"),
    )
    return report.summary


def _screen(job: Job, progress: JobProgress) -> str:
    building.screen_dataset(
        dataset=_dataset_of(job),
        now=timezone.now(),
        shown=lambda dialogues: progress.over(dialogues, of="dialogues screened"),
    )
    assistant = assistant_for("screener", job.options["model"])
    report = opinions.gather_opinions(
        dataset=_dataset_of(job),
        assistant=assistant,
        clock=timezone.now,
        told=progress.towards("opinions"),
    )
    return f"{assistant.name}: {report.summary}"


def _rewrite(job: Job, progress: JobProgress) -> str:
    assistants = Assistants(
        rewriter=assistant_for("rewriter", job.options["rewriter"]),
        hostility_rater=assistant_for("hostility-rater", job.options["hostility_rater"]),
    )
    report = rewriting.make_adversarial_contexts(
        dataset=_dataset_of(job),
        n=job.options["n"],
        seed=job.options["seed"],
        assistants=assistants,
        clock=timezone.now,
        told=progress.towards("adversarial contexts"),
    )
    return "\n".join([report.summary, *(f"Dropped: {reason}" for reason in report.dropped)])


def _check(job: Job, _progress: JobProgress) -> str:
    table, slug = job.options["table"], job.options["slug"]
    endpoints = queries.endpoint_models()[table].objects.filter(slug=slug)
    return told(try_endpoints(endpoints, clock=timezone.now, in_json=table == "judge"))


def _dataset_of(job: Job) -> Dataset:
    return Dataset.objects.get(jobs=job)


WORK: Mapping[str, Callable[[Job, JobProgress], str]] = {
    JobKind.IMPORT: _import,
    JobKind.BUILD: _build,
    JobKind.SCREEN: _screen,
    JobKind.REWRITE: _rewrite,
    JobKind.CHECK: _check,
}
