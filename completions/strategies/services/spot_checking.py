"""Have people check a model's strategy labels: draw a sample, label it twice, settle the rest."""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from completions.choices import CallState, Presence
from completions.models import (
    Assistant,
    Dataset,
    PeoplesLabels,
    SpotCheck,
    StrategyCall,
    StrategyLabel,
)
from completions.strategies import rules, spot_check_queries
from completions.strategies.codebook import load_codebook
from completions.strategies.rules import Item
from completions.strategies.spot_check_queries import STRATEGIES, CheckKind, Ledger, Sample, kind_of

N_ITEMS = 300
SampleItem = Any
"""A row of a sample, of its kind."""


class NotLabelledYetError(ValueError):
    """A sample can be drawn only when the assistant was asked about everything."""


class TwoLabellersError(ValueError):
    """Two other people label this sample."""


class LabellingClosedError(ValueError):
    """Both people are through, and may know each other's labels."""


class LabellingOpenError(ValueError):
    """Somebody has items left to label, and must not learn what others found."""


class NothingToSettleError(ValueError):
    """Both people found the same in this item."""


class UnknownStrategyError(ValueError):
    """A strategy is not in the codebook, or not one that is open here."""


@transaction.atomic
def draw_sample(
    *,
    dataset: Dataset,
    assistant: Assistant,
    seed: str,
    now: dt.datetime,
    n: int = N_ITEMS,
    by: User | None = None,
) -> SpotCheck:
    """Draw what people are to label among the texts that the assistant has labelled.

    A repeated draw with the same seed returns the sample drawn before, as it is.

    Raises
    ------
    NotLabelledYetError
        If calls are still open, or none has brought labels.
    """
    Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)  # one at a time
    codebook = load_codebook()
    check: SpotCheck = draw(
        STRATEGIES,
        {"dataset": dataset, "assistant": assistant, "codebook": codebook.reference, "seed": seed},
        lambda: _candidates(dataset, assistant),
        n=n,
        logged=("strategies.sampled", "spot check", codebook.sha256),
        made={"created_at": now, "created_by": by},
    )
    return check


def draw(
    kind: CheckKind,
    known: Mapping[str, Any],
    candidates: Callable[[], Mapping[int, Item]],
    *,
    n: int,
    logged: tuple[str, str, str],
    made: Mapping[str, Any],
) -> Any:  # noqa: ANN401 (a sample of that kind)
    """Return the sample that is ``known`` by these fields, or draw it among candidates.

    ``candidates`` are by the key of what is labelled; ``logged`` are the act and the subject of
    the log's entry, and the hash of the codebook; ``made`` says when and by whom. The caller holds
    the lock of the sample's owner.
    """
    if before := kind.samples.objects.filter(**known).first():
        return before
    pool = {one: pk for pk, one in candidates().items()}
    keys = kind.keys(known["codebook"])
    drawn = rules.sample(list(pool), n=n, seed=known["seed"], strategies=keys)
    check = kind.samples.objects.create(**known, **made)
    kind.items.objects.bulk_create(
        kind.items(**{"spot_check": check, f"{kind.subject}_id": pool[one], "position": position})
        for position, one in enumerate(drawn)
    )
    action, subject, sha256 = logged
    after = {"items": len(drawn), "of": len(pool), "codebook": sha256, "seed": known["seed"]}
    record(
        action=action,
        subject=f"{subject} {check.pk}",
        now=made["created_at"],
        by=made["created_by"],
        after=after,
    )
    return check


@transaction.atomic
def label_item(
    *,
    item: SampleItem,
    labeller: User,
    found: Collection[str],
    now: dt.datetime,
    note: str = "",
) -> PeoplesLabels:
    """Store which labels a person finds in an item; what they say again replaces it.

    A repeated submission returns the labelling already stored. Labels can be changed until both
    people have labelled every item: until then neither can learn what the other found.

    Raises
    ------
    LabellingClosedError
        If both are through.
    TwoLabellersError
        If two other people label this sample.
    UnknownStrategyError
        If one of the strategies is not in the codebook.
    """
    check, ledger = _locked(item)
    if ledger.is_labelled:
        raise LabellingClosedError
    if not ledger.may_label(labeller.pk):
        raise TwoLabellersError
    row = {"item": item, "labeller": labeller, "note": note.strip(), "labelled_at": now}
    return _store(row, found, check)


@transaction.atomic
def adjudicate(
    *,
    item: SampleItem,
    by: User,
    found: Collection[str],
    now: dt.datetime,
    note: str = "",
) -> PeoplesLabels:
    """Settle an item on which two people differ: ``found`` are those open labels that hold.

    What both found, or neither did, stands. A repeated submission returns what is stored; another
    one replaces it.

    Raises
    ------
    LabellingOpenError
        If somebody has items left to label.
    NothingToSettleError
        If both found the same.
    UnknownStrategyError
        If one of the strategies is not open in this item.
    """
    check, ledger = _locked(item)
    if not ledger.is_labelled:
        raise LabellingOpenError
    if item.pk not in ledger.differing:
        raise NothingToSettleError
    if unknown := sorted(set(found) - ledger.open(item.pk)):
        msg = f"not open in this item: {', '.join(unknown)}"
        raise UnknownStrategyError(msg)
    holds = ledger.agreed(item.pk) | set(found)
    row = {"item": item, "labeller": by, "note": note.strip(), "labelled_at": now}
    return _store(row | {"is_adjudication": True}, holds, check)


def _candidates(dataset: Dataset, assistant: Assistant) -> dict[int, Item]:
    """Return what may be drawn, by completion."""
    calls = StrategyCall.objects.filter(completion__context__dataset=dataset, assistant=assistant)
    if n_open := calls.filter(ended_at=None).count():
        msg = f"{n_open:,} texts wait for {assistant.name}; draw the sample when it is through"
        raise NotLabelledYetError(msg)
    done = calls.filter(state=CallState.DONE, completion__erased_at=None)
    labels = StrategyLabel.objects.filter(call__in=done, presence=Presence.PRESENT)
    found: dict[int, set[str]] = defaultdict(set)
    for completion, strategy in labels.values_list("call__completion", "strategy"):
        found[completion].add(strategy)
    texts = done.values_list(
        "completion", "completion__context__key", "completion__system__slug",
        "completion__content_hash",
    )  # fmt: skip
    if not (rows := list(texts)):
        msg = f"{assistant.name} has labelled nothing of {dataset.name} yet: `strategies run`"
        raise NotLabelledYetError(msg)
    return {
        pk: Item(f"{key}/{system}/{text}", system, frozenset(found[pk]))
        for pk, key, system, text in rows
    }


def _locked(item: SampleItem) -> tuple[Sample, Ledger]:
    """Lock the item's sample, so that nobody labels meanwhile, and read what was said."""
    checks = type(item.spot_check).objects
    check = checks.select_for_update(no_key=True).get(pk=item.spot_check_id)
    return check, spot_check_queries.ledger_of(check)


def _store(told: Mapping[str, Any], found: Collection[str], check: Sample) -> PeoplesLabels:
    """Store a new row, unless the one that holds says the same."""
    kind = kind_of(check)
    keys = kind.keys(check.codebook)
    if unknown := sorted(set(found) - set(keys)):
        msg = f"not in the codebook: {', '.join(unknown)}"
        raise UnknownStrategyError(msg)
    row: Any = kind.labellings(
        **told, **{kind.labellings.FOUND: [key for key in keys if key in found]}
    )
    same: Any = kind.labellings.objects.filter(
        item=row.item_id, is_adjudication=row.is_adjudication
    )
    mine = same if row.is_adjudication else same.filter(labeller=row.labeller_id)
    before: PeoplesLabels | None = mine.order_by("-pk").first()
    if before is not None and _says(before) == _says(row):
        return before
    row.save()
    return row  # type: ignore[no-any-return]


def _says(row: Any) -> tuple[object, ...]:  # noqa: ANN401 (of any kind)
    return row.labeller_id, row.found, row.note
