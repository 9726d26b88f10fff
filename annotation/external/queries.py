"""Reads about judgments made elsewhere."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.external.rules import KnownPair, NamedPair
from annotation.models import Comparison, ExternalBatch, ExternalDecision, Study

OFFERED = ("pk", "key", "first__content_hash", "second__content_hash")


def batches_of(study: Study, *, as_of: dt.datetime | None = None) -> QuerySet[ExternalBatch]:
    """Return a study's batches with ``is_out`` and their counts, in the order of arrival."""
    decisions = ExternalDecision.objects.filter(batch=OuterRef("pk"))
    found = ExternalBatch.objects.filter(study=study)
    if as_of is not None:
        decisions = decisions.filter(decided_at__lte=as_of)
        found = found.filter(received_at__lte=as_of)
    newest = decisions.order_by("-decided_at", "-pk").values("is_excluded")[:1]
    return found.annotate(
        is_out=Coalesce(Subquery(newest), False),  # noqa: FBT003 (only by position)
        n_judgments=Count("judgments"),
        n_raters=Count("judgments__rater", distinct=True),
        n_comparisons=Count("judgments__comparison", distinct=True),
    ).order_by("pk")


def batch_of(study: Study, pk: int) -> ExternalBatch | None:
    """Return a batch of the study, or None."""
    return batches_of(study).filter(pk=pk).first()


def pairs_by_key(study: Study, keys: Collection[str]) -> dict[str, list[KnownPair]]:
    """Return the study's comparisons of these keys, with the hashes of their texts; one query."""
    rows = Comparison.objects.filter(study=study, key__in=set(keys))
    found: dict[str, list[KnownPair]] = defaultdict(list)
    fields = (*OFFERED, "first__erased_at", "second__erased_at")
    for pk, key, first, second, *erased in rows.values_list(*fields):
        found[key].append(KnownPair(pk, first, second, any(erased)))
    return dict(found)


def named_pairs(study: Study) -> list[NamedPair]:
    """Return the study's comparisons of two texts with all that files may call them; one query."""
    sides = ("first", "second")
    rows = Comparison.objects.filter(study=study).exclude(second=None).order_by("pk")
    return [
        NamedPair(key, context, (_folded(*one), _folded(*two)), (first, second))
        for key, context, first, second, *named in rows.values_list(
            *("key", "context__key", "first__content_hash", "second__content_hash"),
            *(f"{side}__system__{name}" for side in sides for name in ("slug", "name")),
        )
        for one, two in [(named[:2], named[2:])]
    ]


def _folded(*names: str) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)


def batches_shown(study: Study) -> QuerySet[ExternalBatch]:
    """Return a study's batches with the decisions about each, all the newest first; two queries."""
    decisions = ExternalDecision.objects.select_related("decided_by")
    newest = Prefetch("decisions", decisions.order_by("-decided_at", "-pk"))
    return batches_of(study).order_by("-pk").prefetch_related(newest)
