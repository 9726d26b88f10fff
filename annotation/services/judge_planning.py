"""Plan which judge is asked about which comparison, and which completion it sees as A."""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterator

from django.db import transaction

from annotation import design, selectors
from annotation.choices import Purpose, Side
from annotation.models import Comparison, Judge, JudgeCall, Study


class StudyNotLockedError(Exception):
    """Judging needs a protocol that can no longer change."""


@transaction.atomic
def plan_judge_calls(*, study: Study, judges: Collection[Judge], now: dt.datetime) -> int:
    """Add a call for every comparison and judge that lacks one; return how many were added.

    A judge is never asked about a completion of its own family, nor about one whose text was
    deleted. Planning again adds nothing, and judges that come later extend the plan. Sides are
    balanced within a comparison first, then within a judge.

    Raises
    ------
    StudyNotLockedError
        If the study's protocol is not locked yet.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)  # one planner at a time
    if study.locked_at is None:
        raise StudyNotLockedError
    added = JudgeCall.objects.bulk_create(_wanted_calls(study, judges, now), batch_size=500)
    return len(added)


def _wanted_calls(study: Study, judges: Collection[Judge], now: dt.datetime) -> Iterator[JudgeCall]:
    """Yield the missing calls, with the sides drawn so far carried along."""
    existing = set[tuple[int, int]]()
    shown = Counter[tuple[str, int, str]]()

    def count(comparison: int, judge: int, side: str) -> None:
        existing.add((comparison, judge))
        shown.update([("comparison", comparison, side), ("judge", judge, side)])

    def tally(kind: str, key: int) -> tuple[int, int]:
        return shown[kind, key, Side.A], shown[kind, key, Side.B]

    rows = JudgeCall.objects.filter(comparison__study=study)
    for row in rows.values_list("comparison_id", "judge_id", "first_side"):
        count(*row)
    for comparison, judge in _allowed(study, judges):
        if (comparison.pk, judge.pk) in existing:
            continue
        first_is_a = design.first_goes_to_a(
            seed=study.seed,
            pair=comparison.key,
            shown=tally("comparison", comparison.pk),
            rater_shown=tally("judge", judge.pk),
        )
        side = Side.A if first_is_a else Side.B
        count(comparison.pk, judge.pk, side)
        yield _call(comparison, judge, side, now)


def _allowed(study: Study, judges: Collection[Judge]) -> Iterator[tuple[Comparison, Judge]]:
    """Yield the comparisons with the judges that made neither completion's system."""
    comparisons = (
        study.comparisons.filter(selectors.INTACT, purpose=Purpose.MAIN, second__isnull=False)
        .select_related("first__system", "second__system")
        .order_by("position", "pk")
    )
    ranked = sorted(judges, key=lambda judge: judge.slug)
    for comparison in comparisons:
        families = {completion.system.family for completion in comparison.pair}
        yield from ((comparison, judge) for judge in ranked if judge.family not in families)


def _call(comparison: Comparison, judge: Judge, side: Side, now: dt.datetime) -> JudgeCall:
    first, second = comparison.pair
    return JudgeCall(
        comparison=comparison,
        judge=judge,
        first_side=side,
        judge_family=judge.family,
        first_family=first.system.family,
        second_family=second.system.family,
        created_at=now,
    )
