"""What a run of completions would come to, its start, and what is asked again."""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Avg, Count, Exists, OuterRef, Q, QuerySet

from completions import llm
from completions.choices import CallState
from completions.generation.services.generating import plan_generation_calls, request_for
from completions.models import (
    Completion,
    Context,
    Dataset,
    GenerationCall,
    GenerationRun,
    ProviderCall,
    System,
)
from completions.runs import queries
from completions.runs.services import budgeting, running
from completions.runs.services.running import begin, checked_budget
from completions.systems.queries import variables_of

SAMPLE = 40
"""Questions from which the most that a call can cost is taken: evenly from all there are."""


@dataclass(frozen=True)
class Share:
    """One model's part of a run."""

    slug: str
    name: str
    is_simulated: bool
    n_calls: int
    missing: tuple[str, ...]
    """Variables that a call would read and that are not set: such calls fail."""
    is_priced: bool
    """Whether anybody can say what a call costs at most."""
    usual_usd: Decimal | None
    """What so many calls cost, if they cost what its calls so far did; ``None`` without any."""
    most_usd: Decimal | None
    """About the most that they can cost; ``None`` if nobody can say it."""


@dataclass(frozen=True)
class RunDraft:
    """What a run would come to; nothing is written."""

    shares: Sequence[Share]

    @property
    def n_calls(self) -> int:
        """Return how many calls would be made."""
        return sum(one.n_calls for one in self.shares)

    @property
    def is_simulated(self) -> bool:
        """Say whether a simulated model would be asked."""
        return any(one.is_simulated for one in self.shares)

    @property
    def unpriced(self) -> list[str]:
        """Name the models of no known price or limit: a budget cannot be kept with them."""
        return [one.name for one in self.shares if one.n_calls and not one.is_priced]

    @property
    def unmeasured(self) -> list[str]:
        """Name the models of which no call is known that cost anything."""
        return [one.name for one in self.shares if one.n_calls and one.usual_usd is None]

    @property
    def is_usual_known(self) -> bool:
        """Say whether any of it is known from calls so far."""
        return any(one.n_calls and one.usual_usd is not None for one in self.shares)

    @property
    def is_most_known(self) -> bool:
        """Say whether the most that any of the models costs is known."""
        return any(one.n_calls and one.is_priced for one in self.shares)

    @property
    def without_key(self) -> list[str]:
        """Name the models whose key or address is missing from the environment."""
        return [one.name for one in self.shares if one.n_calls and one.missing]

    @property
    def usual_usd(self) -> Decimal:
        """Return what the run costs by the calls so far, without what is not known."""
        return sum((one.usual_usd or Decimal(0) for one in self.shares), Decimal(0))

    @property
    def most_usd(self) -> Decimal:
        """Return about the most that it can cost, without what is not known."""
        return sum((one.most_usd or Decimal(0) for one in self.shares), Decimal(0))


@dataclass(frozen=True)
class Asking:
    """How a model would be asked: some of the questions, how many in all, and how often each."""

    endpoint: Any
    n_calls: int
    requests: Sequence[llm.Request]
    tries: int = 1


def draft_generation_run(
    *, dataset: Dataset, systems: Collection[System], environment: Mapping[str, str]
) -> RunDraft:
    """Return what having these systems complete what they lack would come to."""
    missing, contexts = count_missing(dataset, systems), _sample(dataset)
    askings = [
        Asking(system, missing[system.pk], [request_for(system, one) for one in contexts])
        for system in systems
    ]
    return draft(askings, GenerationCall.objects.all(), environment)


def draft(
    askings: Collection[Asking], calls: QuerySet[Any], environment: Mapping[str, str]
) -> RunDraft:
    """Return what asking would come to; ``calls`` tell what calls of each model cost so far."""
    usual = _usual(calls, [one.endpoint.pk for one in askings])
    return RunDraft([_share(one, usual.get(one.endpoint.pk), environment) for one in askings])


def count_missing(dataset: Dataset, systems: Collection[System]) -> dict[int, int]:
    """Return by system how many contexts in use it has not completed nor been asked about."""
    contexts = Context.objects.in_use().filter(dataset=dataset)
    called = GenerationCall.objects.filter(context__in=contexts, system__in=systems)
    same = called.filter(context=OuterRef("context"), system=OuterRef("system"))
    others = Completion.objects.filter(context__in=contexts, system__in=systems)
    had: Counter[int] = Counter()
    for rows in (called, others.filter(~Exists(same))):
        counted = rows.order_by().values_list("system").annotate(Count("context", distinct=True))
        had.update(dict(counted))
    n = contexts.count()
    return {system.pk: n - had[system.pk] for system in systems}


def _sample(dataset: Dataset) -> list[Context]:
    contexts = Context.objects.in_use().filter(dataset=dataset)
    return evenly(contexts)


def evenly(rows: QuerySet[Any]) -> list[Any]:
    """Return some of the rows, spread evenly over all of them."""
    numbers = list(rows.order_by("pk").values_list("pk", flat=True))
    step = max(1, -(-len(numbers) // SAMPLE))
    return list(rows.filter(pk__in=numbers[::step]).order_by("pk"))


def _usual(calls: QuerySet[ProviderCall], endpoints: Collection[int]) -> dict[int, Decimal]:
    """Return what a call of each model cost so far, on average."""
    name = queries.endpoint_name(calls.model)
    paid = calls.filter(**{f"{name}__in": endpoints}, cost_usd__isnull=False)
    return dict(paid.order_by().values_list(name).annotate(Avg("cost_usd")))


def _share(one: Asking, usual: Decimal | None, environment: Mapping[str, str]) -> Share:
    endpoint, price = one.endpoint, budgeting.price_at_most(one.endpoint)
    missing = [name for name, is_set in variables_of(endpoint, environment).items() if not is_set]
    return Share(
        slug=endpoint.slug,
        name=endpoint.name,
        is_simulated=endpoint.is_simulated,
        n_calls=one.n_calls,
        missing=tuple(missing),
        is_priced=price is not None,
        usual_usd=None if usual is None else one.n_calls * Decimal(usual),
        most_usd=None if price is None else _most(one, price),
    )


def _most(one: Asking, price: budgeting.Price) -> Decimal:
    each = [budgeting.most_usd(request, price, tries=one.tries) for request in one.requests]
    return one.n_calls * sum(each, Decimal(0)) / len(each) if each else Decimal(0)


@transaction.atomic
def start_generation_run(
    *,
    dataset: Dataset,
    systems: Collection[System],
    now: dt.datetime,
    budget_usd: Decimal | None = None,
    by: User | None = None,
) -> GenerationRun:
    """Have systems complete the contexts that they lack, in a run of their own.

    Raises
    ------
    NotAModelError, UnknownPriceError, BudgetTooSmallError
        If a system is no model, a budget cannot be kept with it, or the budget is nothing.
    NothingToAskError
        If every context and system has a call or a completion; no run is added then.
    """
    slugs = sorted(system.slug for system in systems)
    run = GenerationRun.objects.create(
        dataset=dataset,
        plan={"dataset": dataset.slug, "systems": slugs},
        budget_usd=checked_budget(budget_usd, systems),
        created_at=now,
        created_by=by,
    )
    n_added = plan_generation_calls(dataset=dataset, systems=systems, now=now, run=run)
    return begin(run, n_added, now=now, by=by)


FAILED = (CallState.FAILED, CallState.INVALID)


@transaction.atomic
def retry_completions(
    *,
    dataset: Dataset,
    now: dt.datetime,
    by: User | None = None,
    context: str = "",
    system: str = "",
) -> int:
    """Ask again for completions that failed, and return how many calls that is.

    Those of one context and one system by their key and slug, or of all where these are empty.
    Their runs go on, each with its budget; what was answered is never asked again. Calls that
    belong to no run are left as they are.
    """
    only = Q(context__key=context) if context else Q()
    only &= Q(system__slug=system) if system else Q()
    failed = GenerationCall.objects.filter(only, context__dataset=dataset, state__in=FAILED)
    runs = GenerationRun.objects.filter(pk__in=failed.values("run")).order_by("pk")
    return sum(
        running.retry_failed(run, now=now, by=by, with_invalid=True, only=only) for run in runs
    )
