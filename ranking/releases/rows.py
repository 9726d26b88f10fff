"""The rows of a release, table by table: what was judged, answers, and who gave them."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db.models import Q

from annotation.choices import StudyState
from annotation.external.queries import batches_of
from annotation.models import (
    Comparison,
    DimensionMark,
    Exclusion,
    ExternalBatch,
    ExternalJudgment,
    Judge,
    JudgeCall,
    Judgment,
    QualityCheck,
    Rater,
)
from annotation.quality.rules.exclusions import active_seconds, is_check_passed, is_rating_passed
from completions.choices import SystemKind
from completions.dialogues.licences import may_share
from completions.models import Completion, Context, System
from ranking.judgments.analysis_set import analysis_set
from ranking.judgments.frames.sources import fact_of, measured_ttft
from ranking.raters.accounting import CLASSES, verdict_accounting
from ranking.released import identities
from ranking.releases.contents import Contents, judgments_of

BATCH = 2000
Rows = Iterator[dict[str, Any]]


def systems(contents: Contents) -> Rows:
    """Yield the systems whose completions are compared, by slug."""
    slugs = Completion.objects.filter(context__in=contents.contexts).values("system")
    measured = measured_ttft(contents.study.dataset_id)
    for row in System.objects.filter(pk__in=slugs).order_by("slug"):
        yield {
            "slug": row.slug,
            "name": row.name,
            "kind": row.kind,
            "family": row.family,
            "model_id": row.model_id,
            "parameters": row.parameters,
            "is_simulated": row.is_simulated,
            "intelligence_index": fact_of(row, "intelligence_index"),
            "published_ttft_ms": fact_of(row, "median_ttft_ms"),
            "measured_ttft_ms": measured.get(row.pk),
        }


def contexts(contents: Contents) -> Rows:
    """Yield the contexts, in the order of their keys."""
    rows = Context.objects.filter(pk__in=contents.contexts)
    rows = rows.select_related("dialogue", "source_context").order_by("pk")
    for row in rows.iterator(chunk_size=BATCH):
        yield {
            "key": row.key,
            "dialogue": row.dialogue.content_hash,
            "dialogue_position": row.dialogue.position,
            "turn_index": row.turn_index,
            "content_hash": row.content_hash,
            "stratum": row.stratum,
            "escalation_profile": row.escalation_profile,
            "source_context": row.source_context.key if row.source_context else None,
            "language": row.dialogue.language,
            "emotion_type": row.dialogue.emotion_type,
            "problem_type": row.dialogue.problem_type,
            "is_simulated": row.is_simulated,
            "turns": row.turns if contents.shares_text else None,
        }


def completions(contents: Contents) -> Rows:
    """Yield the completions that are compared, in the order of their keys.

    Who wrote one is not read. A reply of the source dialogue is under the dataset's licence.
    """
    names = contents.completions
    rows = Completion.objects.filter(context__in=contents.contexts).order_by("pk")
    fields = ("pk", "context__key", "system__slug", "system__kind", "text", "content_hash")
    brought = ("brought", "brought__source", "brought__model_version")
    found = rows.values_list(*fields, *brought).iterator(chunk_size=BATCH)
    for pk, context, system, kind, text, digest, elsewhere, source, version in found:
        if pk in names:
            is_kept_back = kind == SystemKind.ORIGINAL and not contents.shares_text
            yield {
                "id": names[pk],
                "context": context,
                "system": system,
                "content_hash": digest if text else "",
                "is_erased": not text,
                "is_brought_in": elsewhere is not None,
                "source": source or None,
                "model_version": version or None,
                "text": None if is_kept_back or not text else text,
            }


def comparisons(contents: Contents) -> Rows:
    """Yield the comparisons, in the order of their keys.

    Where a text was deleted, neither the key nor the place that is drawn from it is told: who
    guesses the text could hold the guess against them.
    """
    names = contents.completions
    rows = Comparison.objects.filter(study=contents.study).order_by("pk")
    fields = ("pk", "key", "context__key", "first", "second", "purpose", "position")
    found = rows.values_list(*fields, "first__erased_at", "second__erased_at")
    for pk, key, context, first, second, purpose, position, *erased in found.iterator(
        chunk_size=BATCH
    ):
        is_erased = any(erased)
        yield {
            "id": contents.comparisons[pk],
            "key": contents.pair(key) if is_erased else key,
            "context": context,
            "first": names[first],
            "second": None if second is None else names[second],
            "purpose": purpose,
            "position": None if is_erased else position,
        }


GIVEN = (
    *("pk", "comparison", "rater", "judge__slug", "protocol", "verdict", "first_side"),
    *("is_surplus", "revises", "chips", "shown_at", "submitted_at", "hidden_ms", "paused_ms"),
    *("protocol_hash", "lease__quality_check", "lease__repeats", "lease__sampling_probability"),
    *("judge_call__sample", "judge_call__first_probability", "judge_call__prompt_hash"),
)


def judgments(contents: Contents) -> Rows:
    """Yield the judgments in the order in which they were given; two queries a batch."""
    counted = analysis_set(study=contents.study, as_of=contents.as_of)
    counts = set(counted.values_list("pk", flat=True).iterator(chunk_size=BATCH))
    rows = judgments_of(contents.release).order_by("submitted_at", "pk").values(*GIVEN)
    numbers = Counter[tuple[int | None, str | None]]()
    found = rows.iterator(chunk_size=BATCH)
    while batch := list(islice(found, BATCH)):
        marks = _marks([row["pk"] for row in batch])
        for row in batch:
            evaluator = (row["rater"], row["judge__slug"])
            numbers[evaluator] += 1
            facts = {"counts": row["pk"] in counts, "number": numbers[evaluator]}
            yield _judgment(contents, row) | facts | {"marks": marks.get(row["pk"], {})}


def _judgment(contents: Contents, row: dict[str, Any]) -> dict[str, Any]:
    rater = row["rater"]
    revises = row["revises"]
    return {
        "id": contents.judgment(row["pk"]),
        "comparison": contents.comparisons[row["comparison"]],
        "rater": None if rater is None else contents.raters[rater],
        "judge": row["judge__slug"],
        "protocol": row["protocol"],
        "verdict": row["verdict"],
        "side_of_first": row["first_side"],
        "is_check": row["lease__quality_check"] is not None,
        "is_repeat": row["lease__repeats"] is not None,
        "is_surplus": row["is_surplus"],
        "revises": None if revises is None else contents.judgment(revises),
        "day": identities.day(row["submitted_at"]),
        "seconds": None if rater is None else _seconds(row),
        "sample": row["judge_call__sample"],
        "first_probability": row["judge_call__first_probability"],
        "sampling_probability": row["lease__sampling_probability"],
        "prompt_hash": row["judge_call__prompt_hash"] or "",
        "protocol_hash": row["protocol_hash"],
        "rationale": contents.rationale(row["pk"]),
        "chips": row["chips"].split(),
    }


def _seconds(row: dict[str, Any]) -> int:
    away = {"hidden_ms": row["hidden_ms"], "paused_ms": row["paused_ms"]}
    return identities.seconds(active_seconds(row["shown_at"], row["submitted_at"], **away))


def _marks(keys: list[int]) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    marks = DimensionMark.objects.filter(judgment__in=keys)
    for judgment, dimension, advantage in marks.values_list("judgment", "dimension", "advantage"):
        found.setdefault(judgment, {})[dimension] = advantage
    return found


def raters(contents: Contents) -> Rows:
    """Yield the people who judged or were decided about, in the order of their ids."""
    given = Counter(
        judgments_of(contents.release).filter(rater__isnull=False).values_list("rater", flat=True)
    )
    excluded = _excluded(contents, "rater")
    programs = Rater.objects.filter(study=contents.study, is_simulated=True)
    simulated = set(programs.values_list("pk", flat=True))
    rows = (
        {
            "id": name,
            "is_simulated": pk in simulated,
            "is_excluded": excluded.get(pk, False),
            "n_judgments": given[pk],
            "attributes": dict(contents.attributes.get(pk, {})),
        }
        for pk, name in contents.raters.items()
        if given[pk] or pk in excluded
    )
    yield from sorted(rows, key=lambda row: str(row["id"]))


def judges(contents: Contents) -> Rows:
    """Yield the models that were asked, and what became of the calls."""
    accounts = {row.slug: row for row in verdict_accounting(contents.study)}
    excluded = _excluded(contents, "judge")
    judges = Judge.objects.filter(slug__in=[slug for slug in accounts if slug]).order_by("slug")
    for judge in judges:
        account = accounts[judge.slug]
        parts = {name: getattr(account, name) for name in CLASSES}
        hashes = judge.calls.filter(comparison__study=contents.study).exclude(prompt_hash="")
        yield {
            "slug": judge.slug,
            "name": judge.name,
            "family": judge.family,
            "model_id": judge.model_id,
            "parameters": judge.parameters,
            "is_simulated": judge.is_simulated,
            "is_excluded": excluded.get(judge.pk, False),
            "prompt_hashes": sorted(set(hashes.values_list("prompt_hash", flat=True).distinct())),
            "calls": {"n_calls": account.n_calls} | parts,
        }


def exclusions(contents: Contents) -> Rows:
    """Yield every decision about those who are in the release, the earliest first."""
    for number, row in enumerate(_decisions(contents), start=1):
        yield {
            "id": f"x{number:05d}",
            "rater": None if row.rater_id is None else contents.raters[row.rater_id],
            "judge": None if row.judge is None else row.judge.slug,
            "is_excluded": row.is_excluded,
            "rule": row.rule,
            "evidence": identities.numbers_in(row.evidence),
            "is_by_a_person": row.decided_by_id is not None,
            "day": identities.day(row.decided_at),
        }


def checks(contents: Contents) -> Rows:
    """Yield the planted pairs; the answers only of studies that are closed."""
    is_over = contents.study.state == StudyState.CLOSED
    rows = QualityCheck.objects.filter(comparison__study=contents.study).order_by("comparison")
    answers = judgments_of(contents.release).filter(lease__quality_check__isnull=False)
    given: dict[int, list[Judgment]] = {}
    for one in answers.filter(revision__isnull=True).select_related("lease"):
        check = one.lease.quality_check_id if one.lease else None
        if check is not None:
            given.setdefault(check, []).append(one)
    marks = _marks([one.pk for found in given.values() for one in found])
    for row in rows:
        found = given.get(row.pk, [])
        yield {
            "comparison": contents.comparisons[row.comparison_id],
            "kind": row.kind,
            "dimension": row.dimension,
            "is_active": row.is_active,
            "n_seen": len(found),
            "n_passed": sum(_is_passed(row, one, marks) for one in found),
            "expected": row.expected if is_over else None,
        }


def _is_passed(check: QualityCheck, answer: Judgment, marks: dict[int, dict[str, int]]) -> bool:
    """Say whether a preference is right, or the rating on the check's dimension; none is not."""
    if answer.verdict is not None:
        return is_check_passed(answer.verdict, expected=check.expected)
    mark = marks.get(answer.pk, {}).get(check.dimension)
    return mark is not None and is_rating_passed(mark, expected=check.expected)


def _decisions(contents: Contents) -> list[Exclusion]:
    people = Rater.objects.filter(study=contents.study).exclude(data_kept=False)
    judges = JudgeCall.objects.filter(comparison__study=contents.study).values("judge")
    known = Exclusion.objects.filter(
        Q(rater__in=people) | Q(judge__in=judges), decided_at__lte=contents.as_of
    )
    return list(known.select_related("judge").order_by("decided_at", "pk"))


def _excluded(contents: Contents, evaluator: str) -> dict[int, bool]:
    """Return what the newest decision says of each, by their keys."""
    newest = {getattr(row, f"{evaluator}_id"): row.is_excluded for row in _decisions(contents)}
    newest.pop(None, None)
    return newest


GIVEN_ELSEWHERE = ("comparison", "rater", "verdict", "marks", "judged_at")


def external_batches(contents: Contents) -> Rows:
    """Yield every batch with its provenance; one that is left out or kept has no rows."""
    for name, batch, has_rows in _batches(contents):
        yield {
            "id": name,
            "source": batch.source,
            "reference": batch.reference,
            "url": batch.url,
            "licence": batch.licence,
            "recruitment": batch.recruitment,
            "consent": batch.consent,
            "collected_from": batch.collected_from.isoformat(),
            "collected_until": batch.collected_until.isoformat(),
            "is_simulated": batch.is_simulated,
            "is_excluded": vars(batch)["is_out"],
            "n_judgments": vars(batch)["n_judgments"] if has_rows else 0,
            "protocol": contents.study.protocol,
            "day": identities.day(batch.received_at),
        }


def external_judgments(contents: Contents) -> Rows:
    """Yield the verdicts of the batches that have rows, each with its batch."""
    for name, batch, has_rows in _batches(contents):
        if not has_rows:
            continue
        rows = (
            ExternalJudgment.objects.filter(batch=batch)
            .order_by("pk")
            .values_list(*GIVEN_ELSEWHERE)
        )
        for comparison, rater, verdict, marks, judged_at in rows.iterator(chunk_size=BATCH):
            row = {
                "batch": name,
                "comparison": contents.comparisons[comparison],
                "rater": rater,
                "verdict": verdict,
                "marks": marks,
                "day": None if judged_at is None else identities.day(judged_at),
            }
            yield {"id": identities.id_of(row)} | row


def _batches(contents: Contents) -> Iterator[tuple[str, ExternalBatch, bool]]:
    """Yield the batches that were there when the release was claimed, with their names."""
    found = batches_of(contents.study, as_of=contents.release.claimed_at)
    for number, batch in enumerate(found, start=1):
        has_rows = may_share(batch.licence) and not vars(batch)["is_out"]
        yield f"b{number:04d}", batch, has_rows
