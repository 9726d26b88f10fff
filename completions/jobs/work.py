"""What each kind of job does: one service is called, and what came of it is said in a line."""

import gzip
import io
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone

from completions.choices import JobKind, Stratum
from completions.contexts.selection import SelectionError
from completions.contexts.services import building, opinions, rewriting
from completions.dialogues import importing, ingest
from completions.dialogues.importing import ImportReport
from completions.jobs.progress import JobProgress
from completions.models import Dataset, Job
from completions.runs import queries
from completions.runs.services.exclusive import AnotherAtWorkError
from completions.runs.services.states import ProviderRefusesError
from completions.runs.services.trying import told, try_endpoints
from completions.systems.services.registering import ModelIdError, assistant_for

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
