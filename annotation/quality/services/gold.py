"""Plant quality checks: load gold sets, mark main comparisons, switch bad checks off (ADR-0029)."""

import datetime as dt
from collections.abc import Iterator

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from access.log import record
from annotation.assignment import design
from annotation.choices import CheckKind, Expected, Protocol, Purpose
from annotation.models import Comparison, QualityCheck, Study
from annotation.models.quality import OF_PAIRS
from annotation.quality import gold
from annotation.studies import queries as study_queries
from completions.dialogues import authoring
from completions.models import Completion, Context


class UnsuitableCheckError(ValueError):
    """What is said to be known does not fit the comparison, or its study's protocol."""


class AlreadyACheckError(Exception):
    """The comparison is a quality check already."""


@transaction.atomic
def load_gold(*, study: Study, now: dt.datetime, by: User | None = None) -> int:
    """Plant the gold set that the study's file names; return how many checks of it there are.

    A study that names none gets nothing. A pair becomes one check; in a likert study each of its
    messages is one, and of an attention pair only the message that is out of place. Repeating a
    call adds nothing, and what an admin switched off stays off.

    Raises
    ------
    annotation.quality.gold.GoldError
        If there is no such set.
    UnsuitableCheckError
        If a likert study's rubric lacks a dimension of the set.
    completions.dialogues.authoring.DatasetTakenError
        If another dataset has the name under which the set's dialogues are kept.
    """
    reference = study_queries.content_of(study)["checks"]["gold_set"]
    if not reference:
        return 0
    gold_set = gold.load_gold_set(reference)
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # one loader at a time
    chosen = list(_wanted(study, gold_set, now))
    rows = study.comparisons.filter(purpose=Purpose.CHECK).values_list("first_id", "second_id")
    planted = set(rows)
    pairs = ((one, one.comparison) for one in chosen)
    missing = [one for one, pair in pairs if (pair.first_id, pair.second_id) not in planted]
    Comparison.objects.bulk_create(one.comparison for one in missing)
    QualityCheck.objects.bulk_create(missing)
    if missing:
        record(
            action="checks.loaded",
            subject=f"study {study.slug}",
            now=now,
            by=by,
            after={"gold_set": reference, "sha256": gold_set.sha256, "added": len(missing)},
        )
    return len(chosen)


@transaction.atomic
def mark_gold(
    *,
    comparison: Comparison,
    expected: Expected,
    dimension: str = "",
    reason: str,
    by: User | None,
    now: dt.datetime,
) -> QualityCheck:
    """Make a main comparison a quality check as well, with what an expert knows of it.

    It goes on to be judged as a main comparison; whoever is shown it as a check is not shown it
    otherwise, and answers to the check never count for the ratings.

    Raises
    ------
    UnsuitableCheckError
        If the comparison is not a main one, or ``expected`` does not fit it.
    AlreadyACheckError
        If it is a check already.
    """
    _check_fit(comparison, expected, dimension)
    try:
        with transaction.atomic():
            check = QualityCheck.objects.create(
                comparison=comparison,
                kind=CheckKind.GOLD,
                expected=expected,
                dimension=dimension,
            )
    except IntegrityError as error:
        msg = f"comparison {comparison.public_key} is a quality check already"
        raise AlreadyACheckError(msg) from error
    record(
        action="check.marked",
        subject=_subject(check),
        now=now,
        by=by,
        after={"expected": expected, "dimension": dimension, "reason": reason},
    )
    return check


@transaction.atomic
def switch_check(
    *, check: QualityCheck, is_active: bool, reason: str, by: User | None, now: dt.datetime
) -> QualityCheck:
    """Hand a check out no more, or again; answers given so far stay what they are.

    Asking for what is so already changes nothing and is not logged.
    """
    check = QualityCheck.objects.select_for_update(of=("self",)).get(pk=check.pk)
    if check.is_active == is_active:
        return check
    check.is_active = is_active
    check.save(update_fields=["is_active"])
    record(
        action="check.switched_on" if is_active else "check.switched_off",
        subject=_subject(check),
        now=now,
        by=by,
        before={"is_active": not is_active},
        after={"is_active": is_active, "reason": reason},
    )
    return check


def _wanted(study: Study, gold_set: gold.GoldSet, now: dt.datetime) -> Iterator[QualityCheck]:
    """Yield every check that the set gives this study, not stored, but for its texts."""
    known = study_queries.dimension_keys(study)
    every = (*gold_set.pairs, *gold_set.attention)
    missing = {pair.dimension for pair in every} - set(known)
    if missing and study.protocol == Protocol.LIKERT:
        msg = f"{gold_set.reference}: the study's rubric lacks {', '.join(sorted(missing))}"
        raise UnsuitableCheckError(msg)
    name = f"gold-{gold_set.reference}"
    dataset = authoring.lock_authored_dataset(slug=name, name=f"Quality checks: {name}", now=now)
    said = [(pair.key, [turn.model_dump() for turn in pair.turns]) for pair in every]
    contexts = authoring.store_authored_contexts(dataset, said, now=now)
    texts = [(one, pair.high, pair.low) for one, pair in zip(contexts, every, strict=True)]
    written = authoring.store_check_texts(texts, now=now)
    plant = _ratings if study.protocol == Protocol.LIKERT else _pair
    for position, (pair, (high, low)) in enumerate(zip(every, written, strict=True)):
        kind = CheckKind.GOLD if position < len(gold_set.pairs) else CheckKind.ATTENTION
        for completions, expected in plant(high, low, kind):
            yield QualityCheck(
                comparison=_comparison(study, contexts[position], completions),
                kind=kind,
                expected=expected,
                dimension=pair.dimension if pair.dimension in known else "",
            )


Planted = Iterator[tuple[tuple[Completion, ...], Expected]]
"""Completions in canonical order, and what is known of them."""


def _pair(high: Completion, low: Completion, _kind: CheckKind) -> Planted:
    if high.pk < low.pk:
        yield (high, low), Expected.FIRST
    else:
        yield (low, high), Expected.SECOND


def _ratings(high: Completion, low: Completion, kind: CheckKind) -> Planted:
    yield (low,), Expected.LOW
    if kind == CheckKind.GOLD:
        yield (high,), Expected.HIGH


def _comparison(study: Study, context: Context, completions: tuple[Completion, ...]) -> Comparison:
    hashes = [completion.content_hash for completion in completions]
    key = design.pair_key(context_key=context.key, first_hash=hashes[0], second_hash=hashes[-1])
    return Comparison(
        study=study,
        context=context,
        first=completions[0],
        second=completions[1] if len(completions) > 1 else None,
        purpose=Purpose.CHECK,
        key=key,
        position=design.pair_position(seed=study.seed, key=key),
        slots_left=0,
    )


def _check_fit(comparison: Comparison, expected: Expected, dimension: str) -> None:
    """Raise if what is said to be known cannot be known of this comparison."""
    is_pair = comparison.second_id is not None
    known = study_queries.dimension_keys(comparison.study)
    if comparison.purpose != Purpose.MAIN:
        msg = "only a comparison that counts for the ratings can be marked"
    elif (expected in OF_PAIRS) != is_pair:
        msg = "a pair has a better message; a message alone is high or low on a dimension"
    elif dimension not in known and (dimension or not is_pair):
        msg = f'the study\'s rubric has no dimension "{dimension}"'
    else:
        return
    raise UnsuitableCheckError(msg)


def _subject(check: QualityCheck) -> str:
    comparison = check.comparison
    return f"comparison {comparison.public_key} of study {comparison.study.slug}"
