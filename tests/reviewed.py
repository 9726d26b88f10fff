"""Studies whose raters are held against the rules: readers, and some who do not read."""

import datetime as dt
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from annotation.choices import Purpose
from annotation.models import Comparison, Exclusion, Judgment, QualityCheck, Rater, Study
from completions.choices import LeaseOutcome
from tests.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_judgment,
    make_lease,
    make_quality_check,
    make_rater,
    make_study,
    make_system,
)

LATER = NOW + 2 * HOUR


def answer(
    comparison: Comparison, rater: Rater, verdict: int | None, *, seconds: float = 40, **lease: Any
) -> Judgment:
    """Let a rater answer, after so many seconds; the other fields are the lease's."""
    issued_at = lease.setdefault("issued_at", NOW)
    submitted_at = issued_at + dt.timedelta(seconds=seconds)
    held = make_lease(
        comparison=comparison,
        rater=rater,
        expires_at=issued_at + HOUR,
        closed_at=submitted_at,
        outcome=LeaseOutcome.SUBMITTED,
        **lease,
    )
    return make_judgment(
        comparison=comparison,
        rater=rater,
        lease=held,
        protocol=rater.study.protocol,
        verdict=verdict,
        shown_at=issued_at,
        submitted_at=submitted_at,
    )


def make_pairs(study: Study, *, n_contexts: int = 5, n_systems: int = 3) -> list[Comparison]:
    """Make all pairs of a few systems in a few contexts of different dialogues."""
    systems = [make_system() for _ in range(n_systems)]
    pairs = []
    for _context in range(n_contexts):
        context = make_context(dialogue=make_dialogue(dataset=study.dataset))
        completions = [make_completion(context=context, system=system) for system in systems]
        pairs += [
            make_comparison(study=study, first=first, second=second)
            for first, second in combinations(completions, 2)
        ]
    return pairs


def better(place: int) -> int:
    """What readers think of the pair at that place: the first mostly, not always."""
    return -1 if place % 4 == 3 else 1


def read(rater: Rater, pairs: Sequence[Comparison]) -> None:
    """Answer every pair as readers do, each a little faster or slower."""
    for place, pair in enumerate(pairs):
        answer(pair, rater, better(place), seconds=40 + place)


def make_checks(study: Study, n: int = 4) -> list[QualityCheck]:
    return [
        make_quality_check(comparison=make_comparison(study=study, purpose=Purpose.CHECK))
        for _ in range(n)
    ]


def answer_checks(rater: Rater, checks: Sequence[QualityCheck], verdict: int, **lease: Any) -> None:
    for check in checks:
        answer(check.comparison, rater, verdict, quality_check=check, **lease)


def make_reviewed_study(**fields: Any) -> tuple[Study, Rater]:
    """Make a study of three readers and one who reads as they do but fails every check."""
    study = make_study(**{"judgments_per_pair": 4} | fields)
    pairs, checks = make_pairs(study), make_checks(study)
    readers = [make_rater(study=study) for _ in range(3)]
    careless = make_rater(study=study)
    for rater in (*readers, careless):
        read(rater, pairs)
        answer_checks(rater, checks, -1 if rater == careless else 2)
    return study, careless


def decisions(rater: Rater) -> list[tuple[bool, str]]:
    """What was decided about a rater, oldest first."""
    rows = Exclusion.objects.filter(rater=rater).order_by("pk")
    return list(rows.values_list("is_excluded", "rule"))
