"""Screen couplets, build contexts of suitable ones, record what people decide (ADR-0021)."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q

from access.log import record
from completions.choices import Review, Stratum
from completions.contexts import selection
from completions.contexts.screening import rules
from completions.dialogues import couplets, queries
from completions.dialogues.context_extraction import cut_context, store_contexts
from completions.models import Candidate, Context, Dataset, Dialogue

BATCH = 100
"""Dialogues stored together: what a kill can cost."""
SCREENED = ("rules", "findings", "reasons", "is_suitable", "screened_at")

Shown = Callable[[Sequence[Dialogue]], Iterable[Dialogue]]


class ScreeningReport(NamedTuple):
    """How many couplets a dataset has, and how many are suitable."""

    n_candidates: int
    n_suitable: int


def screen_dataset(*, dataset: Dataset, now: dt.datetime, shown: Shown = iter) -> ScreeningReport:
    """Bring the candidates of the dataset up to the screening rules as they are now.

    Dialogues that these rules have screened are left alone, so that a killed run resumes and
    repeating one does nothing. ``shown`` is iterated over while work goes on, to show how far
    it is.
    """
    waiting = _not_screened(dataset)
    batch = list[Candidate]()
    for place, dialogue in enumerate(shown(waiting), start=1):
        batch.extend(_candidates(dialogue, now))
        if place % BATCH == 0 or place == len(waiting):
            _store(batch)
            batch.clear()
    found = Candidate.objects.filter(dialogue__dataset=dataset)
    counts = found.aggregate(all=Count("pk"), suitable=Count("pk", filter=Q(is_suitable=True)))
    return ScreeningReport(counts["all"], counts["suitable"])


def _not_screened(dataset: Dataset) -> list[Dialogue]:
    """Return the dialogues of which a couplet was not screened, or by other rules."""
    current = {
        language: rules.rules_version(language)
        for language in dataset.dialogues.order_by().values_list("language", flat=True).distinct()
    }
    counted = (
        Candidate.objects.filter(dialogue__dataset=dataset)
        .values_list("dialogue", "rules")
        .annotate(n=Count("pk"))
    )
    screened = {(dialogue, version): n for dialogue, version, n in counted}
    return [
        row
        for row in dataset.dialogues.order_by("pk")
        if screened.get((row.pk, current[row.language]), 0) < len(couplets.couplets(row.turns))
    ]


def _candidates(dialogue: Dialogue, now: dt.datetime) -> list[Candidate]:
    version = rules.rules_version(dialogue.language)
    return [
        Candidate(
            dialogue=dialogue,
            turn_index=one.turn_index,
            rules=version,
            findings=[asdict(finding) for finding in one.findings],
            reasons=list(one.reasons),
            is_suitable=one.is_suitable,
            screened_at=now,
        )
        for one in rules.screen(
            dialogue.turns, situation=dialogue.situation, language=dialogue.language
        )
    ]


@transaction.atomic
def _store(batch: Sequence[Candidate]) -> None:
    """Store the candidates; one that other rules screened keeps its row and what refers to it."""
    Candidate.objects.bulk_create(
        batch,
        update_conflicts=True,
        unique_fields=("dialogue", "turn_index"),
        update_fields=SCREENED,
        batch_size=500,
    )


@dataclass(frozen=True)
class BuildReport:
    """Suitable candidates, regular contexts, their dialogues, and how many contexts were new."""

    n_candidates: int
    n_contexts: int
    n_dialogues: int
    n_added: int

    @property
    def summary(self) -> str:
        """What the dataset has now, and from how much it was chosen, in one line."""
        return (
            f"{self.n_contexts:,} contexts ({self.n_added:,} new) of {self.n_dialogues:,} "
            f"dialogues, from {self.n_candidates:,} suitable candidates"
        )


def build_contexts(
    *, dataset_name: str, n: int, seed: int, now: dt.datetime, shown: Shown = iter
) -> BuildReport:
    """Screen what has not been screened and bring the dataset's regular contexts to ``n``.

    Contexts that exist stay and count, except those that a person dropped: they are replaced.
    Repeating a call adds nothing. ``shown`` is passed on to the screening.

    Raises
    ------
    DatasetNotFoundError
        If no dataset has that name.
    SelectionError
        If the dataset cannot give that many; the screening is kept.
    """
    dataset = queries.dataset_named(dataset_name)
    screen_dataset(dataset=dataset, now=now, shown=shown)
    return _choose(dataset, n, seed, now)


@transaction.atomic
def _choose(dataset: Dataset, n: int, seed: int, now: dt.datetime) -> BuildReport:
    Dataset.objects.select_for_update().get(pk=dataset.pk)  # one builder at a time
    suitable = _suitable(dataset)
    regular = dataset.contexts.filter(stratum=Stratum.REGULAR).select_related("dialogue")
    taken = [as_candidate(context) for context in regular.in_use()]
    dropped = {as_candidate(context) for context in regular.dropped()}
    chosen = selection.select(
        suitable.keys() - dropped, n=n, seed=seed, weights=_weights(dataset), taken=taken
    )
    store_contexts([_cut(suitable[one], one, seed, now) for one in chosen])
    if chosen:
        record(
            action="contexts.built",
            subject=f"dataset {dataset.slug}",
            now=now,
            after={"asked": n, "seed": seed, "added": len(chosen)},
        )
    return BuildReport(
        n_candidates=len(suitable),
        n_contexts=len(taken) + len(chosen),
        n_dialogues=len({one.dialogue for one in (*taken, *chosen)}),
        n_added=len(chosen),
    )


def _suitable(dataset: Dataset) -> dict[selection.SuitableCouplet, Candidate]:
    """Return the candidates that may become contexts, by how the selection knows them."""
    rows = Candidate.objects.filter(dialogue__dataset=dataset, is_suitable=True)
    return {as_candidate(row): row for row in rows.select_related("dialogue__dataset")}


def _weights(dataset: Dataset) -> dict[selection.Cell, int]:
    """Return how many dialogues each cell has: contexts mirror the source."""
    cells = dataset.dialogues.order_by().values_list("emotion_type", "problem_type")
    return {(emotion, problem): n for emotion, problem, n in cells.annotate(n=Count("pk"))}


def _cut(
    candidate: Candidate, chosen: selection.SuitableCouplet, seed: int, now: dt.datetime
) -> tuple[Context, str | None]:
    """Return the context, and the reply that its dialogue goes on with."""
    context = cut_context(
        candidate.dialogue,
        chosen.turn_index,
        provenance=_provenance(candidate, chosen, seed),
        now=now,
    )
    return context, candidate.dialogue.turns[chosen.turn_index + 1]["text"]


def _provenance(
    candidate: Candidate, chosen: selection.SuitableCouplet, seed: int
) -> dict[str, object]:
    """Say where a context is from, which signals it carries, and which rules chose it."""
    fired = {finding["rule"] for finding in candidate.findings}
    return {
        "dialogue": chosen.dialogue,
        "turn_index": chosen.turn_index,
        "cell": list(chosen.cell),
        "signals": [name for name in rules.SIGNALS if name in fired],
        "findings": candidate.findings,
        "screening": candidate.rules,
        "selection": selection.RULE,
        "seed": seed,
    }


def as_candidate(row: Candidate | Context) -> selection.SuitableCouplet:
    """Return how the selection knows a row, by its dialogue's content and labels."""
    dialogue = row.dialogue
    cell = (dialogue.emotion_type, dialogue.problem_type)
    return selection.SuitableCouplet(dialogue.content_hash, row.turn_index, cell)


@transaction.atomic
def review_context(
    *,
    context: Context,
    decision: Review | None,
    note: str | None,
    by: User | None,
    now: dt.datetime,
) -> Context:
    """Store a decision and its note, and log what they were before and are now.

    Without a decision the note alone is changed, and without a note the decision. What is stored
    already is not logged again. A dropped context stays where it is and can be taken back; only
    new uses of it stop.
    """
    # no_key, so that completions and comparisons of it are stored meanwhile.
    context = Context.objects.select_for_update(no_key=True).get(pk=context.pk)
    before = _state(context)
    context.review = decision or context.review
    if note is not None:
        context.review_note = note
    after = _state(context)
    if after == before:
        return context
    context.save(update_fields=["review", "review_note"])
    record(
        action="context.noted" if after["review"] == before["review"] else "context.reviewed",
        subject=f"context {context.key}",
        now=now,
        by=by,
        before=before,
        after=after,
    )
    return context


def _state(context: Context) -> dict[str, str]:
    return {"review": str(context.review), "note": context.review_note}
