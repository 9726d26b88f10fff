"""Start a run that has systems complete contexts."""

import datetime as dt
from collections.abc import Collection
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction

from completions.generation.services.generating import plan_generation_calls
from completions.models import Dataset, GenerationRun, System
from completions.runs.services.running import begin, checked_budget


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
