"""Start a run that has an assistant name the strategies of a dataset's completions."""

import datetime as dt
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction

from completions.models import Assistant, Dataset, LabellingRun
from completions.runs.services.running import begin, checked_budget
from completions.strategies import rules
from completions.strategies.services.labelling import plan_strategy_calls


@transaction.atomic
def start_labelling_run(
    *,
    dataset: Dataset,
    assistant: Assistant,
    now: dt.datetime,
    budget_usd: Decimal | None = None,
    by: User | None = None,
) -> LabellingRun:
    """Have an assistant name the strategies of all final texts that it was not asked about.

    Raises
    ------
    UnknownPriceError, BudgetTooSmallError
        If the budget cannot be kept with this assistant, or is nothing.
    NothingToAskError
        If it was asked about every text; no run is added then.
    """
    codebook = rules.load_codebook()
    run = LabellingRun.objects.create(
        dataset=dataset,
        plan={
            "dataset": dataset.slug,
            "assistant": assistant.slug,
            "codebook": codebook.reference,
            "codebook_sha256": codebook.sha256,
            "prompt": rules.STRATEGIST,
            "prompt_sha256": rules.strategist_prompt(codebook).hash,
        },
        budget_usd=checked_budget(budget_usd, [assistant]),
        created_at=now,
        created_by=by,
    )
    n_added = plan_strategy_calls(dataset=dataset, assistant=assistant, now=now, run=run)
    return begin(run, n_added, now=now, by=by)
