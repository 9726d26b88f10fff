"""What each kind of job does, and how far it is: one service a kind, its outcome said in a line."""

import gzip
import io
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from typing import Any, TypeVar

from django.utils import timezone

from completions.choices import JobKind, JobState, Stratum
from completions.contexts.selection import SelectionError
from completions.contexts.services import building, opinions, rewriting
from completions.dialogues import importing, ingest
from completions.dialogues.importing import ImportReport
from completions.models import Dataset, Job
from completions.runs import queries
from completions.runs.services.calling import Clock
from completions.runs.services.exclusive import AnotherAtWorkError
from completions.runs.services.states import ProviderRefusesError
from completions.runs.services.trying import told, try_endpoints
from completions.systems.services.registering import ModelIdError, assistant_for

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
    ingest.IngestError,
    importing.DatasetNameError,
    importing.StratumError,
    SelectionError,
    rewriting.NoSourceLeftError,
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
    records = ingest.read_dialogues(file, options["language"], name=name)
    # All is read before anything is stored: what is stored meanwhile would lock the table.
    counted = progress.over(records, of="records read") if progress else records
    found = list(itertools.islice(counted, MOST_RECORDS + 1))
    if len(found) > MOST_RECORDS:
        msg = f"{name}: has over {MOST_RECORDS:,} records; split it"
        raise ingest.IngestError(msg)
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
    assistants = rewriting.Assistants(
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
