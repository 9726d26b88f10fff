"""Start a run that has an assistant find the themes of a study's rationales."""

import datetime as dt
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import RationaleRun, Study
from annotation.rationales import themes
from annotation.rationales.services.labelling import plan_rationale_calls
from completions.models import Assistant
from completions.runs.services import running


@transaction.atomic
def start_rationale_run(
    *,
    study: Study,
    assistant: Assistant,
    now: dt.datetime,
    budget_usd: Decimal | None = None,
    by: User | None = None,
) -> RationaleRun:
    """Have an assistant find the themes of all rationales that it was not asked about.

    Raises
    ------
    UnknownPriceError, BudgetTooSmallError
        If the budget cannot be kept with this assistant, or is nothing.
    NothingToAskError
        If it was asked about every rationale; no run is added then.
    """
    codebook = themes.load_codebook()
    run = RationaleRun.objects.create(
        study=study,
        plan={
            "study": study.slug,
            "assistant": assistant.slug,
            "codebook": codebook.reference,
            "codebook_sha256": codebook.sha256,
            "prompt": themes.CODER,
            "prompt_sha256": themes.coder_prompt(codebook).hash,
        },
        budget_usd=running.checked_budget(budget_usd, [assistant]),
        created_at=now,
        created_by=by,
    )
    n_added = plan_rationale_calls(run=run, assistant=assistant, now=now)
    return running.begin(run, n_added, now=now, by=by)


def finish_rationale_runs(*, now: dt.datetime) -> int:
    """End the runs about rationales that have no open call; return how many."""
    return running.finish_runs(RationaleRun.objects.all(), now=now)
