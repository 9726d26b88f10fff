"""Build contexts from dialogues that were screened."""

import datetime as dt
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count

from access.log import record
from completions.choices import Stratum
from completions.contexts import screening as rules
from completions.contexts import selection
from completions.contexts.services import screening
from completions.dialogues import queries
from completions.dialogues.cutting import cut_context, store_contexts
from completions.models import Candidate, Context, Dataset


@dataclass(frozen=True)
class BuildReport:
    """Suitable candidates, regular contexts, their dialogues, and how many contexts were new."""

    n_candidates: int
    n_contexts: int
    n_dialogues: int
    n_added: int


def build_contexts(
    *, dataset_name: str, n: int, seed: int, now: dt.datetime, shown: screening.Shown = iter
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
    screening.screen_dataset(dataset=dataset, now=now, shown=shown)
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


def _suitable(dataset: Dataset) -> dict[selection.Candidate, Candidate]:
    """Return the candidates that may become contexts, by how the selection knows them."""
    rows = Candidate.objects.filter(dialogue__dataset=dataset, is_suitable=True)
    return {as_candidate(row): row for row in rows.select_related("dialogue__dataset")}


def _weights(dataset: Dataset) -> dict[selection.Cell, int]:
    """Return how many dialogues each cell has: contexts mirror the source."""
    cells = dataset.dialogues.order_by().values_list("emotion_type", "problem_type")
    return {(emotion, problem): n for emotion, problem, n in cells.annotate(n=Count("pk"))}


def _cut(
    candidate: Candidate, chosen: selection.Candidate, seed: int, now: dt.datetime
) -> tuple[Context, str | None]:
    """Return the context, and the reply that its dialogue goes on with."""
    context = cut_context(
        candidate.dialogue,
        chosen.turn_index,
        provenance=_provenance(candidate, chosen, seed),
        now=now,
    )
    return context, candidate.dialogue.turns[chosen.turn_index + 1]["text"]


def _provenance(candidate: Candidate, chosen: selection.Candidate, seed: int) -> dict[str, object]:
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


def as_candidate(row: Candidate | Context) -> selection.Candidate:
    """Return how the selection knows a row, by its dialogue's content and labels."""
    dialogue = row.dialogue
    cell = (dialogue.emotion_type, dialogue.problem_type)
    return selection.Candidate(dialogue.content_hash, row.turn_index, cell)
