"""What was answered, by whom, and who was left out."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from annotation.choices import StudyState
from annotation.models import DimensionMark, Exclusion, Judge, Judgment, QualityCheck, Rater
from annotation.quality.rules.exclusions import active_seconds, is_check_passed, is_rating_passed
from ranking.judgments.analysis_set import analysis_set
from ranking.raters.accounting import CLASSES, verdict_accounting
from ranking.released.files import identities
from ranking.releases.building.contents import Contents, judgments_of

BATCH = 2000
Rows = Iterator[dict[str, Any]]
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
    rows = judgments_of(contents).order_by("submitted_at", "pk").values(*GIVEN)
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
        "rationale": contents.rationales.get(row["pk"]) or None,
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
        judgments_of(contents).filter(rater__isnull=False).values_list("rater", flat=True)
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
    answers = judgments_of(contents).filter(lease__quality_check__isnull=False)
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
    ours = Exclusion.objects.filter(decided_at__lte=contents.as_of)
    known = ours.filter(rater__in=contents.raters) | ours.filter(
        judge__calls__comparison__study=contents.study
    )
    return list(known.distinct().select_related("judge").order_by("decided_at", "pk"))


def _excluded(contents: Contents, evaluator: str) -> dict[int, bool]:
    """Return what the newest decision says of each, by their keys."""
    newest = {getattr(row, f"{evaluator}_id"): row.is_excluded for row in _decisions(contents)}
    newest.pop(None, None)
    return newest
