"""Reads of what is kept out of pairs: what the leak filter finds, and what was decided."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from completions import llm
from completions.choices import HoldState
from completions.leaks import rules
from completions.leaks.rules import Leak
from completions.models import Completion, Context, Dataset, Hold

WITHHELD = (HoldState.HELD, HoldState.DROPPED)

Leaks = Mapping[int, tuple[Leak, ...]]


@dataclass(frozen=True)
class Held:
    """The completions of a dataset that are held, dropped and released, counted.

    ``by_reason`` counts the held ones; one with two reasons is in both counts.
    """

    n_held: int
    n_dropped: int
    n_released: int
    by_reason: dict[str, int]


def find_new_leaks(dataset_id: int) -> Leaks:
    """Return what the filter finds in completions that it has not held before, in one query.

    What a model answered, or somebody brought in, is read as it came, with its lines and marks,
    which the stored text may no longer have. Completions that were released are not held again.
    """
    rows = Completion.objects.filter(
        context__in=Context.objects.in_use().filter(dataset=dataset_id),
        hold__isnull=True,
        erased_at=None,
    ).values_list(
        "pk",
        "text",
        "generation_call__raw_answer",
        "generation_call__honoured__stripped",
        "brought__raw_text",
    )
    found = {
        pk: rules.find_leaks(_bare(answered) if stripped else answered or brought or text)
        for pk, text, answered, stripped, brought in rows.order_by("pk").iterator(chunk_size=2000)
    }
    return {pk: leaked for pk, leaked in found.items() if leaked}


def _bare(answered: str) -> str:
    """Return an answer without what was taken off before it was stored, with its lines."""
    return llm.unwrapped(answered).text


def withheld(dataset_id: int) -> set[int]:
    """Return the completions that must not be paired: held ones and dropped ones."""
    holds = Hold.objects.filter(completion__context__dataset=dataset_id, state__in=WITHHELD)
    return set(holds.values_list("completion", flat=True))


def count_holds(dataset_id: int, new: Leaks) -> Held:
    """Count the stored holds together with those that ``new`` finds would add."""
    rows = _holds(dataset_id).values_list("state", "reasons")
    states = Counter[str](state for state, _reasons in rows)
    reasons = [
        *({one["reason"] for one in found} for state, found in rows if state == HoldState.HELD),
        *({one.reason for one in found} for found in new.values()),
    ]
    by_reason = Counter(reason for found in reasons for reason in found)
    return Held(
        n_held=states[HoldState.HELD] + len(new),
        n_dropped=states[HoldState.DROPPED],
        n_released=states[HoldState.RELEASED],
        by_reason={reason: by_reason[reason] for reason in rules.EXPLANATIONS if by_reason[reason]},
    )


def held_rows(dataset: Dataset, *, state: str) -> QuerySet[Hold]:
    """Return the holds of a state with all that the console shows of them, oldest first."""
    shown = _holds(dataset.pk).filter(state=state)
    related = ("completion__context", "completion__system", "decided_by")
    return shown.select_related(*related).order_by("held_at", "pk")


def source_of(completion: Completion) -> str:
    """Name the system, but no single person: whoever decides is not told who wrote a text."""
    system = completion.system
    return str(_("A supporter")) if system.writer_id else system.name


def hold_of(dataset: Dataset, *, pk: int) -> Hold | None:
    """Return the hold of that key if it is of the dataset, or None."""
    return _holds(dataset.pk).filter(pk=pk).first()


def _holds(dataset_id: int) -> QuerySet[Hold]:
    return Hold.objects.filter(completion__context__dataset=dataset_id)
