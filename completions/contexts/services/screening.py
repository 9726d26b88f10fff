"""Screen the couplets of a dataset, and keep what was found about each."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from django.db import transaction
from django.db.models import Count, Q

from completions.contexts import screening
from completions.dialogues import couplets
from completions.models import Candidate, Dataset, Dialogue

BATCH = 100
"""Dialogues stored together: what a kill can cost."""
SCREENED = ("rules", "findings", "reasons", "is_suitable", "screened_at")

Shown = Callable[[Sequence[Dialogue]], Iterable[Dialogue]]


@dataclass(frozen=True)
class ScreeningReport:
    """How many couplets a dataset has, how many are suitable, and how many were screened now."""

    n_candidates: int
    n_suitable: int
    n_screened: int


def screen_dataset(*, dataset: Dataset, now: dt.datetime, shown: Shown = iter) -> ScreeningReport:
    """Bring the candidates of the dataset up to the screening rules as they are now.

    Dialogues that these rules have screened are left alone, so that a killed run resumes and
    repeating one does nothing. ``shown`` is iterated over while work goes on, to show how far
    it is.
    """
    waiting = _not_screened(dataset)
    n_screened, batch = 0, list[Candidate]()
    for place, dialogue in enumerate(shown(waiting), start=1):
        batch.extend(_candidates(dialogue, now))
        if place % BATCH == 0 or place == len(waiting):
            n_screened += len(_store(batch))
            batch.clear()
    found = Candidate.objects.filter(dialogue__dataset=dataset)
    counts = found.aggregate(all=Count("pk"), suitable=Count("pk", filter=Q(is_suitable=True)))
    return ScreeningReport(counts["all"], counts["suitable"], n_screened)


def _not_screened(dataset: Dataset) -> list[Dialogue]:
    """Return the dialogues of which a couplet was not screened, or by other rules."""
    current = {
        language: screening.rules_version(language)
        for language in dataset.dialogues.order_by().values_list("language", flat=True).distinct()
    }
    counted = (
        Candidate.objects.filter(dialogue__dataset=dataset)
        .values_list("dialogue", "rules")
        .annotate(n=Count("pk"))
    )
    screened = {(dialogue, rules): n for dialogue, rules, n in counted}
    return [
        row
        for row in dataset.dialogues.order_by("pk")
        if screened.get((row.pk, current[row.language]), 0) < len(couplets.couplets(row.turns))
    ]


def _candidates(dialogue: Dialogue, now: dt.datetime) -> list[Candidate]:
    rules = screening.rules_version(dialogue.language)
    return [
        Candidate(
            dialogue=dialogue,
            turn_index=one.turn_index,
            rules=rules,
            findings=[asdict(finding) for finding in one.findings],
            reasons=list(one.reasons),
            is_suitable=one.is_suitable,
            screened_at=now,
        )
        for one in screening.screen(
            dialogue.turns, situation=dialogue.situation, language=dialogue.language
        )
    ]


@transaction.atomic
def _store(batch: Sequence[Candidate]) -> Sequence[Candidate]:
    """Store the candidates; one that other rules screened keeps its row and what refers to it."""
    return Candidate.objects.bulk_create(
        batch,
        update_conflicts=True,
        unique_fields=("dialogue", "turn_index"),
        update_fields=SCREENED,
        batch_size=500,
    )
