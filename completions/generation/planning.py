"""What systems are asked about a context, and what a run of completions would come to."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, Exists, OuterRef, QuerySet

from completions import llm
from completions.llm import prompts
from completions.models import (
    Completion,
    Context,
    Dataset,
    GenerationCall,
    ProviderCall,
    System,
)
from completions.runs import queries
from completions.runs.services import budgeting, calling
from completions.systems.queries import variables_of

MAX_TOKENS = 300
TIMEOUT_S = 120.0
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
        return [one.name for one in self.shares if one.n_calls and one.most_usd is None]

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
        return any(one.n_calls and one.most_usd is not None for one in self.shares)

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


def request_for(system: System, context: Context) -> llm.Request:
    """Return what a system is asked to do about a context."""
    prompt = prompts.load_prompt(prompts.SUPPORTER)
    return calling.request_to(
        system,
        messages=prompts.supporter_messages(context.turns, prompt),
        max_tokens=MAX_TOKENS,
        timeout_s=TIMEOUT_S,
        stream=True,  # the only way to see the time to first token
    )


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
        usual_usd=None if usual is None else one.n_calls * Decimal(usual),
        most_usd=None if price is None else _most(one, price),
    )


def _most(one: Asking, price: budgeting.Price) -> Decimal:
    each = [budgeting.most_usd(request, price, tries=one.tries) for request in one.requests]
    return one.n_calls * sum(each, Decimal(0)) / len(each) if each else Decimal(0)


def generation_progress(dataset: Dataset) -> tuple[int, int]:
    """Return how many of the dataset's generation calls have ended, and how many there are."""
    calls = GenerationCall.objects.filter(context__dataset=dataset)
    return calls.filter(ended_at__isnull=False).count(), calls.count()
