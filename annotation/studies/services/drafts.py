"""Create studies with their seeds, change drafts, and make new versions (ADR-0012)."""

import datetime as dt
import secrets
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from access.log import record
from annotation.choices import PlanKind, Protocol, Purpose
from annotation.models import QualityCheck, Study
from annotation.studies.protocol.study import StudyProtocol
from annotation.studies.rubric import Rubric
from annotation.studies.services.states import StudyStateError
from completions.dialogues import normaliser
from completions.models import Dataset

LONGEST_SLUG = 50
SEED_BYTES = 16
NAMES = ("slug", "name", "version")
"""Fields of a study file that say which study it is, not what it is like."""

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


class StudyExistsError(Exception):
    """Another study has the slug, or is that version, and is no draft that could be replaced."""


class StudyNotFoundError(Exception):
    """There is no study of that name to make a new version of."""


class NothingChangedError(Exception):
    """The file says what the newest version says."""


class SeedTakenError(Exception):
    """The typed seed is another study's: whoever learns one would know what comes in the other."""


class RubricShownError(Exception):
    """A preference study names a dimension of the rubric that its raters must not see."""


class DimensionUnknownError(Exception):
    """A study weighs a dimension that its rubric does not have."""


@transaction.atomic
def create_study(
    *,
    protocol: StudyProtocol,
    rubric: Rubric,
    dataset: Dataset,
    now: dt.datetime,
    by: User | None = None,
    may_replace: bool = True,
) -> Study:
    """Store a validated study file, with the rubric it names, as a draft on the dataset.

    A draft of that slug that has no comparisons yet is replaced, unless that is ruled out: what
    was never locked or planned binds nobody. A file without a seed keeps that draft's; in a new
    study it is drawn.

    Raises
    ------
    StudyExistsError
        If the slug is taken, or the version of the name.
    SeedTakenError
        If another study has the seed that was typed.
    RubricShownError
        If raters of a preference study would read the name of a dimension.
    DimensionUnknownError
        If a dimension is weighed that the rubric does not have.
    """
    check_rubric(protocol, rubric)
    known = Study.objects.select_for_update().filter(slug=protocol.slug).first()
    is_replaced = known is not None and may_replace and _is_replaceable(known)
    check_free(protocol, draft=known if is_replaced else None)
    fields = fields_of(with_seed(protocol, draft=known), rubric) | {"dataset": dataset}
    study = _stored(fields, draft=known, now=now)
    action = "study.created" if known is None else "study.replaced"
    record(action=action, subject=f"study {study.slug}", now=now, by=by)
    return study


@transaction.atomic
def create_version(
    *, protocol: StudyProtocol, rubric: Rubric, now: dt.datetime, by: User | None = None
) -> Study:
    """Store a changed file of a locked study as the draft of its next version.

    It is a study of its own, on the same dataset, with the slug ``<name>-v<version>``: what was
    judged under the earlier protocol stays there, under the earlier hash. A draft of that version
    that has no comparisons yet is replaced. A file without a seed keeps that draft's; without a
    draft it is drawn anew, for the earlier version's will be known once that is closed.

    Raises
    ------
    StudyNotFoundError
        If there is no study of the file's name.
    StudyStateError
        If no version is locked yet, or the newest is a draft with comparisons.
    NothingChangedError
        If the file says what the newest version says.
    StudyExistsError
        If a study of another name has the slug.
    SeedTakenError
        If another study has the seed that was typed.
    RubricShownError
        If raters of a preference study would read the name of a dimension.
    DimensionUnknownError
        If a dimension is weighed that the rubric does not have.
    """
    check_rubric(protocol, rubric)
    draft, locked = _newest_versions(protocol.family)
    version = locked.version + 1
    slug = versioned_slug(locked.name, version)
    named = protocol.model_copy(update={"slug": slug, "name": locked.name, "version": version})
    if _says_the_same(fields_of(named, rubric)["content"], locked.content):
        msg = f'the file says what "{locked.slug}" says: there is nothing to make a version of'
        raise NothingChangedError(msg)
    check_free(named, draft=draft)
    fields = fields_of(with_seed(named, draft=draft), rubric) | {"dataset": locked.dataset}
    study = _stored(fields, draft=draft, now=now)
    record(
        action="study.versioned",
        subject=f"study {study.slug}",
        now=now,
        by=by,
        before={"study": locked.slug, "protocol_hash": locked.protocol_hash},
        after={"version": version},
    )
    return study


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
        If the study is locked, or has another content than was read.
    StudyExistsError
        If it is to have the slug of another study, or its name and version.
    RubricShownError, DimensionUnknownError, SeedTakenError
        As for a new study.
    """
    check_rubric(protocol, rubric)
    read = study
    study = Study.objects.select_for_update().select_related("dataset").get(pk=study.pk)
    if study.locked_at is not None:
        msg = f'"{study.slug}" is locked: nothing of it changes any more'
        raise StudyStateError(msg)
    if (study.dataset_id, study.content) != (read.dataset_id, read.content):
        msg = f'somebody changed "{study.slug}" meanwhile'
        raise StudyStateError(msg)
    check_free(protocol, draft=study)
    fields = fields_of(with_seed(protocol, draft=study), rubric)
    before = {"dataset": study.dataset.slug, **study.content}
    after = {"dataset": dataset.slug, **fields["content"]}
    changed = {key for key in before | after if before.get(key) != after.get(key)}
    if not changed:
        return study, 0
    n_void = _void_plan(study) if changed & {"dataset", *PLANNED_BY} else 0
    study = _stored(fields | {"dataset": dataset}, draft=study, now=now)
    record(
        action="study.edited",
        subject=f"study {study.slug}",
        now=now,
        by=by,
        before=_only(before, changed),
        after={**_only(after, changed), **({"comparisons_void": n_void} if n_void else {})},
    )
    return study, n_void


def check_free(protocol: StudyProtocol, *, draft: Study | None) -> None:
    """Make sure that a file names a study that is not there; ``draft`` is changed or replaced.

    Raises
    ------
    StudyExistsError
        If another study has the slug, or is that version.
    """
    others = Study.objects.exclude(pk=draft.pk) if draft is not None else Study.objects.all()
    if others.filter(slug=protocol.slug).exists():
        raise _exists(protocol.slug)
    same = others.filter(name=protocol.family, version=protocol.version).first()
    if same is not None:
        msg = (
            f'version {protocol.version} of "{protocol.family}" is the study "{same.slug}" '
            "already: give the file another name and no version"
        )
        raise StudyExistsError(msg)


def versioned_slug(name: str, version: int) -> str:
    """Return the slug of a later version, short enough for its column."""
    tail = f"-v{version}"
    return name[: LONGEST_SLUG - len(tail)].rstrip("-") + tail


def check_rubric(protocol: StudyProtocol, rubric: Rubric) -> None:
    """Hold the study against the rubric that it names.

    Raises
    ------
    RubricShownError, DimensionUnknownError
        As for a new study.
    """
    _check_words(protocol, rubric)
    unknown = set(protocol.analysis.weights if protocol.analysis else ()) - set(rubric.keys)
    if unknown:
        msg = (
            f"analysis.weights: the rubric {rubric.reference} has no dimension "
            f"{', '.join(sorted(unknown))}; it has {', '.join(rubric.keys)}"
        )
        raise DimensionUnknownError(msg)


def _check_words(protocol: StudyProtocol, rubric: Rubric) -> None:
    names = [dimension.name for dimension in rubric.dimensions]
    if protocol.protocol == "preference" and (shown := protocol.mentions(names)):
        msg = f"raters of a preference study must not read the rubric's words: {shown}"
        raise RubricShownError(msg)


def _stored(fields: Mapping[str, Any], *, draft: Study | None, now: dt.datetime) -> Study:
    """Return the draft with other content, or a new one; what hangs on a draft stays with it."""
    try:
        with transaction.atomic():
            if draft is None:
                return Study.objects.create(created_at=now, **fields)
            Study.objects.filter(pk=draft.pk).update(**fields)
    except IntegrityError as error:  # the same form was sent twice, and the other was first
        raise _exists(fields["slug"]) from error
    return Study.objects.select_related("dataset").get(pk=draft.pk)


def _exists(slug: str) -> StudyExistsError:
    return StudyExistsError(f'there is a study "{slug}" already')


def _is_replaceable(study: Study) -> bool:
    return study.locked_at is None and not study.comparisons.exists()


def _newest_versions(name: str) -> tuple[Study | None, Study]:
    """Return the draft that may be replaced, if there is one, and the newest locked version."""
    versions = list(
        Study.objects.select_for_update().filter(name=name, is_simulated=False).order_by("-version")
    )
    locked = next((study for study in versions if study.locked_at is not None), None)
    if not versions:
        msg = f'there is no study "{name}" to make a new version of'
        raise StudyNotFoundError(msg)
    if locked is None:
        msg = f'"{versions[0].slug}" is a draft still: create it again from the changed file'
        raise StudyStateError(msg)
    if versions[0] == locked:
        return None, locked
    if not _is_replaceable(versions[0]):
        msg = f'"{versions[0].slug}" is a draft that is planned already: lock it first'
        raise StudyStateError(msg)
    return versions[0], locked


def _says_the_same(written: dict[str, Any], stored: dict[str, Any]) -> bool:
    """Say whether a file says what is stored; one without a seed says nothing of it."""
    left_out = {*NAMES, *({"seed_sha256"} - written.keys())}
    one, other = (
        {key: value for key, value in content.items() if key not in left_out}
        for content in (written, stored)
    )
    return one == other


def fields_of(protocol: StudyProtocol, rubric: Rubric) -> dict[str, Any]:
    """Return the columns of a study from its file; the rest of the file is its content."""
    return {
        "slug": protocol.slug,
        "name": protocol.family,
        "version": protocol.version,
        "plan": PlanKind(protocol.plan.upper()),
        "title": protocol.title,
        "protocol": Protocol(protocol.protocol.upper()),
        "judgments_per_pair": protocol.judgments_per_pair,
        "pairs_per_context": protocol.pairs_per_context,
        "session_length": protocol.session_length,
        "lease_minutes": protocol.lease_minutes,
        "min_rationale_length": protocol.min_rationale_length,
        "seed": protocol.seed,
        "content": protocol.content(rubric.content(), normaliser=normaliser.VERSION),
    }


def with_seed(protocol: StudyProtocol, *, draft: Study | None) -> StudyProtocol:
    """Return the file with a seed; one that has none keeps the draft's, or gets a drawn one.

    ``draft`` is the study that is changed or replaced, if any.

    Raises
    ------
    SeedTakenError
        If another study has the seed that was typed.
    """
    if protocol.seed is None:
        seed = secrets.token_hex(SEED_BYTES) if draft is None else draft.seed
        return protocol.model_copy(update={"seed": seed})
    others = Study.objects.filter(seed=protocol.seed)
    if draft is not None:
        others = others.exclude(pk=draft.pk)
    if others.exists():
        msg = "seed: another study has this one: leave it out, so that a fresh one is drawn"
        raise SeedTakenError(msg)
    return protocol


def _void_plan(study: Study) -> int:
    """Delete what was planned; a draft has no lease, no call and no judgment."""
    n_void = study.comparisons.filter(purpose=Purpose.MAIN).count()
    QualityCheck.objects.filter(comparison__study=study).delete()
    study.comparisons.all().delete()
    return n_void


def _only(values: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: values[key] for key in sorted(keys) if key in values}
