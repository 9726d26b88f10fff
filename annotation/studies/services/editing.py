"""Change a draft: nothing binds anybody before a study is locked (ADR-0012)."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from annotation.choices import Purpose
from annotation.models import QualityCheck, Study
from annotation.studies.protocol import StudyProtocol
from annotation.studies.rubric import Rubric
from annotation.studies.services.studies import (
    StudyStateError,
    check_free,
    check_rubric,
    fields_of,
    with_seed,
)
from completions.models import Dataset

PLANNED_BY = frozenset(
    {
        "protocol",
        "rubric",
        "seed_sha256",
        "judgments_per_pair",
        "pairs_per_context",
        "checks",
        "normaliser",
        "systems",
    }
)
"""What a plan is made from: with a change to one of these, and of the dataset, it is void."""


@transaction.atomic
def edit_study(
    *,
    study: Study,
    protocol: StudyProtocol,
    rubric: Rubric,
    dataset: Dataset,
    now: dt.datetime,
    by: User | None = None,
) -> tuple[Study, int]:
    """Store another content of a draft; return it, and how many comparisons of its plan are void.

    A plan stays while nothing changed that it was made from; else its comparisons and checks,
    which nobody can have judged yet, are deleted, to be planned anew. A file without a seed keeps
    the draft's.

    Raises
    ------
    StudyStateError
        If the study is locked.
    StudyExistsError
        If it is to have the slug of another study, or its name and version.
    RubricShownError, DimensionUnknownError, SeedTakenError
        As for a new study.
    """
    check_rubric(protocol, rubric)
    study = Study.objects.select_for_update().select_related("dataset").get(pk=study.pk)
    if study.locked_at is not None:
        msg = f'"{study.slug}" is locked: nothing of it changes any more'
        raise StudyStateError(msg)
    check_free(protocol, draft=study)
    fields = fields_of(with_seed(protocol, draft=study), rubric)
    before = {"dataset": study.dataset.slug, **study.content}
    after = {"dataset": dataset.slug, **fields["content"]}
    changed = {key for key in before | after if before.get(key) != after.get(key)}
    if not changed:
        return study, 0
    n_void = _void_plan(study) if changed & {"dataset", *PLANNED_BY} else 0
    Study.objects.filter(pk=study.pk).update(dataset=dataset, **fields)
    record(
        action="study.edited",
        subject=f"study {study.slug}",
        now=now,
        by=by,
        before=_only(before, changed),
        after={**_only(after, changed), **({"comparisons_void": n_void} if n_void else {})},
    )
    return Study.objects.select_related("dataset").get(pk=study.pk), n_void


def _void_plan(study: Study) -> int:
    """Delete what was planned; a draft has no lease, no call and no judgment."""
    n_void = study.comparisons.filter(purpose=Purpose.MAIN).count()
    QualityCheck.objects.filter(comparison__study=study).delete()
    study.comparisons.all().delete()
    return n_void


def _only(values: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: values[key] for key in sorted(keys) if key in values}
