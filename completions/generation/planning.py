"""What systems are asked about a context, and what a run of completions would come to."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
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
from completions.runs.services.budgeting import ModelEndpoint
from completions.systems.queries import variables_of

MAX_TOKENS = 300
TIMEOUT_S = 120.0
SAMPLE = 40
"""Questions from which the most that a call can cost is taken: evenly from all there are."""


@dataclass(frozen=True)
class Share:
    """One model's part of a run."""

    model: ModelEndpoint
    n_calls: int
    missing: Sequence[str]
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
        return any(one.model.is_simulated for one in self.shares)

    @property
    def unpriced(self) -> list[str]:
        """Name the models of no known price or limit: a budget cannot be kept with them."""
        return [one.model.name for one in self.shares if one.n_calls and one.most_usd is None]

    @property
    def unmeasured(self) -> list[str]:
        """Name the models of which no call is known that cost anything."""
        return [one.model.name for one in self.shares if one.n_calls and one.usual_usd is None]

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
        return [one.model.name for one in self.shares if one.n_calls and one.missing]

    @property
    def usual_usd(self) -> Decimal:
        """Return what the run costs by the calls so far, without what is not known."""
        return sum((one.usual_usd or Decimal(0) for one in self.shares), Decimal(0))

    @property
    def most_usd(self) -> Decimal:
        """Return about the most that it can cost, without what is not known."""
        return sum((one.most_usd or Decimal(0) for one in self.shares), Decimal(0))


def draft_generation_run(*, dataset: Dataset, systems: Collection[System]) -> RunDraft:
    """Return what having these systems complete what they lack would come to."""
    missing = count_missing(dataset, systems)
    contexts = evenly(Context.objects.in_use().filter(dataset=dataset))
    return draft(
        {system: missing[system.pk] for system in systems},
        lambda system: [request_for(system, one) for one in contexts],
        GenerationCall.objects.all(),
    )


def draft(
    n_calls: Mapping[Any, int],
    requests: Callable[[Any], Sequence[llm.Request]],
    calls: QuerySet[Any],
    *,
    tries: int = 1,
) -> RunDraft:
    """Return what making so many calls to each model would come to.

    ``requests`` returns some of a model's questions, each of which is put so often at most;
    ``calls`` tell what calls of each model cost so far.
    """
    usual = _usual(calls, [model.pk for model in n_calls])
    return RunDraft(
        [
            Share(
                model=model,
                n_calls=n,
                missing=[name for name, is_set in variables_of(model).items() if not is_set],
                usual_usd=n * Decimal(usual[model.pk]) if model.pk in usual else None,
                most_usd=_most(model, n, requests(model), tries),
            )
            for model, n in n_calls.items()
        ]
    )


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


def _most(
    model: ModelEndpoint, n: int, requests: Sequence[llm.Request], tries: int
) -> Decimal | None:
    price = budgeting.price_at_most(model)
    if price is None:
        return None
    each = [budgeting.most_usd(request, price, tries=tries) for request in requests]
    return n * sum(each, Decimal(0)) / len(each) if each else Decimal(0)


def generation_progress(dataset: Dataset) -> tuple[int, int]:
    """Return how many of the dataset's generation calls have ended, and how many there are."""
    calls = GenerationCall.objects.filter(context__dataset=dataset)
    return calls.filter(ended_at__isnull=False).count(), calls.count()
